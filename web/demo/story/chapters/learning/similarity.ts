/** How alike the learned positions are. Needs no page. */
import { cosines } from "../../vectors.ts";

/** The mean cosine of patches that share a side, and of all other pairs. */
export function nearAndFar(all: Float32Array, columns: number): { near: number; far: number } {
  const patches = Math.sqrt(all.length);
  const sum = { near: 0, far: 0 }, count = { near: 0, far: 0 };
  for (let a = 0; a < patches; a++) {
    for (let b = a + 1; b < patches; b++) {
      const down = Math.floor(b / columns) - Math.floor(a / columns), across = Math.abs((a % columns) - (b % columns));
      const which = down + across === 1 ? "near" : "far";
      sum[which] += all[a * patches + b]!;
      count[which]++;
    }
  }
  return { near: sum.near / count.near, far: sum.far / count.far };
}

interface Tensor {
  readonly shape: readonly number[];
  readonly data: ArrayLike<number>;
}

/** The cosine of each patch's position with each patch's (N,N), in `pos_embed`: (1,T,D), the prefix first. */
export function alike({ shape, data }: Tensor, patches: number): Float32Array {
  const width = shape.at(-1)!;
  return cosines(Float32Array.from(data).subarray(data.length - patches * width), width);
}

/**
 * One head's bias for each of the offsets, in a table (R, heads) of relative positions. The last one is
 * that of the patch furthest down and right; the table counts from there, and ends with the prefix.
 */
export const biasOf = ({ shape, data }: Tensor, head: number, offsets: number): Float32Array =>
  Float32Array.from({ length: offsets }, (_, at) => data[(offsets - 1 - at) * shape.at(-1)! + head]!);
