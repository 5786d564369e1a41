/** Why scores are divided by √d: how far one head's products spread, and what a softmax makes of them. */
import type { Scene } from "../../scene.ts";
import { dot, rowOf } from "../../vectors.ts";
import { softmax } from "./head.ts";

export interface Spread {
  products: Float64Array; // (T,T): q·k
  d: number;
  /** Standard deviations. */
  raw: number;
  scaled: number;
  /** The largest share of a query, the mean of all queries: as it is, and without the division. */
  with: number;
  without: number;
}

export function spreadOf({ result: { trace }, layer, head }: Scene): Spread {
  const scores = trace.scores(layer, head), tokens = Math.sqrt(scores.length);
  const queries = trace.queries(layer, head), keys = trace.keys(layer, head), d = queries.length / tokens;
  const products = Float64Array.from(scores, (_, i) => dot(rowOf(queries, Math.floor(i / tokens), d), rowOf(keys, i % tokens, d)));
  const root = Math.sqrt(d), raw = deviation(products);
  const peak = (of: (score: number, i: number) => number) => {
    const values = Float64Array.from(scores, of);
    let sum = 0;
    for (let query = 0; query < tokens; query++) sum += Math.max(...softmax(rowOf(values, query, tokens)));
    return sum / tokens;
  };
  // A score may hold a bias for positions, which nothing divides.
  const without = peak((score, i) => score + products[i]! * (1 - 1 / root));
  return { products, d, raw, scaled: raw / root, with: peak((score) => score), without };
}

function deviation(list: Float64Array): number {
  const mean = list.reduce((sum, value) => sum + value, 0) / list.length;
  return Math.sqrt(list.reduce((sum, value) => sum + (value - mean) ** 2, 0) / list.length);
}
