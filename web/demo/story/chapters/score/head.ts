/** One head by hand: scaled dot-product attention, Vaswani et al., arXiv:1706.03762, section 3.2.1. */
import { type Scale, scaleOf } from "../../../../base/heat.ts";
import type { Scene } from "../../scene.ts";
import { biasOf, dot, rowOf } from "../../vectors.ts";

/** One query and what it meets in a head. T tokens, d is the head's width. */
interface HeadNumbers {
  query: Float64Array; // (d)
  keys: Float64Array; // (T,d)
  values: Float64Array; // (T,d)
  bias: Float64Array; // (T): what relative positions add to each score; 0 in other models
}

export interface Answer {
  scores: Float64Array; // (T), before the softmax
  weights: Float64Array; // (T), sum 1
  output: Float64Array; // (d)
}

/** What is shown: a head's numbers, which the visitor may have changed. */
export interface Work {
  scene: Scene;
  query: number; // tokens
  key: number;
  own: HeadNumbers;
  head: HeadNumbers;
  heads: Answer[]; // of the model's own numbers
  paper: HTMLCanvasElement;
  changed: boolean;
}

/** The numbers of the scene's head, for one token's query. */
export function headOf({ result: { trace }, config, layer, head }: Scene, token: number): HeadNumbers {
  const values = Float64Array.from(trace.values(layer, head));
  const keys = Float64Array.from(trace.keys(layer, head));
  const tokens = Math.sqrt(trace.scores(layer, head).length);
  const query = Float64Array.from(rowOf(trace.queries(layer, head), token, values.length / tokens));
  const bias = config.position === "relative" ? Float64Array.from(rowOf(biasOf(trace, layer, head), token, tokens)) : new Float64Array(tokens);
  return { query, keys, values, bias };
}

/** What a visitor can change. */
export const LISTS = ["query", "keys", "values"] as const;
export type List = (typeof LISTS)[number];

export const isChanged = (own: HeadNumbers, now: HeadNumbers, list: List): boolean =>
  now[list].some((number, i) => number !== own[list][i]);

export const copyOf = ({ query, keys, values, bias }: HeadNumbers): HeadNumbers =>
  ({ query: query.slice(), keys: keys.slice(), values: values.slice(), bias });

const sum = (numbers: Float64Array): number => numbers.reduce((all, number) => all + number, 0);

function scoresOf({ query, keys, bias }: HeadNumbers): Float64Array {
  const d = query.length;
  return bias.map((bias, token) => dot(query, rowOf(keys, token, d)) / Math.sqrt(d) + bias);
}

/** Shares that sum to 1, of those that `sees` allows; the others get 0. At least one is allowed. */
export function softmax(scores: ArrayLike<number>, sees: (j: number) => boolean = () => true): Float64Array {
  let top = -Infinity;
  for (let j = 0; j < scores.length; j++) if (sees(j)) top = Math.max(top, scores[j]!);
  const powers = Float64Array.from(scores, (score, j) => (sees(j) ? Math.exp(score - top) : 0));
  const all = sum(powers);
  return powers.map((power) => power / all);
}

/** The sum of the first `count` tokens' values (T,d), each times its weight. */
export function outputOf(weights: ArrayLike<number>, values: ArrayLike<number>, count = weights.length): Float64Array {
  const d = values.length / weights.length;
  const output = new Float64Array(d);
  for (let token = 0; token < count; token++) {
    for (let i = 0; i < d; i++) output[i]! += weights[token]! * values[token * d + i]!;
  }
  return output;
}

export function answerOf(head: HeadNumbers): Answer {
  const scores = scoresOf(head);
  const weights = softmax(scores);
  return { scores, weights, output: outputOf(weights, head.values) };
}

/** The answers of all heads of the scene's layer to one token's query. */
export const answersOf = (scene: Scene, token: number): Answer[] =>
  Array.from({ length: scene.config.heads }, (_, head) => answerOf(headOf({ ...scene, head }, token)));

/** One scale for the shares of all heads. */
export const scaleOfShares = (answers: readonly Answer[]): Scale =>
  scaleOf(answers.map(({ weights }) => Float32Array.from(weights)), 1 / answers[0]!.weights.length);
