/** Scores as classes with probabilities. */
import type { VitConfig } from "./config.js";

export interface Class {
  label: string;
  index: number;
  /**
   * The probability. If the classes exclude each other, it is softmax(logits / temperature), which
   * sums to 1, or with doubt to 1 - doubt; in a multi-label model, each class has its own, 1 / (1 + exp(-logit / temperature)).
   * A regression has the value here. See {@link Classification.problemType}.
   */
  p: number;
}

/** The keys that make answers of logits. */
type Judged = Readonly<Pick<VitConfig, "labels" | "classes" | "problem_type" | "temperature" | "doubt">>;

/** @internal What `vit_answers` of src/stages/logits.c computes, in double precision; then sorted. */
export function rank(logits: Float32Array, config: Judged): Class[] {
  const all = answers(logits, config);
  return all.map((p, index) => ({ label: config.labels[index]!, index, p })).sort((a, b) => b.p - a.p);
}

/** @internal How much a model doubts its answer, from 0 to 1; undefined if its config has no doubt. */
export const doubtOf = (logits: Float32Array, { doubt, classes }: Judged): number | undefined =>
  doubt ? 1 / (1 + Math.exp(-logits[classes]!)) : undefined;

/** One number a class, in the model's order. */
function answers(all: Float32Array, config: Judged): number[] {
  const { problem_type, temperature, classes } = config, logits = all.subarray(0, classes);
  if (problem_type === "regression") return [...logits];
  if (problem_type === "multi_label_classification") {
    return Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit / temperature)));
  }
  const max = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const powers = Array.from(logits, (logit) => Math.exp((logit - max) / temperature));
  const sum = powers.reduce((whole, power) => whole + power, 0);
  const certainty = 1 - (doubtOf(all, config) ?? 0);
  return powers.map((power) => (certainty * power) / sum);
}
