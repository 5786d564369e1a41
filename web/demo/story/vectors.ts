/** Rows of numbers: what chapters compute from a trace. It needs no page. */
import type { Trace } from "vitrine";

type Numbers = Float32Array | Float64Array;

/** The positions that a model adds to its tokens (T,D): the tokens with them, less those without. */
export function positionsOf(trace: Trace): Float32Array {
  const without = trace.tokens("embedded");
  return trace.tokens(0).map((value, i) => value - without[i]!);
}

export const rowOf = <List extends Numbers>(matrix: List, row: number, width: number): List =>
  matrix.subarray(row * width, (row + 1) * width) as List;

export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

export const lengthOf = (vector: ArrayLike<number>): number => Math.sqrt(dot(vector, vector));

/** The place of the largest number. */
export const largest = (list: ArrayLike<number>): number => {
  let best = 0;
  for (let i = 1; i < list.length; i++) if (list[i]! > list[best]!) best = i;
  return best;
};

/** The cosine between two lists of numbers. Zeros have no direction; theirs is 0. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const both = lengthOf(a) * lengthOf(b);
  return both > 0 ? dot(a, b) / both : 0;
}

/** The cosine of each row with each row (T,T). */
export function cosines(matrix: Float32Array, width: number): Float32Array {
  const rows = Array.from({ length: matrix.length / width }, (_, row) => rowOf(matrix, row, width));
  return Float32Array.from({ length: rows.length ** 2 }, (_, i) =>
    cosine(rows[Math.floor(i / rows.length)]!, rows[i % rows.length]!));
}
