// A small checkpoint in the form of transformers, and a photo.
import { readFileSync } from "node:fs";
import sharp from "sharp";
import { writeSafetensors } from "../../web/base/safetensors.mjs";

export const family = (name) => readFileSync(new URL(`../golden/families/${name}.safetensors`, import.meta.url));
/** The files that transformers writes beside tests/golden/families' `vit`. */
const CONFIG = {
  architectures: ["ViTForImageClassification"],
  model_type: "vit",
  id2label: Object.fromEntries([..."abcdefg"].map((letter, index) => [index, `class ${letter}`])),
  num_attention_heads: 2,
};
const PREPROCESSOR = {
  do_normalize: true,
  image_mean: [0.5, 0.25, 0.125],
  image_std: [0.5, 0.5, 0.25],
  resample: 3,
  size: { height: 12, width: 12 },
};
export const SIDE = 40;
export const pixels = Uint8Array.from({ length: SIDE * SIDE * 3 }, (_, i) => (i * i + 7 * i) % 251);

export const json = (value) => Buffer.from(JSON.stringify(value));
export const CHECKPOINT = [
  { name: "model.safetensors", mimeType: "", buffer: family("vit") },
  { name: "config.json", mimeType: "application/json", buffer: json(CONFIG) },
  { name: "preprocessor_config.json", mimeType: "application/json", buffer: json(PREPROCESSOR) },
];
const raw = { raw: { width: SIDE, height: SIDE, channels: 3 } };
export const PHOTO = { name: "photo.png", mimeType: "image/png", buffer: await sharp(pixels, raw).png().toBuffer() };

/**
 * A checkpoint with timm's names. With `heads` the file has a config, otherwise only tensors.
 *
 * @param value gives a number from its tensor's name and its place in the tensor.
 */
export function checkpointOf({ heads, ...sizes }, value = (name, index) => Math.sin(index * index) / 2) {
  const { width, depth, classes, patch, stride = patch, side } = sizes;
  const shapes = {
    cls_token: [1, 1, width],
    pos_embed: [1, (Math.floor((side - patch) / stride) + 1) ** 2 + 1, width],
    "patch_embed.proj.weight": [width, 3, patch, patch],
    "patch_embed.proj.bias": [width],
    "norm.weight": [width],
    "norm.bias": [width],
    "head.weight": [classes, width],
    "head.bias": [classes],
  };
  const linear = { "attn.qkv": 3 * width, "attn.proj": width, "mlp.fc1": width, "mlp.fc2": width };
  for (let layer = 0; layer < depth; layer++) {
    for (const norm of ["norm1", "norm2"]) {
      for (const part of ["weight", "bias"]) shapes[`blocks.${layer}.${norm}.${part}`] = [width];
    }
    for (const [name, rows] of Object.entries(linear)) {
      shapes[`blocks.${layer}.${name}.weight`] = [rows, width];
      shapes[`blocks.${layer}.${name}.bias`] = [rows];
    }
  }
  const config = {
    image_size: [side, side], patch_size: [patch, patch], patch_stride: [stride, stride], channels: 3, width, depth, heads, mlp_width: width, classes,
  };
  const tensors = Object.entries(shapes).map(([name, shape]) => {
    const length = shape.reduce((product, size) => product * size, 1);
    return [name, { shape, data: Float32Array.from({ length }, (_, index) => value(name, index)) }];
  });
  return Buffer.from(writeSafetensors({ config: heads && config, tensors }).buffer);
}
