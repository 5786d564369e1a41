import { words } from "./texts/words.ts";
import digits from "../../weights/digits.safetensors?url";
import int8 from "../../weights/digits-int8.safetensors?url";
import stem from "../../weights/digits-stem.safetensors?url";
import large from "../../weights/digits-large.safetensors?url";
import myvit from "../../weights/myvit.safetensors?url";

export interface ModelFile {
  id: string; // the model's name in the page's address: ?model=…
  url: string;
  /** The file's size. The progress bar needs it, because a compressed answer has no length. */
  bytes: number;
  light?: ModelFile; // the same model in a smaller file, which a slow line loads first
  own?: Own; // of *My signs*, which has no address
}

export interface Own {
  file: Uint8Array<ArrayBuffer>;
  /** The signs that the visitor drew, by their names: how many drawings there are, and one of them as a URL. */
  signs: ReadonlyMap<string, { count: number; picture: string }>;
}

/** The id of *My signs*. */
export const SIGNS = "signs";
export const SIGNS_FILE = "my-signs.safetensors";

const LIGHT: ModelFile = { id: "digits", url: int8, bytes: WEIGHTS_BYTES["digits-int8"] };

/** The models to choose from. The page begins with the first. */
export const MODELS: readonly ModelFile[] = [
  { id: "digits", url: digits, bytes: WEIGHTS_BYTES.digits, light: LIGHT },
  { id: "digits-stem", url: stem, bytes: WEIGHTS_BYTES["digits-stem"] },
  { id: "digits-large", url: large, bytes: WEIGHTS_BYTES["digits-large"] },
  { id: "myvit", url: myvit, bytes: WEIGHTS_BYTES.myvit },
];

export const CHOICES: readonly string[] = [...MODELS.map(({ id }) => id), SIGNS];

/** A model's name and, in the page's language, a word about it. */
export const titleOf = (id: string): string => (words.models as Record<string, string>)[id] ?? id;

export function choiceIn(address: string): ModelFile {
  const modelId = new URL(address).searchParams.get("model");
  return MODELS.find(({ id }) => id === modelId) ?? MODELS[0];
}

/** The address that asks for a model. The first model needs no `model` in the address. */
export function addressOf(choice: ModelFile, address: string): string {
  const url = new URL(address);
  if (choice.id === MODELS[0].id) url.searchParams.delete("model");
  else url.searchParams.set("model", choice.id);
  return url.href;
}
