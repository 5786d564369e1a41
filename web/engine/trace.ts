/** Where each array of a trace lies. src/wasm/session.c writes them in this order; without `all` it
 *  stops after `lens`. */
import type { Shape } from "./shape.js";

const NAMES = ["stream", "attention", "lens", "embedded", "qkv", "scores", "added"] as const;
type Name = (typeof NAMES)[number];

/** The number of values of each array, in order. */
function sizes({ tokens: T, width: D, depth: L, heads, headWidth, logits: K }: Shape): Record<Name, number> {
  const maps = L * heads * T * T;
  return {
    stream: (L + 1) * T * D,
    attention: maps,
    lens: (L + 1) * K,
    embedded: T * D,
    qkv: L * T * 3 * heads * headWidth,
    scores: maps,
    added: L * 2 * T * D,
  };
}

export function traceSize(shape: Shape): number {
  return Object.values(sizes(shape)).reduce((sum, size) => sum + size, 0);
}

/** Where an array of a trace begins. */
export function traceStart(name: Name, shape: Shape): number {
  const each = sizes(shape);
  return NAMES.slice(0, NAMES.indexOf(name)).reduce((sum, before) => sum + each[before], 0);
}

/** The arrays as views of the values. */
export function traceArrays(values: Float32Array, shape: Shape): Record<Name, Float32Array> {
  const each = sizes(shape);
  let end = 0;
  const views = NAMES.map((name) => [name, values.subarray(end, (end += each[name]))] as const);
  return Object.fromEntries(views) as Record<Name, Float32Array>;
}
