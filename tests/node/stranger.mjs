// A Vision Transformer whose tensors have names of nobody's.
import { headerBytes, headerOf } from "../../web/base/safetensors.mjs";

/** A file with these tensors, of zeros; of those named in `ones`, of ones. */
export function fileOf(tensors, ones = []) {
  const all = Object.entries(tensors).map(([name, shape]) => [name, { dtype: "F32", shape, size: 4 * shape.reduce((product, length) => product * length, 1) }]);
  const header = headerBytes(headerOf(all));
  return Buffer.concat([header, ...all.map(([name, { size }]) => new Uint8Array(new Float32Array(size / 4).fill(Number(ones.includes(name))).buffer))]);
}

/** A block of a ViT as wide as 8, with names of nobody's. */
export const blockOf = (name) => ({
  [`${name}.pre.weight`]: [8], [`${name}.pre.bias`]: [8], [`${name}.look.qkv.weight`]: [24, 8], [`${name}.look.mix.weight`]: [8, 8],
  [`${name}.post.weight`]: [8], [`${name}.post.bias`]: [8], [`${name}.think.0.weight`]: [16, 8], [`${name}.think.0.bias`]: [16],
  [`${name}.think.2.weight`]: [8, 16], [`${name}.think.2.bias`]: [8],
});

export const around = { "pixels.weight": [8, 1, 4, 4], "place": [1, 50, 8], "first": [1, 1, 8], "answer.weight": [3, 8], "answer.bias": [3] };

/** A model of two blocks, for images of 28×28 pixels and three classes. */
export const two = { ...around, ...blockOf("b.0"), ...blockOf("b.1") };

export const stranger = () => fileOf(two);
