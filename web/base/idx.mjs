/** IDX files, the format of MNIST: two zero bytes, 8 for bytes, the rank, big-endian sizes, bytes.
 *  Plain JavaScript without Node, because scripts and the page read them, too. */

export const headerBytes = (rank) => 4 + 4 * rank;

export const bytesIn = (shape) => shape.reduce((product, side) => product * side, 1);

/** The sizes of a file that begins with `start`. `path` names it in errors. */
export function shapeOf(path, start, rank) {
  const header = headerBytes(rank);
  if (start.length < header) throw new Error(`${path}: expected an IDX header of ${header} bytes, got ${start.length} bytes`);
  const expected = [0, 0, 8, rank];
  if (expected.some((byte, i) => start[i] !== byte)) {
    const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
    throw new Error(`${path}: expected IDX bytes of rank ${rank} (${hex(expected)}), got a file that starts with ${hex(start.subarray(0, 4))}`);
  }
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const shape = Array.from({ length: rank }, (_, i) => view.getUint32(4 + 4 * i));
  if (!shape.includes(0)) return shape;
  throw new Error(`${path}: expected sizes from 1, got ${shape.join("x")}`);
}

export function checkCount(path, got, count) {
  if (got === count) return;
  const why = got < count ? "; the file is cut short or damaged" : "";
  throw new Error(`${path}: expected ${count} bytes after the header, as it announces, got ${got < count ? got : "more"}${why}`);
}

/** A whole file's sizes, and a view of the bytes after its header. */
export function idxIn(path, file, rank) {
  const shape = shapeOf(path, file, rank), bytes = file.subarray(headerBytes(rank));
  checkCount(path, bytes.length, bytesIn(shape));
  return { shape, bytes };
}

export function checkPairs(path, images, labels) {
  if (images !== labels) throw new Error(`${path}: expected an image for each of ${labels} labels, got ${images} images`);
}

export const mostIn = (labels) => labels.reduce((most, label) => Math.max(most, label), 0);

/** The number of classes. Each from 0 on must have a label. */
export function classesIn(path, labels) {
  const classes = mostIn(labels) + 1;
  const known = new Set(labels);
  for (let label = 0; label < classes; label++) {
    if (!known.has(label)) throw new Error(`${path}: expected labels from 0 to ${classes - 1}, got none of ${label}`);
  }
  return classes;
}
