/** Bundles beside vit.js, which are loaded only when a model needs them. */
import { kindOf, reason, VitError, type VitErrorCode } from "../errors.js";
import type { Refusal } from "../foreign/refusal.js";
import { provided } from "./provided.js";

/** A service worker and a worklet may import only when their script starts. */
const advice = () => /^ServiceWorker|Worklet/.test(kindOf(globalThis))
  ? `nothing can be imported later here: write import "vitrine/all" (dist/all.js) at the top of this script`
  : "try again";

/** @internal */
export const missing = (name: string) => (cause: unknown) => {
  const what = `expected ${name} beside this module: ${reason(cause)}; ${advice()}`;
  throw new VitError("network", what, { cause });
};

/** Reads PyTorch's files. */
export const pickleBundle = async () =>
  provided.all?.pickle ?? import("../foreign/pickle/pickle.js").catch(missing("pickle.js"));

/** Reads the configs and tensors' names of other libraries. */
export const foreignBundle = async () =>
  provided.all?.foreign ?? import("../foreign/foreign.js").catch(missing("foreign.js"));

/** Reads models whose tensors no library names. */
export const structureBundle = async () =>
  provided.all?.structure ?? import("../foreign/structure/structure.js").catch(missing("structure.js"));

/** Reads decoders that write text. */
export const decodersBundle = async () => provided.all?.decoders ?? import("../foreign/decoders.js").catch(missing("decoders.js"));

/** Reads the settings that a training script saved beside the weights. */
export const settingsBundle = async () => provided.all?.settings ?? import("../foreign/settings.js").catch(missing("settings.js"));

/** Settles what a file leaves open by examples. */
export const examplesBundle = async () => provided.all?.examples ?? import("../foreign/examples.js").catch(missing("examples.js"));

/** Recognises files of other kinds. Without this bundle they are refused with a poorer message. */
export const impostorsBundle = async () =>
  provided.all?.impostors ?? import("./impostors.js").catch(() => undefined);

export const isRefusal = (cause: unknown): cause is Refusal => cause instanceof Error && cause.name === "Refusal";

/** @param code the code for a refusal without its own. All other errors become `internal`. */
export const asVitError = (cause: unknown, code: VitErrorCode): VitError =>
  cause instanceof VitError
    ? cause
    : new VitError(isRefusal(cause) ? cause.code ?? code : "internal", reason(cause), { cause });
