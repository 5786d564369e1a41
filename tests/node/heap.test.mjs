// The size of the wasm heap: a model's weights once, and one state.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { writeSafetensors } from "../../web/base/safetensors.mjs";
import { instancesOf, load, variants } from "./support.mjs";

const shape = {
  image_size: [64, 64],
  patch_size: [16, 16],
  channels: 3,
  width: 384,
  depth: 8,
  heads: 6,
  mlp_width: 1536,
  classes: 10,
};

/** A file of random weights. The blocks' matrices are I8 or F32. */
function randomFile({ width: D, depth, mlp_width: M, classes: K, channels: C }, blocks) {
  const [P, Q] = shape.patch_size;
  const tensors = [];
  const linear = (name, rows, columns, dtype = "F32") => {
    tensors.push([`${name}.weight`, dtype, [rows, columns].flat()], [`${name}.bias`, "F32", [rows]]);
    if (dtype === "I8") tensors.push([`${name}.weight.scale`, "F32", [rows]]);
  };
  const norm = (name) => tensors.push([`${name}.weight`, "F32", [D]], [`${name}.bias`, "F32", [D]]);
  tensors.push(["cls_token", "F32", [1, 1, D]], ["pos_embed", "F32", [1, tokens, D]]);
  linear("patch_embed.proj", D, [C, P, Q]);
  for (let layer = 0; layer < depth; layer++) {
    norm(`blocks.${layer}.norm1`);
    linear(`blocks.${layer}.attn.qkv`, 3 * D, D, blocks);
    linear(`blocks.${layer}.attn.proj`, D, D, blocks);
    norm(`blocks.${layer}.norm2`);
    linear(`blocks.${layer}.mlp.fc1`, M, D, blocks);
    linear(`blocks.${layer}.mlp.fc2`, D, M, blocks);
  }
  norm("norm");
  linear("head", K, D);

  let random = 1;
  const next = () => (random = (Math.imul(random, 1664525) + 1013904223) >>> 0);
  const floats = (name) => () => (name.endsWith(".scale") ? 2e-4 : (next() / 2 ** 32 - 0.5) / 8);
  return writeSafetensors({
    config: shape,
    tensors: tensors.map(([name, dtype, sizes]) => {
      const length = sizes.reduce((a, b) => a * b);
      const data = dtype === "I8" ? Int8Array.from({ length }, () => next() >>> 24) : Float32Array.from({ length }, floats(name));
      return [name, { shape: sizes, data }];
    }),
  });
}

const patches = 16;
const tokens = 1 + patches;

/** The bytes that one image's run keeps: tokens twice, the widest layer between them, patches. */
const state = 4 * (tokens * (2 * shape.width + shape.mlp_width) + patches * 3 * 16 * 16);

for (const dtype of ["F32", "I8"]) {
  describe(dtype, () => {
    const file = randomFile(shape, dtype);
    for (const variant of variants) {
      test(`${variant}: the wasm heap holds ${dtype} weights and one state, and at most a fifth more`, async () => {
        const [instances, vit] = await instancesOf(() => load(file, { variant }));
        const heap = () => instances.at(-1).memory.buffer.byteLength;
        const limit = 1.2 * (file.length + state);
        assert.ok(file.length > (dtype === "I8" ? 14e6 : 56e6), `a model of ${file.length} bytes`);
        assert.ok(heap() >= file.length, `${heap()} bytes do not hold ${file.length}`);
        assert.ok(heap() <= limit, `loaded: ${heap()} bytes for a file of ${file.length}`);
        const image = Float32Array.from({ length: 3 * 64 * 64 }, (_, index) => Math.sin(index));
        const { logits } = await vit.classify(image);
        assert.ok(logits.every(Number.isFinite) && logits[0] !== logits[1]);
        assert.ok(heap() <= limit, `run: ${heap()} bytes for a file of ${file.length}`);
      });
    }
  });
}
