/** Whether relaxed SIMD is right here, and faster than plain SIMD: src/probe.c, asked. */

import { reason, VitError } from "./errors.js";

/** Base64 of that module; the build puts it here. */
declare const PROBE_WASM: string;

/** The measurement takes at most 5 ms: slices to warm up, then pairs of slices. */
const WARM_MS = 0.4;
const SLICE_MS = 0.5;
const PAIRS_MS = 2;

/** A tile a tenth slower is made up for by what else is fused: norms, softmax, activations. */
const MAKES_UP = 1.1;

/** Calls of a tile at once. */
const TIMES = 8;

interface Exports {
  check(): 0 | 1 | 2;
  tile(fused: boolean, times: number): void;
  tile_int8(inPairs: boolean, times: number): void;
}

export class Probe {
  readonly #exports: Exports;
  /** The least time that the clock can tell: browsers make it coarse. */
  #tick = Infinity;
  /** Whether multiply-add rounds once, as one instruction does; else there is nothing to gain. */
  readonly fused: boolean;
  /** Whether all that was computed is right, which code optimised later may change. */
  right: boolean;

  /** Undefined where relaxed SIMD is unknown. */
  static open(): Probe | undefined {
    const bytes = Uint8Array.from(atob(PROBE_WASM), (letter) => letter.charCodeAt(0));
    const exports = tinyModule<Exports>(bytes);
    return exports && new Probe(exports);
  }

  private constructor(exports: Exports) {
    const result = exports.check();
    this.#exports = exports;
    this.right = result > 0;
    this.fused = result === 2;
  }

  /** Brings an engine that compiles in steps to begin its best, once; that takes it a while. */
  warm(): void {
    if (this.#tick < Infinity) return;
    const { check, tile } = this.#exports;
    this.#rate(WARM_MS, () => tile(false, TIMES));
    this.#rate(WARM_MS, () => tile(true, TIMES));
    this.#rate(WARM_MS, check);
  }

  /** Whether the fused tile keeps up with the plain one. */
  faster(): boolean {
    const { tile } = this.#exports;
    return this.#keepsUp(() => tile(true, TIMES), () => tile(false, TIMES), MAKES_UP);
  }

  /** Whether the int8 dot is faster in two steps than in one. */
  inPairs(): boolean {
    const { tile_int8 } = this.#exports;
    return this.#keepsUp(() => tile_int8(true, TIMES), () => tile_int8(false, TIMES), 1);
  }

  /**
   * Whether `work` takes at most `share` of the time of `other`, each at its best. Where the clock
   * is too coarse to tell it is taken to: so it was in every engine on x86 with a finer one.
   * Sees whether all is still right.
   */
  #keepsUp(work: () => void, other: () => void, share: number): boolean {
    this.right &&= this.#exports.check() > 0;
    if (this.#tick > SLICE_MS) return true;
    let best = 0;
    let others = 0;
    const end = performance.now() + PAIRS_MS;
    do {
      others = Math.max(others, this.#rate(SLICE_MS, other));
      best = Math.max(best, this.#rate(SLICE_MS, work));
    } while (best < others && performance.now() < end);
    return best * (share + this.#tick / SLICE_MS) >= others;
  }

  /** Calls a millisecond, of `work` done over and over for a slice of time. */
  #rate(slice: number, work: () => void): number {
    const start = performance.now();
    let calls = 0;
    let time = 0;
    while (time < slice) {
      work();
      calls++;
      const now = performance.now() - start;
      if (now > time) this.#tick = Math.min(this.#tick, now - time);
      time = now;
    }
    return calls / time;
  }
}

/** A module's exports, compiled on the spot; undefined where the engine does not know it. */
export function tinyModule<Exports>(bytes: Uint8Array<ArrayBuffer>): Exports | undefined {
  if (!WebAssembly.validate(bytes)) return undefined;
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as unknown as Exports;
  } catch (cause) {
    throw new VitError(
      "no_wasm",
      `this page may not compile WebAssembly (${reason(cause)}); ` +
        "its Content-Security-Policy needs 'wasm-unsafe-eval' in script-src",
      { cause },
    );
  }
}
