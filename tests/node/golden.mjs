// The golden vectors that PyTorch made (tests/golden/make.py), for tests of the API.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { headerOf, joinFile, readSafetensors, splitFile } from "../../web/base/safetensors.mjs";

const folder = new URL("../golden/", import.meta.url);

/** A folder of data that is too large for this repository. It is in the folder that VITRINE_DATA
 *  names, beside that folder, or in `shared` beside the repository; undefined if there is none. */
export function shared(name) {
  const data = process.env.VITRINE_DATA;
  const root = fileURLToPath(new URL("../../../shared", import.meta.url));
  const places = [...(data ? [data, dirname(data)] : []), root];
  return places.map((place) => join(place, name)).find(existsSync);
}

/** A golden model's file. */
export const modelPath = (name) => fileURLToPath(new URL(`${name}.safetensors`, folder));
export const modelBytes = (name) => readFileSync(modelPath(name));

/** The config in the file of a golden model. */
export function ownConfig(name) {
  return JSON.parse(splitFile(modelBytes(name)).header.__metadata__.vitrine);
}

/** The case of a folder of the data's `families` or `wanted`; `source` is what to load. */
export function caseOf(folder, name) {
  const { load, config, ...rest } = JSON.parse(readFileSync(join(folder, name, "case.json"), "utf8"));
  const overrides = { ...config, ...(name.startsWith("torch_encoder") && { heads: 2 }) }; // its file does not tell
  const weights = join(folder, name, load);
  return { ...rest, source: Object.keys(overrides).length > 0 ? { weights, config: overrides } : weights };
}

/** The names of all golden models. */
export const names = readdirSync(folder)
  .filter((name) => name.endsWith(".golden.safetensors"))
  .map((name) => name.replace(".golden.safetensors", ""));

/** The config that transformers writes for families/vit. */
export const CONFIG = {
  architectures: ["ViTForImageClassification"],
  model_type: "vit",
  hidden_act: "gelu",
  hidden_size: 20,
  id2label: { 0: "a", 1: "b", 2: "c", 3: "d", 4: "e", 5: "f", 6: "g" },
  image_size: 12,
  intermediate_size: 30,
  layer_norm_eps: 1e-12,
  num_attention_heads: 2,
  num_channels: 3,
  num_hidden_layers: 2,
  patch_size: 4,
  qkv_bias: true,
};

/** The way transformers prepares photos for it. */
export const PREPROCESSOR = {
  do_normalize: true,
  do_resize: true,
  image_mean: [0.5, 0.25, 0.125],
  image_std: [0.5, 0.5, 0.25],
  resample: 3,
  size: { shortest_edge: 16 },
  do_center_crop: true,
  crop_size: { height: 12, width: 12 },
};

/** Reads a safetensors file of F32 tensors as { name: { shape, values } }. */
export function readTensors(bytes) {
  const { tensors } = readSafetensors(bytes);
  return Object.fromEntries(Array.from(tensors, ([name, { shape, data }]) => [name, { shape, values: data }]));
}

/** A safetensors file whose tensors `change` changed: { name: { dtype, shape, data } }. */
export function rewritten(bytes, change) {
  const { header: { __metadata__, ...header }, data: all } = splitFile(bytes);
  const entries = Object.entries(header).map(([name, { dtype, shape, data_offsets }]) =>
    [name, { dtype, shape, data: all.subarray(...data_offsets) }]);
  const tensors = Object.fromEntries(entries);
  change(tensors);
  const placed = Object.entries(tensors).map(([name, { dtype, shape, data }]) => [name, { dtype, shape, size: data.length }]);
  const parts = Object.values(tensors).map(({ data }) => data);
  return Buffer.from(joinFile(headerOf(placed, __metadata__), ...parts).buffer);
}

/** The slice `index` along a tensor's first dimension. */
export function slice({ shape, values }, index) {
  const size = values.length / shape[0];
  return values.slice(index * size, (index + 1) * size);
}

/** PyTorch's answers for a model: one { image, logits, attention, tokens, relevance } for each image.
 *  relevance: (K,N), only of the models of make.py. */
export function golden(name) {
  const file = readTensors(readFileSync(new URL(`${name}.golden.safetensors`, folder)));
  const batch = file.images.shape[0];
  const attention = { shape: [batch], values: file.attention.values };
  return Array.from({ length: batch }, (_, index) => ({
    image: slice(file.images, index),
    logits: file.logits && slice(file.logits, index), // a model without a head has none
    attention: slice(attention, index),
    tokens: slice(file.tokens, index),
    relevance: file.relevance && slice(file.relevance, index),
  }));
}

/** The largest |got - want| over the largest |want|. NaN in either gives NaN, which fails. */
export function farthest(got, want) {
  if (got.length !== want.length) return NaN;
  const largest = (values) => values.reduce((most, value) => (value > most ? value : most), 0);
  const gaps = Float64Array.from(want, (value, index) => Math.abs(value - got[index]));
  if (gaps.some(Number.isNaN)) return NaN;
  return largest(gaps) / largest(Float64Array.from(want, Math.abs));
}
