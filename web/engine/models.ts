/** The modules that run models, and the script of their threads. */
import type { ModuleKind } from "./files.js";
import { ModelSession } from "./model-session.js";
import { WorkerAddress } from "./thread.js";

export const MODELS: ModuleKind<ModelSession> = {
  prefix: "vit",
  worker: "worker.js",
  here: {
    relaxed: () => new URL("./vit.relaxed.wasm", import.meta.url),
    simd128: () => new URL("./vit.simd128.wasm", import.meta.url),
    scalar: () => new URL("./vit.scalar.wasm", import.meta.url),
    "relaxed-threads": () => new URL("./vit.relaxed-threads.wasm", import.meta.url),
    "simd128-threads": () => new URL("./vit.simd128-threads.wasm", import.meta.url),
    "full.relaxed": () => new URL("./vit.full.relaxed.wasm", import.meta.url),
    "full.simd128": () => new URL("./vit.full.simd128.wasm", import.meta.url),
    "full.relaxed-threads": () => new URL("./vit.full.relaxed-threads.wasm", import.meta.url),
    "full.simd128-threads": () => new URL("./vit.full.simd128-threads.wasm", import.meta.url),
  },
  script: {
    /** Bundlers look for exactly this expression, include the file and insert its final address. */
    browser: () => {
      const of = (Worker: typeof WorkerAddress) => new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
      return of(WorkerAddress).url;
    },
    node: () => {
      const here = import.meta.url; // apart from new URL, or bundlers think that this is a browser's worker
      return new URL("./worker.js", here);
    },
  },
  open: ModelSession.open,
};
