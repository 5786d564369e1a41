/** How alike the learned positions are. Needs no page. */

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
