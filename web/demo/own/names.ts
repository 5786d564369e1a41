/** Names for the classes of a model whose labels are only numbers. */
import type { VitConfig } from "vitrine";
import address from "./imagenet.txt?url";

const IMAGENET = 1000;

/** Whether a label is only the class's number, plain or in the form of transformers. */
const isNumber = (label: string, index: number) => label === String(index) || label === `LABEL_${index}`;

/**
 * ImageNet-1k's names, if the model has as many classes and names none of them. Otherwise, or if the
 * names cannot be fetched, undefined.
 */
export async function namesOf({ classes, labels }: Readonly<VitConfig>): Promise<string[] | undefined> {
  if (classes !== IMAGENET || !labels.every(isNumber)) return undefined;
  // In ILSVRC-2012's order. A name is the synset's first in WordNet, or longer where two are equal.
  const answer = await fetch(address).catch(() => undefined);
  const text = answer?.ok ? await answer.text().catch(() => "") : "";
  const names = text.trimEnd().split("\n");
  return names.length === IMAGENET ? names : undefined;
}
