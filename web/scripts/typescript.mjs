// The page's TypeScript in Node, which does not run it by itself in every version that we support.
import { join } from "node:path";
import { rolldown } from "rolldown";
import { root } from "./lib.mjs";

/** Imports a module that needs no page, such as "web/demo/pack.ts". */
export async function importTypescript(path) {
  const bundle = await rolldown({ input: join(root, path) });
  const { output: [{ code }] } = await bundle.generate({ format: "es" });
  await bundle.close();
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}
