// Models to time, from a file or with random weights of a typical shape, and images for them.
import { readSafetensors } from "../../web/base/safetensors.mjs";

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

const photo = { image_size: [224, 224], patch_size: [16, 16], channels: 3, depth: 12, classes: 1000 };

export const shapes = {
  // The digits model of version 0.1.0, without a stem.
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
  // DeiT-Ti/16 of Touvron et al., arXiv:2012.12877.
  tiny: { ...photo, width: 192, heads: 3, mlp_width: 768 },
  // ViT-B/16 of Dosovitskiy et al., arXiv:2010.11929.
  base: { ...photo, width: 768, heads: 12, mlp_width: 3072 },
};

const titles = { tiny: "DeiT-Ti/16 224", base: "ViT-B/16 224" };

/** { config, tensors } of `random:SHAPE`, or of the file that `read` reads. */
export async function modelOf(name, read) {
  const shape = randomShape(name);
  return shape === undefined ? floatModel(await read()) : randomModel(shapes[shape]);
}

/** modelOf's config alone. */
export async function configOf(name, read) {
  const shape = randomShape(name);
  return shape === undefined ? floatModel(await read()).config : { ...shared, ...shapes[shape] };
}

function floatModel(bytes) {
  const model = readSafetensors(bytes);
  for (const [name, { data }] of model.tensors) {
    if (data instanceof Float32Array) continue;
    throw new Error(`${name}: expected float32, because the bench makes int8 itself; got I8`);
  }
  return model;
}

/** SHAPE of `random:SHAPE`; undefined for a file. */
function randomShape(name) {
  const [, shape] = name.match(/^random:(.*)/) ?? [];
  if (shape === undefined || shape in shapes) return shape;
  throw new Error(`random: expected one of ${Object.keys(shapes).join(", ")}, got "${shape}"`);
}

/** The model's name for readers: `DeiT-Ti/16 224 (random)`, `digits`. */
export function titleOf(name) {
  const shape = randomShape(name);
  if (shape !== undefined) return `${titles[shape] ?? shape} (random)`;
  return name.replace(/^.*[\\/]/, "").replace(/\.safetensors$/, "");
}

/** { config, tensors } of this shape. Matrices have a standard deviation of 1/√columns, so that
 *  activations and logits are as large as a trained model's. */
