/** Loads files as a model that runs in a worker, on several cores if the page is isolated. */
import { Vit, type Prepare, type VitConfig } from "vitrine";
import type { Overrides } from "./questions.ts";
import type { Loading } from "../reader.ts";
import { threadsUpTo } from "../threads.ts";
import type { texts } from "./texts/en.ts";
import imagenet from "./imagenet.txt?url";

type Pixels = Exclude<keyof (typeof texts)["pixels"], "own">;

/** Ways to turn pixels into numbers, for checkpoints that do not say. */
export const PIXELS: Readonly<Record<Pixels, { mean: number[]; std: number[] }>> = {
  imagenet: { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] },
  half: { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] },
  clip: { mean: [0.48145466, 0.4578275, 0.40821073], std: [0.26862954, 0.26130258, 0.27577711] },
  unit: { mean: [0, 0, 0], std: [1, 1, 1] },
};

const MOST_THREADS = 8;

export interface Loaded {
  model: Vit;
  guessed: boolean; // true if nobody said how pixels become numbers
  names: string[] | undefined; // names for the classes, if the model has none but they are known
}

/** Files that say how pixels become numbers. They are overridden, because they may be refused. */
const SAYS_MORE = /config\.json$/;

/**
 * @param pixels one of {@link PIXELS}, or "" for the checkpoint's own, or ImageNet's if it has none.
 * @param overrides config keys that the checkpoint lacks.
 */
export async function loadCheckpoint(files: File[], pixels: string, overrides: Overrides, options: Loading): Promise<Loaded> {
  const all = { ...options, threads: threadsUpTo(MOST_THREADS), worker: true };
  const others = pixels !== "" && files.some(({ name }) => SAYS_MORE.test(name));
  const config = others ? { ...overrides, prepare: null } : overrides;
  const source = { weights: files, ...(Object.keys(config).length > 0 && { config }) };
  const model = await Vit.load(source, all);
  const names = await namesOf(model.config);
  const { kind = "bytes" } = model.config.prepare ?? {}; // bytes of other sizes than the image's are refused
  if (pixels === "" && kind !== "bytes") return { model, guessed: false, names };
  model.dispose();
  const prepare = prepareBy(pixels || "imagenet", model.config);
  return { model: await Vit.load({ ...source, prepare }, all), guessed: pixels === "", names };
}

function prepareBy(pixels: string, { image_size, channels }: Readonly<VitConfig>): Prepare {
  const { mean, std } = PIXELS[pixels as Pixels];
  return {
    kind: "photo",
    resize: image_size,
    fit: "cover",
    crop: image_size,
    mean: Array.from({ length: channels }, (_, channel) => mean[channel % 3]),
    std: Array.from({ length: channels }, (_, channel) => std[channel % 3]),
    interpolation: "bicubic",
  };
}

const IMAGENET = 1000;

/** Whether a label is only the class's number, plain or in the form of transformers. */
const isNumber = (label: string, index: number) => label === String(index) || label === `LABEL_${index}`;

/**
 * ImageNet-1k's names, if the model has as many classes and names none of them. Otherwise, or if the
 * names cannot be fetched, undefined.
 */
async function namesOf({ classes, labels }: Readonly<VitConfig>): Promise<string[] | undefined> {
  if (classes !== IMAGENET || !labels.every(isNumber)) return undefined;
  // In ILSVRC-2012's order. A name is the synset's first in WordNet, or longer where two are equal.
  const answer = await fetch(imagenet).catch(() => undefined);
  const text = answer?.ok ? await answer.text().catch(() => "") : "";
  const names = text.trimEnd().split("\n");
  return names.length === IMAGENET ? names : undefined;
}
