/** An IDX file of bytes, as MNIST's: two zeros, 8 for bytes, the rank, big-endian sizes, the bytes. */
export function idx(sizes, bytes = new Uint8Array()) {
  const header = Buffer.alloc(4 + 4 * sizes.length);
  header.set([0, 0, 8, sizes.length]);
  sizes.forEach((size, i) => header.writeUInt32BE(size, 4 + 4 * i));
  return Buffer.concat([header, bytes]);
}
