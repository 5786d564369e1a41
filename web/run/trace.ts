/** Where each array of a trace lies. src/wasm/session.c writes them one after the other. */
import type { Shape } from "./wasm.js";

const NAMES = ["embedded", "stream", "qkv", "scores", "attention", "added", "lens"] as const;
type Name = (typeof NAMES)[number];

/** The number of values of each array, in order. */
function sizes({ tokens: T, width: D, depth: L, heads, headWidth, classes: K }: Shape): Record<Name, number> {
  const maps = L * heads * T * T;
  return {
    embedded: T * D,
    stream: (L + 1) * T * D,
    qkv: L * T * 3 * heads * headWidth,
    scores: maps,
    attention: maps,
    added: L * 2 * T * D,
    lens: (L + 1) * K,
  };
}

export function traceSize(shape: Shape): number {
  return Object.values(sizes(shape)).reduce((sum, size) => sum + size, 0);
}

/** The arrays as views of the values. */
export function traceArrays<Memory extends ArrayBufferLike>(
  values: Float32Array<Memory>,
  shape: Shape,
): Record<Name, Float32Array<Memory>> {
  const each = sizes(shape);
  let end = 0;
  const views = NAMES.map((name) => [name, values.subarray(end, (end += each[name]))] as const);
  return Object.fromEntries(views) as Record<Name, Float32Array<Memory>>;
}
