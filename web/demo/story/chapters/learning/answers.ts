/** What every snapshot reads in the visitor's drawing. */
import { snapshot } from "../../../explain/models.ts";
import { Follower } from "../../follow.ts";
import type { Scene, Story } from "../../scene.ts";
import { largest } from "../../vectors.ts";

/** The answers to one drawing (K, snapshots): each class's probability at each stop. Until it is read, a stop has zeros. */
export class Answers {
  readonly p: Float32Array;
  /** Whether all snapshots have read the drawing. */
  whole = false;
  readonly #follower = new Follower();
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

  /** Follows the drawing. Returns whether all have read it. */
  follow(scene: Scene, changed: () => void): Promise<boolean> {
    return this.#follower.follow(scene.version, async (next) => {
      this.whole = false;
      this.p.fill(0);
      for (let at = 0; at < this.#count; at++) {
        const result = await this.#story.classify(scene, {}, await snapshot(at));
        if (!result || !(await next())) return false;
        for (const { index, p } of result.classes) this.row(index)[at] = p;
      }
      return (this.whole = true);
    }, changed);
  }
}
