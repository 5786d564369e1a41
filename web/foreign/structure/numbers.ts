/** Matrices that are made of a file's tensors, read only when they are written. */
import type { Tensor } from "../family.js";

export type Read = (tensor: Tensor) => Float32Array;

/** A matrix, 0, and a bias, 1, which is zeros if the file has none. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  /** The tensors that make either. */
  readonly from: readonly (readonly Tensor[])[];
  /** The numbers of either. */
  make(read: Read, which: number): Float32Array;
}

const both = (tensors: (which: number) => readonly Tensor[]) => [0, 1].map((which) => [...new Set(tensors(which))]);

/** A matrix of no tensor; without `value`, zeros. */
export const constant = (rows: number, columns: number, value = (_index: number) => 0): Matrix => ({
  rows, columns, from: [[], []],
  make: (_read, which) => Float32Array.from({ length: which ? rows : rows * columns }, (_, index) => (which ? 0 : value(index))),
});

/** What stands for a layer that mixes the heads where there is none. */
export const identity = (width: number) => constant(width, width, (index) => Number(index % (width + 1) === 0));

/** The rows of matrices of one shape, one after the other. */
export const stacked = (all: readonly Matrix[]): Matrix => ({
  ...all[0]!,
  rows: all.length * all[0]!.rows,
  from: both((which) => all.flatMap(({ from }) => from[which]!)),
  make(read, which) {
    const parts = all.map((one) => one.make(read, which)), { length } = parts[0]!;
    const out = new Float32Array(parts.length * length);
    parts.forEach((part, at) => out.set(part, at * length));
    return out;
  },
});

export const rowsOf = (matrix: Matrix, first: number, rows: number): Matrix =>
  moved(matrix, matrix.columns, (values, row, column, length) => values[(first + row) * length + column]!, rows);

/** The matrix with other numbers, each from the old ones by its row and column. `length`: the columns, 1 for the bias. */
export const moved = (
  matrix: Matrix, columns: number, number: (values: Float32Array, row: number, column: number, length: number) => number, rows = matrix.rows,
): Matrix => ({
  ...matrix,
  rows,
  columns,
  make(read, which) {
    const values = matrix.make(read, which), length = which || columns;
    return Float32Array.from({ length: rows * length }, (_, at) => number(values, Math.floor(at / length), at % length, length));
  },
});

/** The layer that does what `before` and then `after` do. Sums are in double precision. */
export const product = (after: Matrix, before: Matrix): Matrix => ({
  rows: after.rows,
  columns: before.columns,
  from: both((which) => [after, before].flatMap(({ from }) => from[which]!)),
  make(read, which) {
    const a = after.make(read, 0), b = before.make(read, which), own = after.make(read, 1);
    const count = before.rows, row = new Float64Array(b.length / count), out = new Float32Array(after.rows * row.length);
    for (let at = 0; at < after.rows; at++) {
      row.fill(which * own[at]!);
      for (let k = 0; k < count; k++) {
        for (let j = 0; j < row.length; j++) row[j]! += a[at * count + k]! * b[k * row.length + j]!;
      }
      out.set(row, at * row.length);
    }
    return out;
  },
});
