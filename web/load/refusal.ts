/**
 * The error of the bundles beside vit.js: of pickle.js for a bad file, of translate.js for a bad
 * config. They do not contain the class VitError, so {@link asVitError} in bundles.ts makes a
 * VitError of it.
 */
export class Refusal extends Error {
  override name = "Refusal";
}

/** Advice for a file that cannot be read here. */
export const RESCUE =
  "save it anew with Python: safetensors.torch.save_file(torch.load(PATH, weights_only=True), OUT)";

const MOST_SHOWN = 200;

/** A stranger's text, quoted and cut for a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
}
