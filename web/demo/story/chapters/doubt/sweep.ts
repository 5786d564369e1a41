/** Reads a drawing at many moments, in slices, and keeps what it has read while the drawing grows. */
import type { Classification } from "vitrine";
import { shares } from "../../../logits.ts";
import { cut, type Way, wayOf } from "../../../way.ts";
import { follower } from "../../work.ts";
import type { Scene, Story } from "../../scene.ts";

/** Where the second and later strokes begin, along the way. */
export const beginsOf = ({ spots }: Way): number[] =>
  spots.filter(({ stroke }, i) => i > 0 && stroke !== spots[i - 1]!.stroke).map(({ at }) => at);

/** Whether the pen has gone on from where it was, so that what was known of `before` still holds. */
const goesOn = (now: Way, before: Way): boolean =>
  before.spots.every(({ x, y, width, stroke }, i) => {
    const spot = now.spots[i];
    return spot?.x === x && spot.y === y && spot.width === width && spot.stroke === stroke;
  });

const FIRST_STEP = 4; // pad units
const MOST = 80;

/**
 * The lengths at which a drawing is read: 40 to 80 in even steps, fewer for a very short one, and
 * the whole. Steps only double, so that a drawing that grows keeps what was read of it.
 */
function moments(length: number): number[] {
  let step = FIRST_STEP;
  while (length / step > MOST) step *= 2;
  return [...Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step), length];
}

/** The answers in turn: where each began. */
export function runsOf<Sample extends { label: string }>(samples: readonly Sample[]): Sample[] {
  return samples.filter(({ label }, i) => label !== samples[i - 1]?.label);
}

export interface Sample {
  at: number; // the way of the pen, in pad units
  label: string; // of the most probable class; "" where there is nothing to read
  p: Float64Array; // (K), in the model's order
  uncertain: boolean;
}

export function buildSweep(story: Story) {
  const read = new Map<number, Sample>(), followWork = follower();
  let last: Scene | undefined, turn = 0; // of a drawing and a model
  const made = {
    way: { spots: [], length: 0 } as Way,
    lengths: [] as number[],
    /** What is read so far, in the order of time. */
    get samples() {
      return made.lengths.map((at) => read.get(at)).filter((sample) => sample !== undefined);
    },
    /** Follows a scene. `changed` is called from time to time, and at the end. */
    follow(scene: Scene, changed: () => void): void {
      if (last?.result === scene.result) return;
      const isOther = last?.model !== scene.model;
      last = scene;
      const now = wayOf(scene.strokes), { way } = made;
      if (isOther || !goesOn(now, way)) read.clear();
      read.delete(way.length); // the whole drawing of then is a moment of no even step
      Object.assign(made, { way: now, lengths: moments(now.length) });
      // A photo has a result of its own, and the strokes are an example.
      if (!scene.photo) read.set(now.length, sampleOf(now.length, scene, scene.result));
      void followWork(++turn, async (next) => {
        for (const at of coarseFirst(made.lengths).filter((at) => !read.has(at))) {
          const result = await story.classify({ ...scene, photo: undefined, strokes: cut(now, at), unfinished: at < now.length });
          if (!(await next())) return false;
          read.set(at, sampleOf(at, scene, result));
        }
        return true;
      }, changed);
    },
  };
  return made;
}

function sampleOf(at: number, scene: Scene, result?: Classification): Sample {
  const classes = result?.classes ?? [];
  return { at, label: classes[0]?.label ?? "", p: shares(classes, scene.config.classes), uncertain: result?.uncertain ?? true };
}

/** Every 16th first, then every 8th, … so that the whole is seen early and grows finer. */
function coarseFirst(lengths: readonly number[]): number[] {
  const rank = (i: number) => (i % 16 === 0 ? 0 : i % 8 === 0 ? 1 : i % 4 === 0 ? 2 : i % 2 === 0 ? 3 : 4);
  return lengths.map((at, i) => [rank(i), at] as const).sort(([a], [b]) => a - b).map(([, at]) => at);
}
