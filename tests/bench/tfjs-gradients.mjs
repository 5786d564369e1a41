// tfjs's gradients. The files of tfjs-core that Node and pages load leave them out, and its modules
// that register them are none that Node can import; so they are bundled into one.
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const folder = fileURLToPath(new URL("../../build/bench/", import.meta.url));

/** Makes the bundle. A tfjs-core that was loaded before it finds its gradients, because the registry belongs to
 *  the global scope. Resolves to its path. */
export async function bundleGradients() {
  const input = createRequire(import.meta.url).resolve("@tensorflow/tfjs-core/dist/register_all_gradients.js");
  const bundle = await rolldown({ input, logLevel: "silent" });
  const { output: [{ fileName }] } = await bundle.write({ dir: folder, entryFileNames: "tfjs-gradients.mjs" });
  await bundle.close();
  return join(folder, fileName);
}

export const registerGradients = async () => import(pathToFileURL(await bundleGradients()).href);
