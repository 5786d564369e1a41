/** Bundles beside vit.js, which are loaded only when a model needs them. */
import { kindOf, reason, VitError, type VitErrorCode } from "../errors.js";
import type { Refusal } from "../foreign/refusal.js";
import { type Bundles, provided } from "./provided.js";

/** A service worker and a worklet may import only when their script starts. */
const advice = () => /^ServiceWorker|Worklet/.test(kindOf(globalThis))
  ? `nothing can load later here: write import "vitrine/all" (dist/all.js) at the top of this script`
  : "try again";

/** @internal */
export const missing = (name: string) => (cause: unknown) => {
  const what = `expected ${name} beside this module: ${reason(cause)}; ${advice()}`;
  throw new VitError("network", what, { cause });
};

const BUNDLES = {
  /** Reads PyTorch's files. */
  pickle: () => import("../foreign/pickle/pickle.js"),
  /** Reads the configs and tensors' names of other libraries. */
  foreign: () => import("../foreign/foreign.js"),
  /** Reads models whose tensors no library names. */
  structure: () => import("../foreign/structure/structure.js"),
  /** Reads what is rare in such models. */
  rare: () => import("../foreign/structure/rare.js"),
  /** Reads a decoder in such a model. */
  decoder: () => import("../foreign/structure/decoder.js"),
  /** Reads the decoders of libraries. */
  decoders: () => import("../foreign/decoders.js"),
  /** Reads the settings that a training script saved beside the weights. */
  settings: () => import("../foreign/settings.js"),
  /** Settles what a file leaves open by examples. */
  examples: () => import("../foreign/examples.js"),
};

export const bundle = async <Name extends keyof typeof BUNDLES>(name: Name): Promise<Bundles[Name]> =>
  provided.all?.[name] ?? (BUNDLES[name]() as Promise<Bundles[Name]>).catch(missing(`${name}.js`));

/** Recognises files of other kinds. Without this bundle they are refused with a poorer message. */
export const impostorsBundle = async () =>
  provided.all?.impostors ?? import("./impostors.js").catch(() => undefined);

export const isRefusal = (cause: unknown): cause is Refusal => cause instanceof Error && cause.name === "Refusal";

/** @param code the code for a refusal without its own. All other errors become `internal`. */
export const asVitError = (cause: unknown, code: VitErrorCode): VitError =>
  cause instanceof VitError
    ? cause
    : new VitError(isRefusal(cause) ? cause.code ?? code : "internal", reason(cause), { cause });
