/** The modules that train, and the script of their threads. */
import type { ModuleKind } from "./files.js";
import { WorkerAddress } from "./thread.js";
import { TrainingSession } from "./training-session.js";

export const TRAINERS: ModuleKind<TrainingSession> = {
  prefix: "vit.train",
  worker: "train-worker.js",
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
  open: TrainingSession.open,
};
