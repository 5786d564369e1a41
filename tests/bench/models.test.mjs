import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { largestDifference, median } from "./figures.mjs";
import { configOf, flops, modelOf, quantized, randomModel, shapes, titleOf, withPositions } from "./models.mjs";
import { transpose } from "./onnx-graph.mjs";
import { readSafetensors, writeSafetensors } from "../../web/base/safetensors.mjs";

const small = { ...shapes.digits, depth: 1, width: 12, heads: 2, mlp_width: 9 };

test("a written safetensors file is read back as the same model, in float32 and in int8", () => {
  for (const model of [randomModel(small), quantized(randomModel(small))]) {
    assert.deepEqual(readSafetensors(writeSafetensors(model)), model);
  }
});

test("int8 weights are within half a step of the float32 ones, and reach 127 in every row", () => {
  const { tensors } = randomModel(small);
  const int8 = quantized({ tensors }).tensors;
  const names = ["attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2"].map((name) => `blocks.0.${name}.weight`);
  assert.deepEqual([...int8].filter(([, { data }]) => data instanceof Int8Array).map(([name]) => name), names);
  assert.equal(int8.size, tensors.size + names.length);
  for (const name of names) {
    const { shape: [rows, columns], data } = tensors.get(name);
    const [q, scale] = [int8.get(name).data, int8.get(`${name}.scale`).data];
    assert.equal(scale.length, rows);
    data.forEach((weight, i) => {
      const step = scale[Math.floor(i / columns)];
      assert.ok(Math.abs(weight - q[i] * step) <= 0.50001 * step);
    });
    for (let row = 0; row < rows; row++) {
      const largest = q.subarray(row * columns, (row + 1) * columns).map(Math.abs);
      assert.equal(Math.max(...largest), 127);
    }
  }
});

test("random weights are the same each time, and have the expected deviation", () => {
  const [a, b] = [randomModel(small), randomModel(small)];
  assert.deepEqual(a, b);
  const { shape: [, columns], data } = a.tensors.get("blocks.0.attn.qkv.weight");
  const square = data.reduce((sum, weight) => sum + weight * weight, 0) / data.length;
  assert.ok(Math.abs(square * columns - 1) < 0.2, `variance ${square * columns} of 1`);
});

test("ViT-B/16 has 86.6 million parameters and 35 billion operations", async () => {
  assert.equal(Math.round(flops(await configOf("random:base")) / 1e8), 351);
  const { width: D, depth: L, mlp_width: M, classes: K } = shapes.base;
  const block = 4 * D + 4 * (D * D + D) + 2 * D * M + D + M;
  const parameters = D + 197 * D + (768 + 1) * D + L * block + 2 * D + K * (D + 1);
  assert.equal(Math.round(parameters / 1e5), 866);
});

test("a model is named after its file or its shape, and an unknown shape is refused", async () => {
  assert.equal(titleOf("some/folder/digits.safetensors"), "digits");
  assert.equal(titleOf("random:base"), "ViT-B/16 224 (random)");
  await assert.rejects(modelOf("random:huge"), /expected one of digits, tiny, base, got "huge"/);
});

test("the fixed positions that our peers get are those that PyTorch stored", () => {
  const { config, tensors } = readSafetensors(readFileSync(new URL("../golden/fc_norm.safetensors", import.meta.url)));
  const { shape, data } = tensors.get("pos_embed");
  const without = new Map([...tensors].filter(([name]) => name !== "pos_embed"));
  const got = withPositions({ config, tensors: without }).tensors.get("pos_embed");
  assert.deepEqual(got.shape, shape);
  assert.ok(largestDifference(got.data, data) <= 2 ** -23, "float32 rounds numbers up to 1");
  assert.equal(withPositions({ config, tensors }).tensors, tensors, "positions in the file stay");
});

test("modelOf accepts a file in float32 and refuses one in int8", async () => {
  const model = randomModel(small);
  const [f32, int8] = [model, quantized(model)].map(writeSafetensors);
  assert.deepEqual(await modelOf("some.safetensors", () => f32), model);
  assert.deepEqual(await configOf("some.safetensors", async () => f32), model.config);
  await assert.rejects(modelOf("some.safetensors", () => int8), /blocks\.0\..*expected float32/);
});

test("transpose is right at sizes that are no multiple of its strip", () => {
  for (const [rows, columns] of [[1, 1], [3, 5], [16, 2], [17, 33]]) {
    const data = Float32Array.from({ length: rows * columns }, (_, i) => i);
    const turned = transpose(data, rows, columns);
    turned.forEach((value, i) => assert.equal(value, data[(i % rows) * columns + Math.floor(i / rows)]));
  }
});

test("median takes even and odd counts, and largestDifference is NaN if a number is NaN", () => {
  assert.deepEqual([median([3, 1, 2]), median([4, 1, 2, 3])], [2, 2.5]);
  assert.equal(largestDifference([1, 2], [1, 4]), 0.5);
  assert.ok(Number.isNaN(largestDifference([1, NaN], [1, 2])));
});
