/** Where the model looked in the picture while it wrote. */
import type { ReadAttention, ReadResult } from "vitrine";
import { wordsOf } from "./languages.ts";

const made = new WeakMap<ReadAttention, Float32Array[]>();

/** A map over the grid for each word, in row order. */
function mapsOf(result: ReadResult): Float32Array[] {
  const attention = result.attention!, known = made.get(attention);
  const maps = known ?? wordsOf(result).map(({ token }) => attention.fromToken(token));
  made.set(attention, maps);
  return maps;
}

/** The map of a word, or the mean of all. Undefined where nothing is written. */
export function mapOf(result: ReadResult, word?: number): Float32Array | undefined {
  const maps = result.attention ? mapsOf(result) : [];
  if (word !== undefined) return maps[word];
  return maps[0]?.map((_, at) => maps.reduce((sum, map) => sum + map[at]!, 0) / maps.length);
}
