/** Reads a drawing at many moments, in slices, and keeps what it has read while the drawing grows. */
import type { Classification } from "vitrine";
import type { Scene, Story } from "../../scene.ts";
import { slices } from "../../slices.ts";
import { cut, goesOn, moments, type Way, wayOf } from "./path.ts";

export interface Sample {
  at: number; // the way of the pen, in pad units
  label: string; // of the most probable class; "" where there is nothing to read
  p: Float64Array; // (K), in the model's order
  uncertain: boolean;
}

export class Sweep {
  way: Way = { spots: [], length: 0 };
  lengths: number[] = [];
  readonly #read = new Map<number, Sample>();
  readonly #story: Story;
  #scene?: Scene;

  constructor(story: Story) {
    this.#story = story;
  }

  /** What is read so far, in the order of time. */
  get samples(): Sample[] {
    return this.lengths.map((at) => this.#read.get(at)).filter((sample) => sample !== undefined);
  }

  /** Follows a scene. `changed` is called after each slice. */
  follow(scene: Scene, changed: () => void): void {
    const before = this.#scene;
    this.#scene = scene;
    if (before?.model === scene.model && before.version === scene.version) return;
    const way = wayOf(scene.strokes);
    if (before?.model !== scene.model || !goesOn(way, this.way)) this.#read.clear();
    this.#read.delete(this.way.length); // the whole drawing of then is a moment of no even step
    this.way = way;
    this.lengths = moments(way.length);
    // A photo has a result of its own, and the strokes are an example.
    if (!scene.photo) this.#read.set(way.length, sampleOf(way.length, scene, scene.result));
    void this.#sweep(scene, changed);
  }

  async #sweep(scene: Scene, changed: () => void): Promise<void> {
    const missing = coarseFirst(this.lengths).filter((at) => !this.#read.has(at));
    const { way } = this;
    const current = () => this.#scene?.version === scene.version && this.#scene.model === scene.model;
    const pause = slices(changed);
    for (const at of missing) {
      const result = await this.#story.classify({ ...scene, photo: undefined, strokes: cut(way, at), unfinished: at < way.length });
      if (!current()) return;
      this.#read.set(at, sampleOf(at, scene, result));
      await pause();
      if (!current()) return;
    }
    if (missing.length > 0) changed();
  }
}

function sampleOf(at: number, { config }: Scene, result?: Classification): Sample {
  const p = new Float64Array(config.classes);
  for (const { index, p: share } of result?.classes ?? []) p[index] = share;
  return { at, label: result?.classes[0]?.label ?? "", p, uncertain: result?.uncertain ?? true };
}

/** Every 16th first, then every 8th, … so that the whole is seen early and grows finer. */
function coarseFirst(lengths: readonly number[]): number[] {
  const rank = (i: number) => (i % 16 === 0 ? 0 : i % 8 === 0 ? 1 : i % 4 === 0 ? 2 : i % 2 === 0 ? 3 : 4);
  return lengths.map((at, i) => [rank(i), at] as const).sort(([a], [b]) => a - b).map(([, at]) => at);
}
