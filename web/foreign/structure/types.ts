/** Reads the numbers of all types that a file of weights may have. */
import type { Read } from "./numbers.js";

/** Reads tensors of F32, F64, F16 and BF16 as floats. */
export function readNumbers(data: Uint8Array): Read {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const number: Readonly<Record<string, (offset: number) => number>> = {
    F32: (offset) => view.getFloat32(offset, true),
    F64: (offset) => view.getFloat64(offset, true),
    BF16: (offset) => floatOf(view.getUint16(offset, true) << 16),
    F16(offset) {
      // As a float the bits stand for 2^-112 of their number. All of the exponent's bits are infinity or NaN.
      const bits = view.getInt16(offset, true), value = floatOf((bits & 0x8000_0000) | ((bits & 0x7fff) << 13)) * 2 ** 112;
      return Math.abs(value) < 2 ** 16 ? value : NaN;
    },
  };
  return ({ dtype, count, begin, end }) => Float32Array.from({ length: count }, (_, index) => number[dtype]!(begin + (index * (end - begin)) / count));
}

const four = new DataView(new ArrayBuffer(4));

const floatOf = (bits: number) => (four.setInt32(0, bits), four.getFloat32(0));
