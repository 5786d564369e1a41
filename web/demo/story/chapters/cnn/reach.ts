/** Which pixels can reach a unit, in a network of convolutions and in a Transformer. Needs no page. */
import type { Attention, VitConfig } from "vitrine";
import { seenBy, type Span, stridesOf, unitOf } from "../../../receptive.ts";

const SIDE = 3; // of every convolution

/**
 * Along one side, the pixels that can reach one unit: first in the image, then after each convolution.
 * The last is the unit at `place`; each before it is the unit in the middle of what the next one sees.
 */
export function receptive(config: Readonly<VitConfig>, place: number): Span[] {
  const strides = stridesOf(config);
  return [0, ...strides].map((_, map) => {
    const unit = place * unitOf(strides.slice(map)); // its place in this map
    return seenBy([unit, unit], strides.slice(0, map));
  });
}

/**
 * How much of each token is in token `token` after 0, 1, … blocks, by attention rollout (Abnar & Zuidema,
 * arXiv:2005.00928): in each block a token keeps half of itself, and the heads' mean gives the other half.
 *
 * @returns (T) for each number of blocks; each sums to 1.
 */
export function spread(attention: Attention, token: number): Float64Array[] {
  const { layers, tokens: T } = attention;
  const maps = Array.from({ length: layers }, (_, layer) => attention.at(layer, "mean"));
  return Array.from({ length: layers + 1 }, (_, blocks) => {
    let share = new Float64Array(T);
    share[token] = 1;
    for (const map of maps.slice(0, blocks).reverse()) {
      const next = share.map((value) => value / 2);
      share.forEach((value, row) => {
        if (value === 0) return;
        for (let column = 0; column < T; column++) next[column]! += (value / 2) * map[row * T + column]!;
      });
      share = next;
    }
    return share;
  });
}

/** How many numbers a model multiplies for one image. */
export function multiplications(config: Readonly<VitConfig>): number {
  const { image_size: [height, width], patch_size, channels, width: D, depth, mlp_width, classes, prefix } = config;
  let area = height * width, depthIn = channels, count = 0, unit = 1;
  const strides = stridesOf(config);
  for (const [at, layer] of config.stem.entries()) {
    const out = typeof layer === "number" ? layer : layer[0], stride = strides[at]!;
    area /= stride * stride;
    unit *= stride;
    count += area * depthIn * out * SIDE * SIDE;
    depthIn = out;
  }
  const patches = (height / patch_size[0]) * (width / patch_size[1]);
  count += patches * depthIn * (patch_size[0] / unit) * (patch_size[1] / unit) * D;
  const T = patches + prefix.length;
  const block = T * (4 * D * D + 2 * D * mlp_width) + 2 * T * T * D; // projections and MLP; scores and mixing
  return count + depth * block + D * classes;
}

/**
 * How far two runs differ in each unit: the length of the difference by the length of the first.
 *
 * @param before (N,D) @param after (N,D)
 * @returns (N)
 */
export function changes(before: Float32Array, after: Float32Array, width: number): Float32Array {
  return Float32Array.from({ length: before.length / width }, (_, unit) => {
    let [apart, whole] = [0, 0];
    for (let i = unit * width; i < (unit + 1) * width; i++) {
      apart += (after[i]! - before[i]!) ** 2;
      whole += before[i]! ** 2;
    }
    return apart === 0 ? 0 : Math.sqrt(apart / whole);
  });
}

/** A copy of an image (H,W), in which the pixels of one square are turned from ink to paper and back. */
export function invert(
  image: Float32Array,
  columns: number,
  [row, column]: readonly [number, number],
  [height, width]: readonly [number, number],
): Float32Array {
  const changed = image.slice();
  for (let y = row * height; y < (row + 1) * height; y++) {
    for (let x = column * width; x < (column + 1) * width; x++) changed[y * columns + x] = 1 - image[y * columns + x]!;
  }
  return changed;
}
