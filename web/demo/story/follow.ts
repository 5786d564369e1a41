/** Long work on the drawing, in slices, which ends when another drawing is to be followed. */
import { slices } from "./slices.ts";

const STILL = 100; // milliseconds between two pictures of the work, because drawing them takes longer than the work

export class Follower {
  #version = -1;
  #done = Promise.resolve(false);

  /**
   * Does the work for a version of the drawing, once. The work awaits `next` after each piece: false if it shall end.
   * `changed` is called from time to time, and at the end.
   * @returns whether the work was done
   */
  follow(version: number, work: (next: () => Promise<boolean>) => Promise<boolean>, changed: () => void): Promise<boolean> {
    if (version === this.#version) return this.#done;
    this.#version = version;
    const pause = slices();
    let drawn = performance.now();
    const next = async () => {
      await pause();
      if (this.#version !== version) return false;
      if (performance.now() - drawn < STILL) return true;
      changed();
      drawn = performance.now();
      return true;
    };
    const all = async () => {
      const done = await work(next);
      if (done) changed();
      return done;
    };
    return (this.#done = all());
  }
}
