/** The two networks, and who reaches whom in them: one square after another is changed, and every unit looked at. */
import type { Vit } from "vitrine";
import { shapeOf } from "../../../pixels.ts";
import { withPatch } from "../../tokens.ts";
import { follower } from "../../work.ts";

/** Convolutions alone, and a Transformer with 2-D sines as positions. */
export const NAMES = { convolutions: "convolutions", vit: "sincos2d" } as const;
export const ORDER = ["convolutions", "vit"] as const;
export type Name = keyof typeof NAMES;
export type Pair = Record<Name, Vit>;

const REST = 200; // milliseconds without a change of the drawing, because each change begins anew

export type Influence = ReturnType<typeof buildInfluence>;

export function buildInfluence(vit: Vit) {
  const { width } = vit.config, shape = shapeOf(vit.config), N = shape.gridRows * shape.gridCols, follow = follower();
  const made = {
    /** For the patches' embedding and for each block (N,N): row s, column u is how much unit u changes when square s is inverted. */
    stages: [] as Float32Array[],
    /** Rows that are there so far. */
    measured: 0,
    /** Follows the drawing, an image (H,W). Returns whether all squares were measured. */
    follow: (version: number, image: Float32Array, changed: () => void) => follow(version, async (next) => {
      made.measured = 0;
      await new Promise((rested) => setTimeout(rested, REST));
      const before = await unitsOf(vit, image);
      if (!(await next())) return false;
      made.stages = before.map(() => new Float32Array(N * N));
      for (let square = 0; square < N; square++) {
        const after = await unitsOf(vit, withPatch(image, square, shape, (pixel) => 1 - pixel));
        if (!(await next())) return false;
        after.forEach((units, stage) => made.stages[stage]!.set(changes(before[stage]!, units, width), square * N));
        made.measured++;
      }
      return true;
    }, changed),
  };
  return made;
}

/** The patches' tokens (N,D) at every stage. */
async function unitsOf(vit: Vit, image: Float32Array): Promise<Float32Array[]> {
  const { depth, prefix, width } = vit.config;
  const { trace } = await vit.classify(image, { trace: true });
  return Array.from({ length: depth + 1 }, (_, stage) => trace!.tokens(stage).subarray(prefix.length * width));
}

/** How far two runs (N,D) differ in each unit (N): the length of the difference by the length of the first. */
function changes(before: Float32Array, after: Float32Array, width: number): Float32Array {
  return Float32Array.from({ length: before.length / width }, (_, unit) => {
    let [apart, whole] = [0, 0];
    for (let i = unit * width; i < (unit + 1) * width; i++) {
      apart += (after[i]! - before[i]!) ** 2;
      whole += before[i]! ** 2;
    }
    return apart === 0 ? 0 : Math.sqrt(apart / whole);
  });
}
