/** What every snapshot reads in the visitor's drawing. */
import { snapshot } from "../../../explain/models.ts";
import type { Scene, Story } from "../../scene.ts";
import { largest } from "../../vectors.ts";
import { follower } from "../../work.ts";

export type Answers = ReturnType<typeof buildAnswers>;

/** The answers to one drawing (K, snapshots): each class's probability at each stop. Until it is read, a stop has zeros. */
export function buildAnswers(story: Story, classes: number, count: number) {
  const p = new Float32Array(classes * count), follow = follower();
  let whole = false;
  /** A class's probability at every stop. */
  const row = (index: number) => p.subarray(index * count, (index + 1) * count);
  /** The class that a stop reads. */
  const at = (stop: number) => largest(Array.from({ length: classes }, (_, index) => row(index)[stop]!));
  return {
    p, row, at,
    /** Whether all snapshots have read the drawing. */
    get whole() {
      return whole;
    },
    /** The first stop from which on all read the same. */
    get settled() {
      let stop = count - 1;
      while (stop > 0 && at(stop - 1) === at(count - 1)) stop--;
      return stop;
    },
    /** Follows the drawing. Returns whether all have read it. */
    follow: (scene: Scene, changed: () => void) => follow(scene.version, async (next) => {
      whole = false;
      p.fill(0);
      for (let stop = 0; stop < count; stop++) {
        const result = await story.classify(scene, {}, await snapshot(stop));
        if (!result || !(await next())) return false;
        for (const { index, p } of result.classes) row(index)[stop] = p;
      }
      return (whole = true);
    }, changed),
  };
}
