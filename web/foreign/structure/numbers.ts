/** Matrices that are made of a file's tensors, read only when they are written. */
import type { Tensor } from "../family.js";

export type Read = (tensor: Tensor) => Float32Array;

/** A matrix and a bias, zeros if the file has none. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  /** The tensors that make the matrix, and those that make the bias. */
  readonly from: readonly Tensor[];
  readonly biases: readonly Tensor[];
  weight(read: Read): Float32Array;
  bias(read: Read): Float32Array;
}

export const zeros = (count: number) => () => new Float32Array(count);

/** A matrix of no tensor; without `value`, zeros. */
export const constant = (rows: number, columns: number, value = (_index: number) => 0): Matrix => ({
  rows, columns, from: [], biases: [], bias: zeros(rows), weight: () => Float32Array.from({ length: rows * columns }, (_, index) => value(index)),
});

/** Arrays of one length, one after the other. */
const joined = (parts: readonly Float32Array[]) => {
  const { length } = parts[0]!;
  const all = new Float32Array(parts.length * length);
  parts.forEach((part, at) => all.set(part, at * length));
  return all;
};

/** The rows of matrices of one shape, one after the other. */
export const stacked = (all: readonly Matrix[]): Matrix => ({
  rows: all.length * all[0]!.rows,
  columns: all[0]!.columns,
  from: all.flatMap(({ from }) => from),
  biases: all.flatMap(({ biases }) => biases),
  weight: (read) => joined(all.map((one) => one.weight(read))),
  bias: (read) => joined(all.map((one) => one.bias(read))),
});

export const rowsOf = (matrix: Matrix, first: number, rows: number): Matrix => ({
  ...matrix,
  rows,
  weight: (read) => matrix.weight(read).subarray(first * matrix.columns, (first + rows) * matrix.columns),
  bias: (read) => matrix.bias(read).subarray(first, first + rows),
});

/** A head that reads only its own slice of the token, as one that reads the whole token. */
export const spread = (matrix: Matrix, at: number, heads: number, width: number): Matrix => matrix.columns === width || matrix.columns * heads !== width ? matrix : {
  ...matrix,
  columns: width,
  weight(read) {
    const values = matrix.weight(read), { columns } = matrix;
    return Float32Array.from({ length: matrix.rows * width }, (_, index) => {
      const column = index % width - at * columns;
      return column >= 0 && column < columns ? values[Math.floor(index / width) * columns + column]! : 0;
    });
  },
};

/** a (n,count) · b (count,columns). Sums are in double precision. */
function times(a: Float32Array, b: Float32Array, count: number): Float32Array {
  const row = new Float64Array(b.length / count), out = new Float32Array((a.length / count) * row.length);
  for (let at = 0; at < a.length; at += count) {
    row.fill(0);
    for (let k = 0; k < count; k++) {
      for (let j = 0; j < row.length; j++) row[j]! += a[at + k]! * b[k * row.length + j]!;
    }
    out.set(row, (at / count) * row.length);
  }
  return out;
}

/** The layer that does what `before` and then `after` do. */
export const product = (after: Matrix, before: Matrix): Matrix => ({
  ...after,
  columns: before.columns,
  from: [...new Set([...after.from, ...before.from])],
  biases: [...new Set([...after.biases, ...before.biases])],
  weight: (read) => times(after.weight(read), before.weight(read), before.rows),
  bias(read) {
    const own = after.bias(read);
    return times(after.weight(read), before.bias(read), before.rows).map((value, row) => value + own[row]!);
  },
});

/** Reads tensors of F32, F64, F16 and BF16 as floats. */
export function readNumbers(data: Uint8Array): Read {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const at: Readonly<Record<string, readonly [bytes: number, number: (offset: number) => number]>> = {
    F32: [4, (offset) => view.getFloat32(offset, true)],
    F64: [8, (offset) => view.getFloat64(offset, true)],
    F16: [2, (offset) => half(view.getUint16(offset, true))],
    BF16: [2, (offset) => (widen.setUint32(0, view.getUint16(offset, true) << 16), widen.getFloat32(0))],
  };
  return (tensor) => {
    const [bytes, number] = at[tensor.dtype]!;
    const { begin } = tensor as Tensor & { readonly begin: number };
    return Float32Array.from({ length: tensor.count }, (_, index) => number(begin + index * bytes));
  };
}

const widen = new DataView(new ArrayBuffer(4));

function half(bits: number): number {
  const sign = bits >> 15 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}
