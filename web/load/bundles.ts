/** Bundles beside vit.js, which are loaded only when a model needs them. */
import { reason, VitError, type VitErrorCode } from "../errors.js";

const lost = (name: string) => (cause: unknown) => {
  const what = `expected ${name} beside this module: ${reason(cause)}; try again`;
  throw new VitError("network", what, { cause });
};

/** Reads PyTorch's files. */
export const pickleBundle = () => import("./pickle/pickle.js").catch(lost("pickle.js"));

/** Translates other code's configs. */
export const translateBundle = () => import("./translate/translate.js").catch(lost("translate.js"));

/** Recognises files of other kinds. Without this bundle they are refused with a poorer message. */
export const impostorsBundle = () => import("./impostors.js").catch(() => undefined);

export const isRefusal = (cause: unknown) => cause instanceof Error && cause.name === "Refusal";

/** @param code the code for a refusal. All other errors become `internal`. */
export const asVitError = (cause: unknown, code: VitErrorCode): VitError =>
  cause instanceof VitError
    ? cause
    : new VitError(isRefusal(cause) ? code : "internal", reason(cause), { cause });
