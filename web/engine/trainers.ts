/** The modules that train, and the script of their threads. */
import type { Kind } from "./choose.js";
import { WorkerAddress } from "./thread.js";

export const TRAINERS: Kind = {
  here: {
    relaxed: () => new URL("./vit.train.relaxed.wasm", import.meta.url),
    simd128: () => new URL("./vit.train.simd128.wasm", import.meta.url),
    scalar: () => new URL("./vit.train.scalar.wasm", import.meta.url),
    "relaxed-threads": () => new URL("./vit.train.relaxed-threads.wasm", import.meta.url),
    "simd128-threads": () => new URL("./vit.train.simd128-threads.wasm", import.meta.url),
  },
  script: {
    /** Bundlers look for exactly this expression, as in models.ts. */
    browser: () => {
      const of = (Worker: typeof WorkerAddress) => new Worker(new URL("./train-worker.js", import.meta.url), { type: "module" });
      return of(WorkerAddress).url;
    },
    node: () => {
      const here = import.meta.url; // apart from new URL, or bundlers think that this is a browser's worker
      return new URL("./train-worker.js", here);
    },
  },
};
