/** The answer in words. */
import type { Classification } from "vitrine";
import { percent } from "./logits.ts";
import { words } from "./texts/words.ts";

type Answer = Pick<Classification, "classes" | "uncertain">;
export type Verdict = "sure" | "unsure" | "none";

/**
 * "none": the classes are nearly alike. Their perplexity, the number of equally likely classes that
 * leave as much doubt, is more than half of their number. A model of own signs doubts by its lesson alone.
 */
export function verdictOf({ classes, uncertain }: Answer, own = false): Verdict {
  if (own) return uncertain ? "none" : "sure";
  const entropy = classes.reduce((sum, { p }) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
  if (classes.length > 1 && Math.exp(entropy) > classes.length / 2) return "none";
  return uncertain ? "unsure" : "sure";
}

/** "Reads as 7, 99.8 %". */
export function sentence(answer: Answer, own = false): string {
  const { label, p } = answer.classes[0];
  const verdict = verdictOf(answer, own);
  if (verdict === "none") return words.answer.seesNone;
  return (verdict === "unsure" ? words.answer.unsureOf : words.answer.readsAs)(label, percent(p));
}
