/** Attention maps of which only the values that are read are copied. */

/** One image's maps: (layers wanted, heads, tokens, tokens). */
export interface Maps {
  /** Copies the values from `first` to `first + count - 1`. */
  read(first: number, count: number): Float32Array;
}

/** Maps that have been copied already. */
export function inMemory(values: Float32Array): Maps {
  return { read: (first, count) => values.slice(first, first + count) };
}

/** The run that wrote one image's maps. */
export interface MapRun {
  /** Copies from the maps of the run; undefined if another run has overwritten them. */
  copy(first: number, count: number): Float32Array | undefined;
  /** Runs the image again and copies all of its maps. */
  recompute(): Float32Array;
}

/** One image's maps on the heap. If another run has overwritten them, the image is run again. */
export class HeapMaps implements Maps {
  #run: MapRun | undefined;
  #recomputed: Maps | undefined;

  constructor(run: MapRun) {
    this.#run = run;
  }

  read(first: number, count: number): Float32Array {
    if (this.#run) {
      const values = this.#run.copy(first, count);
      if (values) return values;
      this.#recomputed = inMemory(this.#run.recompute());
      this.#run = undefined; // so that the session can be freed
    }
    return this.#recomputed!.read(first, count);
  }
}
