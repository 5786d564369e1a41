/** Scores as classes with probabilities. */
import type { VitConfig } from "./config.js";

export interface Class {
  label: string;
  index: number;
  /** The probability, softmax(logits / temperature). All classes' probabilities sum to 1. */
  p: number;
}

/** @internal softmax(logits / temperature) in double precision, as in src/stages/logits.c; then sorted. */
export function rank(logits: Float32Array, { labels, temperature }: Readonly<VitConfig>): Class[] {
  const classes: Class[] = [];
  let max = -Infinity;
  let sum = 0;
  for (const logit of logits) if (logit > max) max = logit;
  for (let index = 0; index < logits.length; index++) {
    const p = Math.exp((logits[index]! - max) / temperature);
    sum += p;
    classes.push({ label: labels[index]!, index, p });
  }
  for (const one of classes) one.p /= sum;
  return classes.sort((a, b) => b.p - a.p);
}
