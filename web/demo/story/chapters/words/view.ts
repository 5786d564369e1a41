/** What the chapter's figures are of: the number on the pad of the third tab, or its example, as the decoder writes it. */
import type { ReadResult, Vit } from "vitrine";
import type { Stroke } from "../../../ink.ts";
import type { Language } from "../../../number/languages.ts";
import type { Shape } from "../../../pixels.ts";
import { largest } from "../../vectors.ts";

export interface Transcription {
  strokes: Stroke[];
  language: Language;
  result: ReadResult;
  config: Vit["config"];
  shape: Shape;
  dark: boolean;
}

/** The name of a token that was written; undefined for the one that ends. */
export const nameOf = ({ text }: { text: string }): string | undefined => text.trim() || undefined;

/** (S,S): which tokens each step looks at, by the mean of the last layer's heads. */
export function selfOf({ attention }: ReadResult): Float32Array {
  const { layers, heads, length } = attention!, mean = new Float32Array(length * length);
  for (let head = 0; head < heads; head++) attention!.self(layers - 1, head).forEach((share, at) => (mean[at]! += share / heads));
  return mean;
}

/** (S, columns): how much of each step's attention is on each column of patches. */
export function columnsOf({ attention }: ReadResult): Float32Array[] {
  const columns = attention!.grid[1];
  return Array.from({ length: attention!.length }, (_, token) => {
    const sums = new Float32Array(columns);
    attention!.fromToken(token).forEach((share, at) => (sums[at % columns]! += share));
    return sums;
  });
}

/** The column that a step looks at: with its neighbours it holds half of the attention. Undefined where the step looks about. */
export function placeOf(columns: Float32Array): number | undefined {
  const at = largest(columns), near = columns.subarray(Math.max(0, at - 1), at + 2).reduce((a, b) => a + b);
  return near >= 0.5 ? at : undefined;
}
