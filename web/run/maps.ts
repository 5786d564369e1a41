/** Attention maps that are copied when, and as far as, they are read. */

/** Where maps are read from: (kept layers, heads, tokens, tokens). */
export interface Maps {
  /** A copy of the values `first` to `first + count - 1`. */
  read(first: number, count: number): Float32Array;
}

/** Maps that are there already. */
export function inMemory(values: Float32Array): Maps {
  return { read: (first, count) => values.slice(first, first + count) };
}

/** The run that one image's maps come from. */
export interface Origin {
  /** Reads what the run left; undefined once another run has overwritten it. */
  left(first: number, count: number): Float32Array | undefined;
  /** Runs the image again: all of its maps. */
  again(): Float32Array;
}

/** One image's maps, left where the run wrote them; made again once another run overwrote them. */
export class HeapMaps implements Maps {
  #origin: Origin | undefined;
  #again: Maps | undefined;

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  read(first: number, count: number): Float32Array {
    if (this.#origin) {
      const left = this.#origin.left(first, count);
      if (left) return left;
      this.#again = inMemory(this.#origin.again());
      this.#origin = undefined; // and with it the session
    }
    return this.#again!.read(first, count);
  }
}
