// A small checkpoint as transformers leaves it, and a photo.
import { readFileSync } from "node:fs";
import sharp from "sharp";

export const family = (name) => readFileSync(new URL(`../golden/families/${name}.safetensors`, import.meta.url));
/** As transformers writes them for tests/golden/families' `vit`. */
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
