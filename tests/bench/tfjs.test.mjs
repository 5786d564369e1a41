import tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-backend-wasm";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { largestDifference } from "./figures.mjs";
import { withPositions } from "./models.mjs";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { forms, tfjsVit } from "./tfjs.mjs";

const golden = (name) =>
  readSafetensors(readFileSync(new URL(`../golden/${name}.safetensors`, import.meta.url)));

await tf.setBackend("wasm");

/** The first `batch` of the golden images. */
async function logits(name, batch, form) {
  const { shape: [, ...shape], data } = golden(`${name}.golden`).tensors.get("images");
  const size = shape.reduce((a, b) => a * b);
  const before = tf.memory().numTensors;
  const vit = tfjsVit(tf, golden(name), { batch, form });
  const image = tf.tidy(() =>
    tf.transpose(tf.tensor(data.subarray(0, batch * size), [batch, ...shape]), [0, 2, 3, 1]));
  const result = vit.run(image);
  const answer = await result.data();
  tf.dispose([result, image]);
  vit.dispose();
  assert.equal(tf.memory().numTensors, before);
  return answer;
}

for (const name of ["pre_gelu_learned", "one_block_one_head", "stem"]) {
  const { shape: [count, classes], data } = golden(`${name}.golden`).tensors.get("logits");
  for (const batch of [1, count]) {
    for (const form of forms(batch)) {
      test(`${name}, batch ${batch}, ${form}, gives PyTorch's logits in tfjs-backend-wasm`, async () => {
        const got = await logits(name, batch, form);
        assert.ok(largestDifference(got, data.subarray(0, batch * classes)) <= 2e-5);
      });
    }
  }
}

test("fixed positions give tfjs the logits of the same numbers as learned ones", async () => {
  const model = golden("pre_gelu_learned"), fixed = { ...model.config, position: "sincos2d" };
  const tensors = new Map([...model.tensors].filter(([key]) => key !== "pos_embed"));
  const placed = withPositions({ config: fixed, tensors });
  const answers = [];
  for (const each of [{ config: fixed, tensors }, { config: model.config, tensors: placed.tensors }, model]) {
    const vit = tfjsVit(tf, each), { channels, image_size } = model.config;
    const image = tf.ones([1, ...image_size, channels]), result = vit.run(image);
    answers.push([...(await result.data())]);
    tf.dispose([result, image]);
    vit.dispose();
  }
  assert.deepEqual(answers[0], answers[1]);
  assert.notDeepEqual(answers[0], answers[2]);
});

test("a model without a tfjs form is refused by its config key", () => {
  const throws = (name, why) => assert.throws(() => tfjsVit(tf, golden(name)), why);
  throws("post_scale_final", /^Error: no tfjs form of norm post, only of pre$/);
  throws("distillation", /no tfjs form of prefix class,distillation, only of class$/);
});
