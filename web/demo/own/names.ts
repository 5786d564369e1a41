/** Names for the classes of a model that has only numbers for them. */
import type { VitConfig } from "vitrine";

const IMAGENET = 1000;

/** A class's number, by itself or as transformers writes it where nobody named it. */
const isNumber = (label: string, index: number) => label === String(index) || label === `LABEL_${index}`;

/**
 * Of ImageNet-1k where there are as many classes and none is named, else undefined, as also where
 * the names cannot be fetched: then the numbers stay.
 */
export async function namesOf({ classes, labels }: Readonly<VitConfig>): Promise<string[] | undefined> {
  if (classes !== IMAGENET || !labels.every(isNumber)) return undefined;
  // In ILSVRC-2012's order: each synset's first name in WordNet, and more of it where two are alike.
  const file = await import("./imagenet.txt?raw").catch(() => undefined);
  return file?.default.trimEnd().split("\n");
}
