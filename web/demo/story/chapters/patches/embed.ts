/** From pixels to a token by hand, and how far a patch sees. Needs no page. */
import type { VitConfig } from "vitrine";
import type { Shape } from "../../../pixels.ts";
import { seenBy, type Span, stridesOf, unitOf } from "../../../receptive.ts";

/** The patches' projection: D filters, each as many weights as a patch has pixels. */
export interface Filters {
  weights: Float32Array; // (D, n)
  bias: Float32Array | undefined; // (D)
  count: number; // D
  size: number; // n
}

/** A patch's pixels, line by line. */
export function pixelsOf(input: Float32Array, shape: Shape, [row, column]: readonly [number, number]): Float32Array {
  const { cols, patchRows, patchCols } = shape;
  const pixels = new Float32Array(patchRows * patchCols);
  for (let y = 0; y < patchRows; y++) {
    const start = (row * patchRows + y) * cols + column * patchCols;
    pixels.set(input.subarray(start, start + patchCols), y * patchCols);
  }
  return pixels;
}

/** Along one side: the pixels known to the places above a patch after 0, 1, … convolutions of a stem. */
export function fieldsOf(config: Pick<VitConfig, "stem">, patchSize: number, index: number): Span[] {
  const strides = stridesOf(config);
  return [0, ...strides].map((_, passed) => {
    const before = strides.slice(0, passed), unit = unitOf(before);
    return seenBy([Math.floor((index * patchSize) / unit), Math.ceil(((index + 1) * patchSize) / unit) - 1], before);
  });
}

/** The smallest of 1, 2, 5, 10, … that is not below `most`: the end of a scale that seldom changes. */
export function roundTop(most: number): number {
  if (!(most > 0)) return 1;
  const ten = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5].find((step) => step * ten >= most) ?? 10) * ten;
}
