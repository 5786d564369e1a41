// Patches of an image in another order. The page and weights/tools/scramble.mjs both use it.

/** A random order of `count` things, by Fisher and Yates. random() gives numbers from 0 to below 1. */
export function shuffled(count, random) {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/**
 * The image (C,H,W) with its patches in another order: place i of the grid gets patch order[i]. Places
 * and patches count from 0, row by row. Pixels that belong to no whole patch stay.
 */
export function permuted(image, order, { rows, cols, patchRows, patchCols, gridCols }) {
  const out = image.slice();
  const startOf = (patch) => Math.floor(patch / gridCols) * patchRows * cols + (patch % gridCols) * patchCols;
  for (let channel = 0; channel < image.length; channel += rows * cols) {
    order.forEach((patch, place) => {
      const [from, to] = [channel + startOf(patch), channel + startOf(place)];
      for (let row = 0; row < patchRows * cols; row += cols) {
        out.set(image.subarray(from + row, from + row + patchCols), to + row);
      }
    });
  }
  return out;
}

/** Random numbers from 0 to below 1 that a seed determines: Marsaglia's xorshift with 32 bits. */
export function seeded(seed) {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
