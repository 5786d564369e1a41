/** Scores as classes with probabilities. */
import type { VitConfig } from "./config.js";

export interface Class {
  label: string;
  index: number;
  /**
   * The probability. If the classes exclude each other, it is softmax(logits / temperature), which
   * sums to 1; in a multi-label model, each class has its own, 1 / (1 + exp(-logit / temperature)).
   * A regression has the value here. See {@link Classification.problemType}.
   */
  p: number;
}

/** @internal What `vit_answers` of src/stages/logits.c computes, in double precision; then sorted. */
export function rank(logits: Float32Array, config: Readonly<VitConfig>): Class[] {
  const all = answers(logits, config);
  return all.map((p, index) => ({ label: config.labels[index]!, index, p })).sort((a, b) => b.p - a.p);
}

/** One number a class, in the model's order. */
function answers(logits: Float32Array, { problem_type, temperature }: Readonly<VitConfig>): number[] {
  if (problem_type === "regression") return [...logits];
  if (problem_type === "multi_label_classification") {
    return Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit / temperature)));
  }
  const max = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const powers = Array.from(logits, (logit) => Math.exp((logit - max) / temperature));
  const sum = powers.reduce((whole, power) => whole + power, 0);
  return powers.map((power) => power / sum);
}
