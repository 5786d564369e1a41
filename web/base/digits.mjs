/**
 * MNIST's images in one small file. First the labels, a byte each: those to train on, then those to
 * test. Then the images in the same order, 4 bits a pixel; of two pixels the first is the low half.
 */
export const COUNTS = { train: 10_000, test: 1_000 };
export const PIXELS = 28 * 28;
const LEVELS = 15;
const ALL = COUNTS.train + COUNTS.test;

/** `train` and `test` are { images: (count, 28, 28) bytes, labels: (count) }. */
export function packDigits({ train, test }) {
  const bytes = new Uint8Array(ALL * (1 + PIXELS / 2));
  bytes.set(train.labels);
  bytes.set(test.labels, COUNTS.train);
  const level = (at) => {
    const value = at < train.images.length ? train.images[at] : test.images[at - train.images.length];
    return Math.round((value * LEVELS) / 255);
  };
  for (let at = 0; at < ALL * PIXELS; at += 2) bytes[ALL + at / 2] = level(at) | (level(at + 1) << 4);
  return bytes;
}

/** The reverse. An image holds numbers from 0 to 1, as a model of 28×28 pixels takes them. */
export function unpackDigits(bytes) {
  if (bytes.length !== ALL * (1 + PIXELS / 2)) throw new Error(`expected MNIST's ${ALL} images, got ${bytes.length} bytes`);
  const part = (first, count) => ({
    labels: bytes.subarray(first, first + count),
    image(index) {
      const values = new Float32Array(PIXELS), from = ALL + ((first + index) * PIXELS) / 2;
      for (let at = 0; at < PIXELS; at += 2) {
        const two = bytes[from + at / 2];
        values[at] = (two & LEVELS) / LEVELS;
        values[at + 1] = (two >> 4) / LEVELS;
      }
      return values;
    },
  });
  return { train: part(0, COUNTS.train), test: part(COUNTS.train, COUNTS.test) };
}
