/** How accurate a model's answers are, and how well calibrated its probabilities: src/train/calibrate.c in TypeScript. */
import type { Answers } from "./answers.ts";

/** An answer: its probability as float32, and whether it is right. */
export interface ScoredAnswer {
  readonly p: number;
  readonly right: boolean;
}

/** The index of the largest; of several, the first. */
export const largest = (logits: Float32Array): number =>
  logits.reduce((best, logit, index) => (logit > logits[best]! ? index : best), 0);

/** Each answer with its probability at a temperature. */
export function scoreAnswers({ logits, labels }: Answers, temperature: number): ScoredAnswer[] {
  return logits.map((row, n) => {
    const answer = largest(row);
    const sum = row.reduce((all, logit) => all + Math.exp((logit - row[answer]!) / temperature), 0);
    return { p: Math.fround(1 / sum), right: answer === labels[n] };
  });
}

/** The mean cross-entropy at a temperature. */
export function loss({ logits, labels }: Answers, temperature: number): number {
  const total = logits.reduce((all, row, n) => {
    const most = row[largest(row)]!;
    const sum = row.reduce((part, logit) => part + Math.exp((logit - most) / temperature), 0);
    return all + Math.log(sum) + (most - row[labels[n]!]!) / temperature;
  }, 0);
  return total / logits.length;
}

const BINS = 15;

/** The expected calibration error: Guo et al., arXiv:1706.04599, equation 3. */
export function calibrationError(scored: readonly ScoredAnswer[]): number {
  const gaps = Array.from({ length: BINS }, () => 0);
  for (const { p, right } of scored) gaps[Math.min(BINS, Math.max(1, Math.ceil(p * BINS))) - 1]! += Number(right) - p;
  return gaps.reduce((sum, bin) => sum + Math.abs(bin), 0) / scored.length;
}

/**
 * The temperature of the least cross-entropy. By bisection, because the cross-entropy is convex in
 * 1 / temperature, so its slope changes sign once.
 */
export function fitTemperature(answers: Answers): number {
  if (slope(answers, 1) === 0) return 1;
  let [low, high] = [Math.log(0.01), Math.log(100)];
  for (let i = 0; i < 40; i++) { // to a relative error of 1e-11
    const middle = (low + high) / 2;
    if (slope(answers, Math.exp(middle)) < 0) high = middle;
    else low = middle;
  }
  return Math.exp((low + high) / 2);
}

/** The sum over the answers of d cross-entropy / d (1 / temperature). */
function slope({ logits, labels }: Answers, temperature: number): number {
  return logits.reduce((total, row, n) => {
    const truth = row[labels[n]!]!, most = row[largest(row)]!;
    let sum = 0, expected = 0;
    for (const logit of row) {
      const p = Math.exp((logit - most) / temperature);
      sum += p;
      expected += p * (logit - truth); // exactly 0 if the true class has all of p
    }
    return total + expected / sum;
  }, 0);
}

/** The probability that this share of them reaches, rounded down to four places. */
export function passingThreshold(all: readonly number[], accept: number): number {
  const pass = Math.ceil(accept * all.length - 1e-9); // 0.7 * 10 is a little more than 7
  const sorted = [...all].sort((a, b) => b - a);
  return Math.floor(sorted[Math.max(pass, 1) - 1]! * 1e4) / 1e4;
}

/** Four places as C's printf writes them: of two that are equally near, the even one. */
export function fixed(value: number): string {
  const isTie = Number.isInteger(value * 32) && Math.abs((value * 1e4) % 1) === 0.5;
  return (isTie ? (2 * Math.round((value * 1e4) / 2)) / 1e4 : value).toFixed(4);
}
