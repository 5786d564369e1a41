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

/** The mean cosine of patches that share a side, and of all other pairs. */
export function nearAndFar(all: Float32Array, columns: number): { near: number; far: number } {
  const patches = Math.sqrt(all.length), sum = { near: 0, far: 0 }, count = { near: 0, far: 0 };
  for (let a = 0; a < patches; a++) {
    for (let b = a + 1; b < patches; b++) {
      const down = Math.floor(b / columns) - Math.floor(a / columns), across = Math.abs((a % columns) - (b % columns));
      const which = down + across === 1 ? "near" : "far";
      sum[which] += all[a * patches + b]!;
      count[which]++;
    }
  }
  return { near: sum.near / count.near, far: sum.far / count.far };
}

/** The bias of relative positions in one head (T,T): its scores less q·k/√d. */
export function biasOf(trace: Trace, layer: number, head: number): Float32Array {
  const scores = trace.scores(layer, head);
  const [q, k] = [trace.queries(layer, head), trace.keys(layer, head)];
  const T = Math.sqrt(scores.length), d = q.length / T;
  return scores.map((score, i) => {
    const [query, key] = [rowOf(q, Math.floor(i / T), d), rowOf(k, i % T, d)];
    return score - dot(query, key) / Math.sqrt(d);
  });
}

/**
 * How rotary positions change a patch's score with its own key, by offset, as {@link byOffset} has it: the score with
 * the same key so far away, less the score with it in place. Of config's standard `rotary_` keys: DINOv3's.
 */
export function turnedBy(trace: Trace, layer: number, head: number, token: number, base: number,
  { gridRows, gridCols }: { gridRows: number; gridCols: number }): Float32Array {
  const across = 2 * gridCols - 1, all = trace.queries(layer, head), tokens = Math.sqrt(trace.scores(layer, head).length);
  const width = all.length / tokens, half = width / 2, quarter = half / 2;
  const [q, k] = [rowOf(all, token, width), rowOf(trace.keys(layer, head), token, width)];
  return Float32Array.from({ length: (2 * gridRows - 1) * across }, (_, cell) => {
    const turns = [(Math.floor(cell / across) - gridRows + 1) / gridRows, ((cell % across) - gridCols + 1) / gridCols];
    let change = 0;
    for (let i = 0; i < half; i++) {
      const angle = (4 * Math.PI * turns[Number(i >= quarter)]!) / base ** ((i % quarter) / quarter);
      const [a, b, c, e] = [q[i]!, q[i + half]!, k[i]!, k[i + half]!];
      change += (a * c + b * e) * (Math.cos(angle) - 1) + (b * c - a * e) * Math.sin(angle);
    }
    return change / Math.sqrt(width);
  });
}

/**
 * A bias between patches as a picture (2·rows−1, 2·columns−1): the middle is the patch's bias with
 * itself, the cell one to the right its bias with the patch to its right.
 */
export function byOffset(bias: Float32Array, prefix: number, rows: number, columns: number): Float32Array {
  const T = prefix + rows * columns, across = 2 * columns - 1;
  const token = (row: number, column: number) => prefix + row * columns + column;
  return Float32Array.from({ length: (2 * rows - 1) * across }, (_, i) => {
    const down = Math.floor(i / across) - rows + 1, right = (i % across) - columns + 1;
    const [row, column] = [Math.max(0, -down), Math.max(0, -right)]; // a patch that has this neighbour
    return bias[token(row, column) * T + token(row + down, column + right)]!;
  });
}
