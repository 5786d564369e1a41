/** What every snapshot reads in the visitor's drawing. */
import { snapshot } from "../../../explain/models.ts";
import type { Scene, Story } from "../../scene.ts";
import { slices } from "../../slices.ts";

/**
 * The answers to one drawing (K, snapshots): each class's probability at each stop. They are read in
 * slices; until then they are 0.
 */
export class Answers {
  readonly p: Float32Array;
  read = 0;
  #version = -1;
  readonly #story: Story;
  readonly #count: number;

  constructor(story: Story, classes: number, count: number) {
    this.#story = story;
    this.#count = count;
    this.p = new Float32Array(classes * count);
  }

  /** The class that the last snapshot reads, once all have read. */
  get final(): number | undefined {
    return this.read === this.#count ? this.#bestOf(this.#count - 1) : undefined;
  }

  /** The first stop from which on all read the final class. */
  get settled(): number | undefined {
    if (this.final === undefined) return undefined;
    let at = this.#count - 1;
    while (at > 0 && this.#bestOf(at - 1) === this.final) at--;
    return at;
  }

  /** A class's probability at every stop. */
  row = (index: number): Float32Array => this.p.subarray(index * this.#count, (index + 1) * this.#count);

  /** Follows the drawing. `changed` is called from time to time, and at the end. */
  async follow(scene: Scene, changed: () => void): Promise<void> {
    if (scene.version === this.#version) return;
    this.#version = scene.version;
    const pause = slices();
    let drawn = performance.now();
    this.read = 0;
    for (let at = 0; at < this.#count; at++) {
      const vit = await snapshot(at);
      const result = await this.#story.classify(scene, {}, vit);
      if (this.#version !== scene.version || !result) return;
      for (const { index, p } of result.classes) this.p[index * this.#count + at] = p;
      this.read++;
      await pause();
      if (this.#version !== scene.version) return;
      if (performance.now() - drawn < 100) continue; // because drawing takes longer than reading
      changed();
      drawn = performance.now();
    }
    changed();
  }

  #bestOf(at: number): number {
    let best = 0;
    const classes = this.p.length / this.#count;
    for (let index = 1; index < classes; index++) {
      if (this.p[index * this.#count + at]! > this.p[best * this.#count + at]!) best = index;
    }
    return best;
  }
}
