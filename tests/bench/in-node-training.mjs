// A contest in training in a process of its own: node in-node-training.mjs RECIPE PLAN LIMITS, the
// last two as of in-node-contest.mjs.
import * as jax from "@jax-js/jax";
import tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-backend-wasm";
import { readFile } from "node:fs/promises";
import { Trainer } from "../../dist/train.js";
import { registerGradients } from "./tfjs-gradients.mjs";
import { trainingContest } from "./training.mjs";

const [recipe, plan, limitFiles] = process.argv.slice(2);
try {
  await registerGradients();
  await tf.setBackend("wasm");
  await jax.init("wasm");
  jax.defaultDevice("wasm");
  const limits = await Promise.all(JSON.parse(limitFiles).map((file) => readFile(file)));
  const { model } = JSON.parse(await readFile(recipe, "utf8"));
  process.send(await trainingContest({ Trainer, tf, jax, limits }, model, JSON.parse(plan)));
} catch (error) {
  process.send({ error: error.message });
}
