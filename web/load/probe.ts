/** Whether relaxed SIMD is right here, and faster than plain SIMD: src/wasm/probe.c, asked. */

import { reason, VitError } from "../errors.js";

/** Base64 of that module; the build puts it here. */
declare const PROBE_WASM: string;

/** The measurement takes at most 5 ms: slices to warm up, then pairs of slices. */
const WARM_MS = 1.2;
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
    const all = [...this.#tiles(), ...this.#dots(), this.#exports.check];
    this.#rate(WARM_MS, () => all.forEach((work) => work()));
  }

  /**
   * Whether the fused tile, at its best, keeps up with the plain one at its own. So it did in
   * every engine on x86, and is taken to where the clock can't tell.
   */
  faster(): boolean {
    if (!this.#tells()) return true;
    const [fused, plain] = this.#tiles();
    const makesUp = MAKES_UP + this.#tick / SLICE_MS;
    let best = 0;
    let others = 0;
    const end = performance.now() + PAIRS_MS;
    do {
      others = Math.max(others, this.#rate(SLICE_MS, plain));
      best = Math.max(best, this.#rate(SLICE_MS, fused));
    } while (best * makesUp < others && performance.now() < end);
    return best * makesUp >= others;
  }

  /**
   * Whether the int8 dot is faster in two steps than in one, in most of several trials: the
   * engine's next, better code may come in the midst of one.
   */
  inPairs(): boolean {
    if (!this.#tells()) return false;
    const [two, one] = this.#dots();
    let wins = 0;
    const end = performance.now() + PAIRS_MS;
    do {
      const rate = this.#rate(SLICE_MS / 2, one);
      wins += Math.sign(this.#rate(SLICE_MS / 2, two) - rate);
    } while (performance.now() < end);
    return wins > 0;
  }

  /** The tile of the relaxed kernels and that of the plain ones. */
  #tiles(): [fused: () => void, plain: () => void] {
    const { tile } = this.#exports;
    return [() => tile(true, TIMES), () => tile(false, TIMES)];
  }

  /** The relaxed kernels' int8 tile in two steps, and in one. */
  #dots(): [two: () => void, one: () => void] {
    const { tile_int8 } = this.#exports;
    return [() => tile_int8(true, TIMES), () => tile_int8(false, TIMES)];
  }

  /** Whether the clock is fine enough for a slice. Sees whether all is still right. */
  #tells(): boolean {
    this.warm();
    this.right &&= this.#exports.check() > 0;
    return this.#tick <= SLICE_MS;
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
