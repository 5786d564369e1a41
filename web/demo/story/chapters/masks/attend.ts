/** One head's scores under a mask: Vaswani et al., arXiv:1706.03762, section 3.2.3. */
import { softmax } from "../score/head.ts";

export type Mask = "full" | "causal" | "cross";

export interface Attended {
  /** (queries, keys): shares. Each row sums to 1; masked ones are 0. */
  shares: Float64Array;
  queries: number[]; // tokens
  keys: number[];
  /** Whether the query of this row sees the key of this column. */
  sees(row: number, column: number): boolean;
}

/** Which tokens a mask leaves: `query` is the one that asks in cross attention. */
interface Tokens {
  tokens: number;
  prefix: number;
  query: number;
}

const from = (first: number, end: number) => Array.from({ length: end - first }, (_, i) => first + i);

const MASKS: Record<Mask, (sizes: Tokens) => Pick<Attended, "queries" | "keys" | "sees">> = {
  full: ({ tokens }) => ({ queries: from(0, tokens), keys: from(0, tokens), sees: () => true }),
  causal: ({ tokens }) => ({ queries: from(0, tokens), keys: from(0, tokens), sees: (row, column) => column <= row }),
  cross: ({ tokens, prefix, query }) => ({ queries: [query], keys: from(prefix, tokens), sees: () => true }),
};

/** scores (T,T), before the softmax. */
export function attend(scores: Float32Array, mask: Mask, { prefix, query }: Omit<Tokens, "tokens">): Attended {
  const tokens = Math.sqrt(scores.length);
  const { queries, keys, sees } = MASKS[mask]({ tokens, prefix, query });
  const shares = new Float64Array(queries.length * keys.length);
  queries.forEach((token, row) => {
    const own = keys.map((key) => scores[token * tokens + key]!);
    shares.set(softmax(own, (column) => sees(row, column)), row * keys.length);
  });
  return { shares, queries, keys, sees };
}

