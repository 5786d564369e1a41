/** Tries relaxed SIMD with src/wasm/probe.c: are its values right, and is it faster than SIMD? */

import { reason, VitError } from "../errors.js";

/** The probe's module in hexadecimal, which gzip makes shorter than base64. The build inserts it. */
declare const PROBE_WASM: string;

/** The measurement takes at most 5 ms: slices of time to warm up, then pairs of slices. */
const WARM_MS = 1.2;
const SLICE_MS = 0.5;
const PAIRS_MS = 2;

/** The fused tile may be a tenth slower, because norms, softmax and activations gain more. */
const TOLERATED_LAG = 1.1;

/** How often one call repeats a tile. */
const TIMES = 8;

interface Exports {
  check(): 0 | 1 | 2;
  tile(fused: boolean, times: number): void;
  tile_int8(inPairs: boolean, times: number): void;
}

export class Probe {
  readonly #exports: Exports;
  /** The shortest time that the clock can measure. Browsers make it coarse. */
  #tick = Infinity;
  /** Whether multiply-add rounds once, as one instruction does. Otherwise it is no faster. */
  readonly fused: boolean;
  /** Whether all values were right so far. The engine's optimised code may change that later. */
  right: boolean;

  /** Undefined if the engine does not know relaxed SIMD. */
  static open(): Probe | undefined {
    const bytes = Uint8Array.from(PROBE_WASM.match(/../g)!, (byte) => parseInt(byte, 16));
    const exports = tinyModule<Exports>(bytes);
    return exports && new Probe(exports);
  }

  private constructor(exports: Exports) {
    const result = exports.check();
    this.#exports = exports;
    this.right = result > 0;
    this.fused = result === 2;
  }

  /** Makes an engine that compiles in steps start its optimising compiler. Runs only once. */
  warm(): void {
    if (this.#tick < Infinity) return;
    const all = [...this.#tiles(), ...this.#dots(), this.#exports.check];
    this.#rate(WARM_MS, () => all.forEach((work) => work()));
  }

  /**
   * Whether the best rate of the fused tile reaches the best rate of the plain one. The answer is
   * yes if the clock is too coarse, because it was so in every engine on x86.
   */
  faster(): boolean {
    if (!this.#isFineClock()) return true;
    const [fused, plain] = this.#tiles();
    const tolerance = TOLERATED_LAG + this.#tick / SLICE_MS;
    let best = 0;
    let others = 0;
    const end = performance.now() + PAIRS_MS;
    do {
      others = Math.max(others, this.#rate(SLICE_MS, plain));
      best = Math.max(best, this.#rate(SLICE_MS, fused));
    } while (best * tolerance < others && performance.now() < end);
    return best * tolerance >= others;
  }

  /**
   * Whether the int8 dot is faster in two steps than in one. Most of several trials decide, because
   * the engine may change to optimised code during a trial.
   */
  inPairs(): boolean {
    if (!this.#isFineClock()) return false;
    const [two, one] = this.#dots();
    let wins = 0;
    const end = performance.now() + PAIRS_MS;
    do {
      const rate = this.#rate(SLICE_MS / 2, one);
      wins += Math.sign(this.#rate(SLICE_MS / 2, two) - rate);
    } while (performance.now() < end);
    return wins > 0;
  }

  /** Calls the tile of the relaxed kernels, and the tile of the plain ones. */
  #tiles(): [fused: () => void, plain: () => void] {
    const { tile } = this.#exports;
    return [() => tile(true, TIMES), () => tile(false, TIMES)];
  }

  /** Calls the relaxed kernels' int8 tile in two steps, and in one. */
  #dots(): [two: () => void, one: () => void] {
    const { tile_int8 } = this.#exports;
    return [() => tile_int8(true, TIMES), () => tile_int8(false, TIMES)];
  }

  /** Whether the clock is fine enough for a slice. Also checks the values again. */
  #isFineClock(): boolean {
    this.warm();
    this.right &&= this.#exports.check() > 0;
    return this.#tick <= SLICE_MS;
  }

  /** Repeats `work` for a slice of time and returns the calls per millisecond. */
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

/** Compiles a small module at once; undefined if the engine does not know its instructions. */
export function tinyModule<Exports>(bytes: Uint8Array<ArrayBuffer>): Exports | undefined {
  if (!WebAssembly.validate(bytes)) return undefined;
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as unknown as Exports;
  } catch (cause) {
    throw new VitError(
      "no_wasm",
      `WebAssembly may not be compiled here (${reason(cause)}); a page's Content-Security-Policy needs ` +
        "'wasm-unsafe-eval' in script-src; where no bytes may be compiled, as on Cloudflare Workers, " +
        "give a compiled module as the option wasm",
      { cause },
    );
  }
}
