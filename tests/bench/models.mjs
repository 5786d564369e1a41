// Models to time: a file's, or random weights of a shape worth timing; and what to show them.
import { writeSafetensors } from "./safetensors.mjs";

const shared = {
  norm: "pre",
  norm_eps: 1e-6,
  final_norm: true,
  activation: "gelu",
  position: "learned",
  pool: "class",
  qkv_bias: true,
  qk_norm: false,
  layer_scale: false,
  prefix: ["class"],
  attention: "standard",
};

export const shapes = {
  // The shipped digits model.
  digits: {
    image_size: [28, 28],
    patch_size: [4, 4],
    channels: 1,
    width: 64,
    depth: 6,
    heads: 4,
    mlp_width: 128,
    classes: 10,
  },
  // ViT-Ti/16 of Touvron et al., arXiv:2012.12877.
  tiny: {
    image_size: [224, 224],
    patch_size: [16, 16],
    channels: 3,
    width: 192,
    depth: 12,
    heads: 3,
    mlp_width: 768,
    classes: 1000,
  },
};

/** The safetensors bytes of a file, or of `random:SHAPE`. */
export async function modelBytes(name) {
  const [, random] = name.match(/^random:(.*)/) ?? [];
  if (random === undefined) return (await import("node:fs/promises")).readFile(name);
  if (random in shapes) return writeSafetensors(randomModel(shapes[random]));
  throw new Error(`random: expected one of ${Object.keys(shapes).join(", ")}, got "${random}"`);
}

/** { config, tensors } of this shape: matrices of standard deviation 1/√columns, so that
 *  activations and logits keep the size a trained model's have. */
export function randomModel(shape, seed = 1) {
  const config = { ...shared, ...shape };
  const { channels: C, width: D, depth, mlp_width: M, classes: K } = config;
  const [patchRows, patchColumns] = config.patch_size;
  const T = 1 + patchCount(config);
  const normal = normals(seed);
  const tensors = new Map();
  const product = (sizes) => sizes.reduce((a, b) => a * b);
  const random = (name, shape, deviation, mean = 0) => {
    const data = Float32Array.from({ length: product(shape) }, () => mean + deviation * normal());
    tensors.set(name, { shape, data });
  };
  const linear = (name, rows, ...columns) => {
    random(`${name}.weight`, [rows, ...columns], 1 / Math.sqrt(product(columns)));
    random(`${name}.bias`, [rows], 0.1);
  };
  const norm = (name) => {
    random(`${name}.weight`, [D], 0.1, 1);
    random(`${name}.bias`, [D], 0.1);
  };
  random("cls_token", [1, 1, D], 1);
  random("pos_embed", [1, T, D], 1);
  linear("patch_embed.proj", D, C, patchRows, patchColumns);
  for (let l = 0; l < depth; l++) {
    norm(`blocks.${l}.norm1`);
    linear(`blocks.${l}.attn.qkv`, 3 * D, D);
    linear(`blocks.${l}.attn.proj`, D, D);
    norm(`blocks.${l}.norm2`);
    linear(`blocks.${l}.mlp.fc1`, M, D);
    linear(`blocks.${l}.mlp.fc2`, D, M);
  }
  norm("norm");
  linear("head", K, D);
  return { config, tensors };
}

/** Floating-point operations for one image: two for every multiply-add of the linear
 *  layers and of attention's two products; nothing else is counted. */
export function flops(config) {
  const { channels: C, width: D, depth: L, mlp_width: M, classes: K } = config;
  const N = patchCount(config);
  const T = N + config.prefix.length;
  const [patchRows, patchColumns] = config.patch_size;
  const blocks = L * T * (3 * D * D + D * D + 2 * D * M + 2 * T * D);
  return 2 * (N * C * patchRows * patchColumns * D + blocks + D * K);
}

function patchCount({ image_size: [rows, columns], patch_size: [patchRows, patchColumns] }) {
  return (rows / patchRows) * (columns / patchColumns);
}

/** `count` drawn sevens (C,H,W), each a little elsewhere: ink 1 on paper 0. */
export function drawings(count, { channels, image_size: [rows, columns] }) {
  return Array.from({ length: count }, (_, i) => {
    const lean = 0.03 * ((i % 7) - 3);
    const [left, right, foot] = [[0.28, 0.22], [0.72 + lean, 0.22], [0.45 - lean, 0.82]];
    const image = new Float32Array(channels * rows * columns);
    for (let at = 0; at < image.length; at++) {
      const y = (Math.floor(at / columns) % rows) / rows;
      const x = (at % columns) / columns;
      const away = Math.min(distance(x, y, left, right), distance(x, y, right, foot));
      image[at] = Math.min(1, Math.max(0, 2 - away / 0.04));
    }
    return image;
  });
}

/** From (x,y) to the segment between two points. */
function distance(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy);
  const t = Math.min(1, Math.max(0, along));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

/** Normal numbers by Box and Muller's transform of a linear congruential generator. */
function normals(seed) {
  const uniform = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}
