// The bench in a page. The page of in-chromium.mjs imports this.
import * as ort from "/node_modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs";
import { Vit } from "/dist/vit.js";
import { contest } from "./contest.mjs";
import { bytesOf, startTfjs } from "./in-page-tfjs.mjs";
import { modelOf } from "./models.mjs";

/** contest() of the model `name`. If the name is a file's, the file is served at /model. */
export async function contestHere(name, plan, limitUrls) {
  ort.env.wasm.numThreads = 1;
  const tf = await startTfjs();
  const limits = await Promise.all(limitUrls.map(bytesOf));
  const model = await modelOf(name, () => bytesOf("/model"));
  return contest({ Vit, ort, tf, limits }, model, plan);
}
