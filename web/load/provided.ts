/** The bundles that all.ts imports, for code that may not import them when it needs them. */
export interface Bundles {
  readonly impostors: typeof import("./impostors.js");
  readonly pickle: typeof import("./pickle/pickle.js");
  readonly translate: typeof import("./translate/translate.js");
}

export const provided: { all?: Bundles } = {};
