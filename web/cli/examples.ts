/** Examples of classes, and which of them are trained on. */
import type { ImageInput, VitConfig } from "vitrine";
import type { Part } from "vitrine/train";

interface ExampleInfo {
  readonly name: string;
  /** A class's name, or its number. */
  readonly label: string | number;
  readonly part: Part;
}

export type Readable = ExampleInfo & { readonly image: ImageInput };

/** An example, or the error of reading it. */
export type Example = Readable | (ExampleInfo & { readonly error: string });

export interface DataSet {
  readonly path: string;
  /** The classes' names: the folders', or the numbers that IDX files give them. */
  readonly labels: readonly string[];
  /** Whether the labels are names. Numbers may have other names in a recipe. */
  readonly named: boolean;
  /** The part of each example. */
  readonly parts: readonly Part[];
  /** All examples in their order, in groups, for a model of this config. */
  groups(config: Readonly<VitConfig>): AsyncIterable<readonly Example[]>;
}

/** The share of each class to measure on, unless --validation sets another. */
export const SHARE = 0.1;

/** A class with fewer examples keeps all of them to train on. */
const LEAST = 5;

/** The part of each example: evenly spread ones of each class are for validation. */
export function split(labels: ArrayLike<number>, share: number): Part[] {
  const counts: number[] = [];
  for (let i = 0; i < labels.length; i++) counts[labels[i]!] = (counts[labels[i]!] ?? 0) + 1;
  const quotas = counts.map((count) =>
    share > 0 && count >= LEAST ? Math.min(count - 1, Math.max(1, Math.round(share * count))) : 0);
  const counters = counts.map(() => 0);
  return Array.from(labels, (label) => {
    const before = Math.floor((counters[label]!++ * quotas[label]!) / counts[label]!);
    return Math.floor((counters[label]! * quotas[label]!) / counts[label]!) > before ? "validation" : "train";
  });
}

export const count = ({ parts }: DataSet, part: Part): number =>
  parts.filter((other) => other === part).length;
