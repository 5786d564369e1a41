import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as ort from "onnxruntime-web/wasm";
import { cosine, largestDifference } from "./figures.mjs";
import { drawings, quantized, randomModel, shapes } from "./models.mjs";
import { forms, toOnnx } from "./onnx.mjs";
import { readSafetensors } from "../../web/base/safetensors.mjs";

ort.env.wasm.numThreads = 1;

const golden = (name) =>
  readSafetensors(readFileSync(new URL(`../golden/${name}.safetensors`, import.meta.url)));

const cases = [
  "pre_gelu_learned",
  "post_scale_final",
  "quick_none_mean",
  "fc_norm_no_prefix",
  "distillation",
  "fc_norm",
  "tanh_sincos2d_rectangular",
  "patch_positions",
  "one_block_one_head",
  "stem",
];

async function run(file, pixels, shape) {
  const session = await ort.InferenceSession.create(file);
  const { logits } = await session.run({ image: new ort.Tensor("float32", pixels, shape) });
  await session.release();
  return logits;
}

for (const name of cases) {
  for (const form of forms) {
    test(`${name} as ${form} ONNX gives PyTorch's logits in onnxruntime-web`, async () => {
      const { tensors } = golden(`${name}.golden`);
      const [images, logits] = ["images", "logits"].map((key) => tensors.get(key));
      const file = toOnnx(golden(name), { batch: images.shape[0], form });
      const result = await run(file, images.data, images.shape);
      assert.deepEqual([...result.dims], logits.shape);
      assert.ok(largestDifference(result.data, logits.data) <= 2e-5);
    });
  }
}

for (const form of forms) {
  test(`int8 weights as ${form} ONNX give nearly the logits of float32`, async () => {
    const model = randomModel({ ...shapes.digits, depth: 3 });
    const [pixels] = drawings(1, model.config);
    const logits = async (model) => (await run(toOnnx(model, { form }), pixels, [1, 1, 28, 28])).data;
    const [f32, int8] = [await logits(model), await logits(quantized(model))];
    assert.ok(cosine(int8, f32) >= 0.9995, `cosine ${cosine(int8, f32)}`);
    assert.notDeepEqual(int8, f32);
  });
}

test("a model without an ONNX form is refused by its config key", () => {
  assert.throws(() => toOnnx(golden("per_head")), /no ONNX export for position sincos1d/);
});
