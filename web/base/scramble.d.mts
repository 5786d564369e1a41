/** The sizes of an image, its patches and their grid. */
interface Sizes {
  rows: number;
  cols: number;
  patchRows: number;
  patchCols: number;
  gridCols: number;
}
export function shuffled(count: number, random: () => number): number[];
export function permuted(image: Float32Array, order: readonly number[], sizes: Sizes): Float32Array<ArrayBuffer>;
export function seeded(seed: number): () => number;