export function randomModel(shape, seed = 1) {
  const config = { ...shared, ...shape };
  const { width: D, depth, mlp_width: M, classes: K } = config;
  const { channels: maps, strides } = stemOf(config);
  const kernel = config.patch_size.map((size) => size / strides.at(-1));
  const T = 1 + patchCount(config);
  const normal = normals(seed);
  const tensors = new Map();
  const product = (sizes) => sizes.reduce((a, b) => a * b);
  const random = (name, shape, deviation, mean = 0) => {
    const data = new Float32Array(product(shape));
    for (let i = 0; i < data.length; i++) data[i] = mean + deviation * normal();
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
  maps.slice(1).forEach((S, i) => linear(`patch_embed.backbone.${2 * i}`, S, maps[i], 3, 3));
  linear("patch_embed.proj", D, maps.at(-1), ...kernel);
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

// What the fixed positions add to a row (D) of the token at row y and column x of the grid; t counts the
// prefix tokens, too.
const fixed = {
  sincos1d(row, { t }) {
    const D = row.length;
    for (let i = 0; i < D; i++) {
      const angle = t / 10000 ** ((i - (i % 2)) / D);
      row[i] = i % 2 ? Math.cos(angle) : Math.sin(angle);
    }
  },
  // Half of the width for the column, half for the row, each all sines, then all cosines.
  sincos2d(row, { t, prefix, x, y }) {
    if (t < prefix) return;
    const quarter = row.length / 4;
    [x, y].forEach((place, half) => {
      for (let i = 0; i < quarter; i++) {
        const angle = place / 10000 ** (i / quarter), at = 2 * half * quarter + i;
        [row[at], row[at + quarter]] = [Math.sin(angle), Math.cos(angle)];
      }
    });
  },
};

/** The model with its fixed positions as a tensor, as our peers need them. */
export function withPositions({ config, tensors }) {
  const fill = fixed[config.position];
  if (!fill || tensors.has("pos_embed")) return { config, tensors };
  const { width: D, image_size, patch_size } = config, columns = image_size[1] / patch_size[1];
  const prefix = config.prefix.length, T = prefix + patchCount(config), data = new Float32Array(T * D);
  for (let t = 0; t < T; t++) {
    const n = t - prefix;
    fill(data.subarray(t * D, (t + 1) * D), { t, prefix, x: n % columns, y: Math.floor(n / columns) });
  }
  return { config, tensors: new Map([...tensors, ["pos_embed", { shape: [1, T, D], data }]]) };
}

/** The same model with its blocks' linear layers in int8, as `vit quantize` writes them. Each row is
 *  q·scale, and the largest |q| is 127. */
export function quantized({ config, tensors }) {
  const all = new Map();
  for (const [name, tensor] of tensors) {
    if (!/^blocks\.\d+\.(attn\.(qkv|proj)|mlp\.fc[12])\.weight$/.test(name)) {
      all.set(name, tensor);
      continue;
    }
    const { shape, data } = tensor;
    const [rows, columns] = shape;
    const q = new Int8Array(data.length);
    const scale = new Float32Array(rows);
    for (let row = 0; row < rows; row++) {
      const from = data.subarray(row * columns, (row + 1) * columns);
      let largest = 0;
      for (const value of from) largest = Math.max(largest, Math.abs(value));
      scale[row] = largest / 127;
      const steps = scale[row] > 0 ? 1 / scale[row] : 0;
      for (let i = 0; i < columns; i++) q[row * columns + i] = Math.round(from[i] * steps);
    }
    all.set(name, { shape, data: q });
    all.set(`${name.slice(0, -".weight".length)}.weight.scale`, { shape: [rows], data: scale });
  }
  return { config, tensors: all };
}

/** Bytes of all the numbers. */
export function weightBytes({ tensors }) {
  return [...tensors.values()].reduce((sum, { data }) => sum + data.byteLength, 0);
}

/** Floating-point operations for one image: two for every multiply-add of the convolutions, the
 *  linear layers and attention's two products. Nothing else is counted. */
export function flops(config) {
  const { width: D, depth: L, mlp_width: M, classes: K } = config;
  const N = patchCount(config);
  const T = N + config.prefix.length;
  const { channels, strides } = stemOf(config), area = ([rows, columns]) => rows * columns;
  const convolutions = channels.slice(1).reduce((sum, S, i) =>
    sum + 9 * channels[i] * S * area(config.image_size) / strides[i + 1] ** 2, 0);
  const patch = channels.at(-1) * area(config.patch_size) / strides.at(-1) ** 2;
  const perHead = config.attention === "per_head"; // q, k and v of a head see its slice alone
  const blocks = L * T * ((perHead ? 3 * D * D / config.heads : 4 * D * D) + 2 * D * M + 2 * T * D);
  return 2 * (convolutions + N * patch * D + blocks + D * K);
}

/** The channels, and the pixels from one position to the next, before the stem and after each of its
 *  convolutions. */
function stemOf({ channels, stem = [] }) {
  const maps = { channels: [channels], strides: [1] };
  for (const [S, stride = 2] of stem.map((layer) => [layer].flat())) {
    maps.channels.push(S);
    maps.strides.push(maps.strides.at(-1) * stride);
  }
  return maps;
}

/** Whether a model is so small that it starts in no time and is run in batches. */
export const isSmall = (config) => flops(config) < 1e9;

function patchCount({ image_size: [rows, columns], patch_size: [patchRows, patchColumns] }) {
  return (rows / patchRows) * (columns / patchColumns);
}

/** `count` images (C,H,W) of a drawn seven, each a little different: ink is 1, paper 0. */
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

/** The distance from (x,y) to the segment between two points. */
function distance(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy);
  const t = Math.min(1, Math.max(0, along));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

/** Normal numbers. A linear congruential generator picks them from a pool that Box and Muller's
 *  transform fills, because a logarithm for each of 86 million weights would take seconds. */
function normals(seed) {
  const next = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0);
  const uniform = () => (next() + 0.5) / 2 ** 32;
  const pool = Float64Array.from({ length: 2 ** 16 }, () =>
    Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
  return () => pool[next() >>> 16];
}
