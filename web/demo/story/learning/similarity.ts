/** How alike the learned positions are. Needs no page. */
import type { Trace } from "vitrine";

/** The positions (T,D) that the model added to its tokens, the prefix first. */
export function positionsOf(trace: Trace): Float32Array {
  const before = trace.tokens("embedded");
  return trace.tokens(0).map((value, i) => value - before[i]!);
}

/**
 * The cosines (N,N) between the patches' positions; 0 where a position is 0.
 *
 * @param positions (T,D), of which the first `prefix` belong to no patch.
 */
export function cosines(positions: Float32Array, tokens: number, prefix: number): Float32Array {
  const width = positions.length / tokens, patches = tokens - prefix;
  const row = (patch: number) => positions.subarray((prefix + patch) * width, (prefix + patch + 1) * width);
  return Float32Array.from({ length: patches * patches }, (_, i) => cosine(row(Math.floor(i / patches)), row(i % patches)));
}

/** The cosine between two lists of numbers; 0 where one is 0. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [both, left, right] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    both += a[i]! * b[i]!;
    left += a[i]! ** 2;
    right += b[i]! ** 2;
  }
  return left > 0 && right > 0 ? both / Math.sqrt(left * right) : 0;
}

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
