// The bench in a page. The page of in-chromium.mjs imports this.
import * as ort from "/node_modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs";
import "/node_modules/@tensorflow/tfjs-core/dist/tf-core.min.js"; // globalThis.tf
import "/node_modules/@tensorflow/tfjs-backend-wasm/dist/tf-backend-wasm.min.js"; // tf.wasm
import { Vit } from "/dist/vit.js";
import { contest } from "./contest.mjs";
import { modelOf } from "./models.mjs";

/** contest() of the model `name`. If the name is a file's, the file is served at /model. */
export async function contestHere(name, plan, limitUrls) {
  const { tf } = globalThis;
  const bytes = async (url) => new Uint8Array(await (await fetch(url)).arrayBuffer());
  ort.env.wasm.numThreads = 1;
  tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", false);
  tf.wasm.setWasmPaths("/node_modules/@tensorflow/tfjs-backend-wasm/dist/");
  await tf.setBackend("wasm");
  const limits = await Promise.all(limitUrls.map(bytes));
  const model = await modelOf(name, () => bytes("/model"));
  return contest({ Vit, ort, tf, limits }, model, plan);
}
