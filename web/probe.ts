/** Whether relaxed SIMD is right here, and faster than plain SIMD: src/probe.c, asked. */

import { reason, VitError } from "./errors.js";

/** Base64 of that module; the build puts it here. */
declare const PROBE_WASM: string;

/** The measurement takes at most 5 ms: three slices to warm up, pairs of slices till the end. */
const WARM_MS = 0.4;
const SLICE_MS = 0.5;
const PAIRS_MS = 2.5;

/** A tile a tenth slower is made up for by what else is fused: norms, softmax, activations. */
const MAKES_UP = 1.1;

interface Exports {
  check(): 0 | 1 | 2;
  tile(fused: boolean, times: number): void;
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

  /** Brings an engine that compiles in steps to begin its best; that takes it a while. */
  warm(): void {
    const { check, tile } = this.#exports;
    this.#rate(WARM_MS, () => tile(false, 8));
    this.#rate(WARM_MS, () => tile(true, 8));
    this.#rate(WARM_MS, check);
  }

  /**
   * Whether the fused tile keeps up with the plain one, each at its best. Where the clock is too
   * coarse to tell, it is taken to: so it was in every engine with a finer one.
   */
  faster(): boolean {
    const { check, tile } = this.#exports;
    if (this.#tick > SLICE_MS) return true;
    let plain = 0;
    let fused = 0;
    const end = performance.now() + PAIRS_MS;
    do {
      plain = Math.max(plain, this.#rate(SLICE_MS, () => tile(false, 8)));
      fused = Math.max(fused, this.#rate(SLICE_MS, () => tile(true, 8)));
    } while (fused < plain && performance.now() < end);
    this.right &&= check() > 0;
    return fused * (MAKES_UP + this.#tick / SLICE_MS) >= plain;
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
