// One contest in a process of its own: node in-node-contest.mjs MODEL PLAN LIMITS. PLAN, contest's
// plan, and LIMITS, the files of limit.c's builds, are JSON.
import tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-backend-wasm";
import * as ort from "onnxruntime-web/wasm";
import { readFile } from "node:fs/promises";
import { Vit } from "../../dist/vit.js";
import { contest } from "./contest.mjs";
import { modelOf } from "./models.mjs";

const [name, plan, limitFiles] = process.argv.slice(2);
try {
  ort.env.wasm.numThreads = 1;
  await tf.setBackend("wasm");
  const limits = await Promise.all(JSON.parse(limitFiles).map((file) => readFile(file)));
  const model = await modelOf(name, () => readFile(name));
  process.send(await contest({ Vit, ort, tf, limits }, model, JSON.parse(plan)));
} catch (error) {
  process.send({ error: error.message });
}
