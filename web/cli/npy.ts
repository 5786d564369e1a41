/** NumPy's file format, version 1.0: a header of text, then the values as they are in memory. */

const MAGIC = "\x93NUMPY\x01\x00";
const LENGTH_BYTES = 2;
const ALIGNMENT = 64;

/** The header of little-endian float32 values of this shape, row-major. */
export function npyHeader(shape: readonly number[]): Uint8Array {
  const sides = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const words = `{'descr': '<f4', 'fortran_order': False, 'shape': (${sides}), }`;
  const before = MAGIC.length + LENGTH_BYTES;
  const whole = Math.ceil((before + words.length + 1) / ALIGNMENT) * ALIGNMENT;
  const header = Buffer.alloc(whole, " ");
  header.write(MAGIC, 0, "latin1");
  header.writeUInt16LE(whole - before, MAGIC.length);
  header.write(words, before, "latin1");
  header.write("\n", whole - 1, "latin1");
  return header;
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
