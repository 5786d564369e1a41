/** What only some models need lies in bundles beside vit.js, and is loaded when it is needed. */
import { reason, VitError, type VitErrorCode } from "../errors.js";

const lost = (name: string) => (cause: unknown) => {
  const what = `expected ${name} beside this module: ${reason(cause)}; try again`;
  throw new VitError("network", what, { cause });
};

/** What reads PyTorch's files. */
export const pickleBundle = () => import("./pickle/pickle.js").catch(lost("pickle.js"));

/** What reads other code's configs. */
export const translateBundle = () => import("./translate/translate.js").catch(lost("translate.js"));

/** What tells other files from those that are read here. Without it they are refused all the same. */
export const impostorsBundle = () => import("./impostors.js").catch(() => undefined);

export const isRefusal = (cause: unknown) => cause instanceof Error && cause.name === "Refusal";

/** @param code of a refusal; what else is thrown is `internal`. */
export const asVitError = (cause: unknown, code: VitErrorCode): VitError =>
  cause instanceof VitError
    ? cause
    : new VitError(isRefusal(cause) ? code : "internal", reason(cause), { cause });
