/** The parts that can be left out of a model, and what the classes and the stream do without them. */
import type { Ablation, Class, VitConfig } from "vitrine";
import type { Texts } from "../../../texts/en.ts";
import { signed } from "../../../texts/words.ts";

/** All count from 0. */
export interface Part {
  kind: "head" | "mlp" | "norms";
  layer: number;
  head: number; // 0 where it is no head
}

export const keyOf = ({ kind, layer, head }: Part): string => `${kind} ${layer} ${head}`;

/** A block's parts, in the order in which the page shows them. */
export const partsOf = (layer: number, { heads }: Pick<VitConfig, "heads">): Part[] => [
  ...Array.from({ length: heads }, (_, head): Part => ({ kind: "head", layer, head })),
  { kind: "mlp", layer, head: 0 },
  { kind: "norms", layer, head: 0 },
];

export function ablationOf(parts: readonly Part[]): Ablation {
  const of = (kind: Part["kind"]) => parts.filter((part) => part.kind === kind);
  return {
    heads: of("head").map(({ layer, head }) => [layer, head] as const),
    mlps: of("mlp").map(({ layer }) => layer),
    norms: of("norms").map(({ layer }) => layer),
  };
}

export const nameOf = ({ kind, layer, head }: Part, { leaveOut }: Texts["layers"]): string =>
  leaveOut[kind](layer + 1, head + 1);

/**
 * The vector of tokens (T,D) that the head reads: the class token, or the mean of the patches in a
 * model that pools them.
 */
export function reader(tokens: Float32Array, { width, pool, prefix }: Readonly<VitConfig>): Float32Array {
  if (pool === "class" && prefix.length > 0) return tokens.subarray(0, width);
  const mean = new Float32Array(width), count = tokens.length / width - prefix.length;
  for (let i = prefix.length * width; i < tokens.length; i++) mean[i % width]! += tokens[i]! / count;
  return mean;
}

/** A class's log-odds, ln(p / (1 − p)). 1 − p is the others' sum, which is exact where p is nearly 1. */
export function logOdds(classes: readonly Class[], index: number): number {
  let own = 0, others = 0;
  for (const one of classes) {
    if (one.index === index) own = one.p;
    else others += one.p;
  }
  return Math.log(Math.max(own, Number.MIN_VALUE)) - Math.log(Math.max(others, Number.MIN_VALUE));
}

/** A change of probability in points of a hundred. */
export const points = (change: number): string => signed(change * 100);
