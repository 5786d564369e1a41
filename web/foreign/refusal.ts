import type { Mapping } from "../config.js";

/** A config key that a file leaves open. */
export interface Question {
  readonly key: string;
  /** The possible values; none: sizes in pixels. */
  readonly values: readonly unknown[];
}

/**
 * The error of the bundles beside vit.js. They do not contain the class VitError, so {@link asVitError}
 * in web/load/bundles.ts makes a VitError of it.
 */
export class Refusal extends Error {
  override name = "Refusal";
  /** What a file leaves open, and the values of each. */
  declare questions?: readonly Question[];
  /** What the tensors were taken for, beside the questions. */
  declare mapping?: Mapping | undefined;

  /** @param code the VitError's; undefined: `bad_file` from pickle.js, `bad_config` from foreign.js. */
  constructor(message: string, readonly code?: "bad_tensor") {
    super(message);
  }
}

/** Advice for a checkpoint in a form that PyTorch reads and this package does not. */
export const SAVE_AGAIN = "save it again with Python: torch.save(torch.load(PATH, map_location='cpu', weights_only=True), OUT)";

/** Advice for a file that holds more than weights. */
export const WEIGHTS_ALONE = "save the weights alone with Python: torch.save(model.state_dict(), OUT)";

const MOST_CHARACTERS = 200;

/** A stranger's text, quoted and cut for a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text);
}
