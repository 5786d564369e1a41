import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as ort from "onnxruntime-web/wasm";
import { largestDifference } from "./contest.mjs";
import { randomModel, shapes } from "./models.mjs";
import { forms, toOnnx } from "./onnx.mjs";
import { readSafetensors, writeSafetensors } from "./safetensors.mjs";

ort.env.wasm.numThreads = 1;

const golden = (name) =>
  readSafetensors(readFileSync(new URL(`../golden/${name}.safetensors`, import.meta.url)));

const cases = [
  "pre_gelu_learned",
  "post_scale_final",
  "quick_none_mean",
  "fc_norm_no_prefix",
  "distillation",
  "patch_positions",
  "one_block_one_head",
];

for (const name of cases) {
  for (const form of forms) {
    test(`${name} as ${form} ONNX gives PyTorch's logits in onnxruntime-web`, async () => {
      const { tensors } = golden(`${name}.golden`);
      const [images, logits] = ["images", "logits"].map((key) => tensors.get(key));
      const file = toOnnx(golden(name), { batch: images.shape[0], form });
      const session = await ort.InferenceSession.create(file);
      const image = new ort.Tensor("float32", images.data, images.shape);
      const result = (await session.run({ image })).logits;
      await session.release();
      assert.deepEqual([...result.dims], logits.shape);
      assert.ok(largestDifference(result.data, logits.data) <= 2e-5);
    });
  }
}

test("what has no export says which config key it is", () => {
  assert.throws(() => toOnnx(golden("per_head")), /no ONNX export for position sincos1d/);
});

test("a written safetensors file reads back as it was", () => {
  const model = randomModel({ ...shapes.digits, depth: 1 });
  assert.deepEqual(readSafetensors(writeSafetensors(model)), model);
});
