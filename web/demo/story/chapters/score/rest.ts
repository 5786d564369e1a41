/** Keeps what the pointer rested on when it leaves a figure. */
const REST = 250; // milliseconds; a pointer on its way out crosses cells faster

export class Rest {
  #rested?: number;
  #now?: number;
  #since = 0;

  /** The pointer or a key came to an item. */
  at(item: number): void {
    const time = performance.now();
    if (time - this.#since > REST) this.#rested = this.#now;
    [this.#now, this.#since] = [item, time];
  }

  /** The item to go back to when the pointer has left; undefined if it rested on its last one. */
  left(): number | undefined {
    return performance.now() - this.#since > REST ? undefined : this.#rested;
  }
}
