import type { OpenFolder } from "./location.js";

/** The bundles that all.ts imports, for code that may not import them when it needs them. */
export interface Bundles {
  readonly folder: { openFolder: OpenFolder };
  readonly foreign: typeof import("../foreign/foreign.js");
  readonly decoders: typeof import("../foreign/decoders.js");
  readonly settings: typeof import("../foreign/settings.js");
  readonly examples: typeof import("../foreign/examples.js");
  readonly structure: typeof import("../foreign/structure/structure.js");
  readonly decoder: typeof import("../foreign/structure/decoder.js");
  readonly rare: typeof import("../foreign/structure/rare.js");
  readonly impostors: typeof import("./impostors.js");
  readonly pickle: typeof import("../foreign/pickle/pickle.js");
  /** text.ts, which lies above this room. */
  readonly text: unknown;
  readonly entities: typeof import("../text/entities.js");
}

export const provided: { all?: Bundles } = {};
