/** Softmax with a temperature, with its steps. */

export interface Steps {
  /** Logits ÷ temperature. */
  scaled: number[];
  /** e to the power of scaled − its largest, so that the largest power is 1. */
  powers: number[];
  sum: number;
  /** The probabilities: powers ÷ sum. */
  shares: number[];
  /** The first of the most probable classes. */
  best: number;
}

/** Guo et al., arXiv:1706.04599, section 4.2. @param temperature above 0. */
export function softmax(logits: readonly number[], temperature: number): Steps {
  const scaled = logits.map((logit) => logit / temperature);
  const most = Math.max(...scaled);
  const powers = scaled.map((value) => Math.exp(value - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  const shares = powers.map((power) => power / sum);
  return { scaled, powers, sum, shares, best: shares.indexOf(Math.max(...shares)) };
}
