/** Attention maps of which only the values that are read are copied. */

/** One image's maps: (kept layers, heads, tokens, tokens). */
export interface Maps {
  /** Copies the values from `first` to `first + count - 1`. */
  read(first: number, count: number): Float32Array;
}

/** Maps that are already copied. */
export function inMemory(values: Float32Array): Maps {
  return { read: (first, count) => values.slice(first, first + count) };
}

/** The run that wrote one image's maps. */
export interface Origin {
  /** Copies from the maps of the run; undefined if another run has overwritten them. */
  left(first: number, count: number): Float32Array | undefined;
  /** Runs the image again and copies all of its maps. */
  again(): Float32Array;
}

/** One image's maps on the heap. If another run has overwritten them, the image is run again. */
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
      this.#origin = undefined; // so that the session can be freed
    }
    return this.#again!.read(first, count);
  }
}
