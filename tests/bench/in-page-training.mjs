// Training in a page. The page of in-chromium.mjs imports this.
import * as jax from "/node_modules/@jax-js/jax/dist/index.js";
import { Trainer } from "/dist/train.js";
import { bytesOf, startTfjs } from "./in-page-tfjs.mjs";
import { trainingContest } from "./training.mjs";

/** trainingContest() of a recipe's model. */
export async function trainingHere(model, plan, limitUrls) {
  const tf = await startTfjs();
  await import("/tfjs-gradients.mjs");
  await jax.init("wasm");
  jax.defaultDevice("wasm");
  const limits = await Promise.all(limitUrls.map(bytesOf));
  return trainingContest({ Trainer, tf, jax, limits }, model, plan);
}
