/** A random checkpoint, to try the page with. Its answers mean nothing. */
import { type Tensor as Values, writeSafetensors } from "../../base/safetensors.mjs";

const WIDTH = 96;
const DEPTH = 4;
const HEADS = 4;
const MLP = 192;
const PATCH = 16;
const SIDE = 224;
const CLASSES = 10;
const CHANNELS = 3;

const CONFIG = {
  image_size: [SIDE, SIDE],
  patch_size: [PATCH, PATCH],
  channels: CHANNELS,
  width: WIDTH,
  depth: DEPTH,
  heads: HEADS,
  mlp_width: MLP,
  classes: CLASSES,
  untrained: true,
  labels: Array.from({ length: CLASSES }, (_, index) => `untrained ${index + 1}`),
  prepare: {
    kind: "photo",
    resize: SIDE,
    crop: SIDE,
    mean: [0.485, 0.456, 0.406],
    std: [0.229, 0.224, 0.225],
    interpolation: "bicubic",
  },
};

/** Standard deviations. They are large enough to give each head a visible map of its own. */
const MATRIX = 0.12;
const PATCHES = 0.03;
const POSITIONS = 0.3;

/** A tensor's shape and its numbers' standard deviation; 0 means all ones, as in norm weights. */
type Tensor = readonly [name: string, shape: number[], spread: number];

function tensors(): Tensor[] {
  const patches = (SIDE / PATCH) ** 2;
  const linear = (name: string, rows: number, columns: number): Tensor[] => [
    [`${name}.weight`, [rows, columns], MATRIX],
    [`${name}.bias`, [rows], MATRIX],
  ];
  const norm = (name: string): Tensor[] => [
    [`${name}.weight`, [WIDTH], 0],
    [`${name}.bias`, [WIDTH], MATRIX],
  ];
  const block = (name: string): Tensor[] => [
    ...norm(`${name}.norm1`),
    ...linear(`${name}.attn.qkv`, 3 * WIDTH, WIDTH),
    ...linear(`${name}.attn.proj`, WIDTH, WIDTH),
    ...norm(`${name}.norm2`),
    ...linear(`${name}.mlp.fc1`, MLP, WIDTH),
    ...linear(`${name}.mlp.fc2`, WIDTH, MLP),
  ];
  return [
    ["cls_token", [1, 1, WIDTH], POSITIONS],
    ["pos_embed", [1, patches + 1, WIDTH], POSITIONS],
    ["patch_embed.proj.weight", [WIDTH, CHANNELS, PATCH, PATCH], PATCHES],
    ["patch_embed.proj.bias", [WIDTH], PATCHES],
    ...Array.from({ length: DEPTH }, (_, layer) => block(`blocks.${layer}`)).flat(),
    ...norm("norm"),
    ...linear("head", CLASSES, WIDTH),
  ];
}

export function randomCheckpoint(seed = 1): File {
  const normal = normals(seed);
  const made = new Map<string, Values>();
  for (const [name, shape, spread] of tensors()) {
    const count = shape.reduce((product, size) => product * size, 1);
    made.set(name, { shape, data: Float32Array.from({ length: count }, () => (spread ? spread * normal() : 1)) });
  }
  return new File([writeSafetensors({ config: CONFIG, tensors: made })], "random.safetensors");
}

/** Normal numbers by the Box-Muller method from a linear congruential generator. */
function normals(seed: number): () => number {
  let word = seed >>> 0;
  const unit = () => {
    word = (Math.imul(word, 1664525) + 1013904223) >>> 0;
    return (word + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
}
