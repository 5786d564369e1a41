// The Node side of the bench, a process of its own so that any Node can run it:
// node in-node.mjs MODEL PLAN, PLAN as JSON, with an IPC channel for the answer.
import * as ort from "onnxruntime-web/wasm";
import { Vit } from "../../dist/vit.js";
import { contest } from "./contest.mjs";
import { modelBytes } from "./models.mjs";

const [model, plan] = process.argv.slice(2);
try {
  const rows = await contest(Vit, ort, await modelBytes(model), JSON.parse(plan));
  process.send({ where: `Node ${process.versions.node}`, rows });
} catch (error) {
  process.send({ error: error.message });
}
