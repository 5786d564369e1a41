/** A random checkpoint, to try the page with. Its answers mean nothing. */
import { type Tensor, writeSafetensors } from "../../base/safetensors.mjs";
import { seeded } from "../../base/scramble.mjs";
import { PIXELS } from "./checkpoint.ts";

const WIDTH = 96, DEPTH = 4, MLP = 192, PATCH = 16, SIDE = 224, CLASSES = 10, CHANNELS = 3;

const CONFIG = {
  image_size: [SIDE, SIDE],
  patch_size: [PATCH, PATCH],
  channels: CHANNELS,
  width: WIDTH,
  depth: DEPTH,
  heads: 4,
  mlp_width: MLP,
  classes: CLASSES,
  untrained: true,
  labels: Array.from({ length: CLASSES }, (_, index) => `untrained ${index + 1}`),
  prepare: { kind: "photo", resize: SIDE, crop: SIDE, ...PIXELS.imagenet, interpolation: "bicubic" },
};

/** Standard deviations. They are large enough to give each head a visible map of its own. */
const MATRIX = 0.12, PATCHES = 0.03, POSITIONS = 0.3;

export function randomCheckpoint(): File {
  const tensors = new Map<string, Tensor>(), normal = normals();
  const add = (name: string, shape: number[], next: () => number) => {
    const length = shape.reduce((product, size) => product * size, 1);
    tensors.set(name, { shape, data: Float32Array.from({ length }, next) });
  };
  const random = (name: string, shape: number[], spread: number) => add(name, shape, () => spread * normal());
  const linear = (name: string, rows: number, columns: number) => {
    random(`${name}.weight`, [rows, columns], MATRIX);
    random(`${name}.bias`, [rows], MATRIX);
  };
  const norm = (name: string) => {
    add(`${name}.weight`, [WIDTH], () => 1);
    random(`${name}.bias`, [WIDTH], MATRIX);
  };
  random("cls_token", [1, 1, WIDTH], POSITIONS);
  random("pos_embed", [1, (SIDE / PATCH) ** 2 + 1, WIDTH], POSITIONS);
  random("patch_embed.proj.weight", [WIDTH, CHANNELS, PATCH, PATCH], PATCHES);
  random("patch_embed.proj.bias", [WIDTH], PATCHES);
  for (let layer = 0; layer < DEPTH; layer++) {
    const block = `blocks.${layer}`;
    norm(`${block}.norm1`);
    linear(`${block}.attn.qkv`, 3 * WIDTH, WIDTH);
    linear(`${block}.attn.proj`, WIDTH, WIDTH);
    norm(`${block}.norm2`);
    linear(`${block}.mlp.fc1`, MLP, WIDTH);
    linear(`${block}.mlp.fc2`, WIDTH, MLP);
  }
  norm("norm");
  linear("head", CLASSES, WIDTH);
  return new File([writeSafetensors({ config: CONFIG, tensors })], "random.safetensors");
}

/** Normal numbers by the Box-Muller method. */
function normals(): () => number {
  const unit = seeded(1); // never 0
  return () => Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
}
