/** Matrices that are made of a file's tensors, read only when they are written. */
import type { Tensor } from "../family.js";

export type Read = (tensor: Tensor) => Float32Array;

export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly from: readonly Tensor[];
  weight(read: Read): Float32Array;
  readonly bias: ((read: Read) => Float32Array) | undefined;
}

export const zeros = (count: number) => () => new Float32Array(count);

const biasOf = ({ bias, rows }: Matrix, read: Read) => bias?.(read) ?? new Float32Array(rows);

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The rows of some matrices, one after the other. */
export const stacked = (all: readonly Matrix[]): Matrix => ({
  rows: all.reduce((sum, { rows }) => sum + rows, 0),
  columns: all[0]!.columns,
  from: all.flatMap(({ from }) => from),
  weight: (read) => joined(all.map((one) => one.weight(read))),
  bias: all.some(({ bias }) => bias) ? (read) => joined(all.map((one) => biasOf(one, read))) : undefined,
});

export const rowsOf = (matrix: Matrix, first: number, rows: number): Matrix => ({
  rows,
  columns: matrix.columns,
  from: matrix.from,
  weight: (read) => matrix.weight(read).subarray(first * matrix.columns, (first + rows) * matrix.columns),
  bias: matrix.bias && ((read) => matrix.bias!(read).subarray(first, first + rows)),
});

/** A head that reads only its own slice of the token, as one that reads the whole token. */
export const spread = (matrix: Matrix, at: number, heads: number, width: number): Matrix => matrix.columns === width || matrix.columns * heads !== width ? matrix : {
  ...matrix,
  columns: width,
  weight(read) {
    const values = matrix.weight(read);
    const out = new Float32Array(matrix.rows * width);
    for (let row = 0; row < matrix.rows; row++) {
      out.set(values.subarray(row * matrix.columns, (row + 1) * matrix.columns), row * width + at * matrix.columns);
    }
    return out;
  },
};

/** The layer that does what `before` and then `after` do. Sums are in double precision. */
export const product = (after: Matrix, before: Matrix): Matrix => ({
  rows: after.rows,
  columns: before.columns,
  from: [...new Set([...after.from, ...before.from])],
  weight(read) {
    const [a, b] = [after.weight(read), before.weight(read)];
    const out = new Float32Array(after.rows * before.columns);
    const row = new Float64Array(before.columns);
    for (let i = 0; i < after.rows; i++) {
      row.fill(0);
      for (let k = 0; k < after.columns; k++) {
        const factor = a[i * after.columns + k]!;
        for (let j = 0; j < row.length; j++) row[j]! += factor * b[k * row.length + j]!;
      }
      out.set(row, i * row.length);
    }
    return out;
  },
  bias: after.bias || before.bias ? (read) => {
    const [a, bias, own] = [after.weight(read), biasOf(before, read), biasOf(after, read)];
    return own.map((value, i) => bias.reduce((sum, each, k) => sum + a[i * after.columns + k]! * each, value));
  } : undefined,
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
  const kept = new Map<Tensor, Float32Array>();
  return (tensor) => {
    const known = kept.get(tensor);
    if (known) return known.slice();
    const [bytes, number] = at[tensor.dtype]!;
    const { begin } = tensor as Tensor & { readonly begin: number };
    const values = Float32Array.from({ length: tensor.count }, (_, index) => number(begin + index * bytes));
    kept.set(tensor, values);
    return values.slice();
  };
}

const widen = new DataView(new ArrayBuffer(4));

function half(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}
