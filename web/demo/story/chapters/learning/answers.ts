/** What every snapshot reads in the visitor's drawing. */
import { snapshot } from "../../../explain/models.ts";
import type { Scene, Story } from "../../scene.ts";
import { slices } from "../../slices.ts";
import { largest } from "../../vectors.ts";

/** The answers to one drawing (K, snapshots): each class's probability at each stop. Until it is read, a stop has zeros. */
export class Answers {
  readonly p: Float32Array;
  /** Whether all snapshots have read the drawing. */
  whole = false;
  #version = -1;
  #done = Promise.resolve(false);
  readonly #story: Story;
  readonly #classes: number;
  readonly #count: number;

  constructor(story: Story, classes: number, count: number) {
    this.#story = story;
    this.#classes = classes;
    this.#count = count;
    this.p = new Float32Array(classes * count);
  }

  /** A class's probability at every stop. */
  row = (index: number): Float32Array => this.p.subarray(index * this.#count, (index + 1) * this.#count);

  /** The class that a stop reads. */
  at = (stop: number): number => largest(Array.from({ length: this.#classes }, (_, index) => this.row(index)[stop]!));

  /** The first stop from which on all read the same. */
  get settled(): number {
    let stop = this.#count - 1;
    const final = this.at(stop);
    while (stop > 0 && this.at(stop - 1) === final) stop--;
    return stop;
  }

  /**
   * Follows the drawing. `changed` is called from time to time, and at the end.
   * @returns whether all have read it; another drawing ends it before.
   */
  follow(scene: Scene, changed: () => void): Promise<boolean> {
    if (scene.version !== this.#version) {
      this.#version = scene.version;
      this.#done = this.#readAll(scene, changed);
    }
    return this.#done;
  }

  async #readAll(scene: Scene, changed: () => void): Promise<boolean> {
    const pause = slices();
    let drawn = performance.now();
    this.whole = false;
    this.p.fill(0);
    for (let at = 0; at < this.#count; at++) {
      const result = await this.#story.classify(scene, {}, await snapshot(at));
      if (this.#version !== scene.version || !result) return false;
      for (const { index, p } of result.classes) this.row(index)[at] = p;
      await pause();
      if (this.#version !== scene.version) return false;
      if (performance.now() - drawn < 100) continue; // because drawing takes longer than reading
      changed();
      drawn = performance.now();
    }
    this.whole = true;
    changed();
    return true;
  }
}
