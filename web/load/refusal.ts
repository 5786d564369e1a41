/**
 * What the bundles beside vit.js say of bad input: pickle.js of a file, translate.js of a config.
 * They have no VitError of their own: {@link asVitError} in bundles.ts makes one of it.
 */
export class Refusal extends Error {
  override name = "Refusal";
}

/** What a person can run where these readers give up. */
export const RESCUE =
  "save it anew with Python: safetensors.torch.save_file(torch.load(PATH, weights_only=True), OUT)";

const MOST_SHOWN = 200;

/** A stranger's text for a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
}
