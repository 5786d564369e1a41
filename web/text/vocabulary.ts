/** Reads CLIP's vocabulary: OpenAI's own file, or transformers' tokenizer.json, or vocab.json and merges.txt. */
import { isObject, type Json } from "../base/json.js";
import { show, VitError } from "../errors.js";
import { BYTE_SYMBOLS, END, START, type Vocabulary } from "./bpe.js";

/** The merges of OpenAI's list that its tokenizer uses: 49152 ids less those of the bytes and of start and end. */
const MERGES = 49152 - 256 - 2;

const bad = (what: string) => new VitError("bad_file", `vocabulary: expected ${what}`);

/** OpenAI's file: a line for each merge, below a line with its version. The order of the symbols gives their ids. */
export function ofMerges(text: string): Vocabulary {
  const merges = linesOf(text).slice(0, MERGES);
  if (merges.length < MERGES) throw bad(`${MERGES} merges below a line with a version, got ${merges.length}`);
  const symbols = [...BYTE_SYMBOLS, ...BYTE_SYMBOLS.map((symbol) => `${symbol}</w>`), ...merges.map((pair) => pair.replace(" ", "")), START, END];
  return { ids: new Map(symbols.map((symbol, id) => [symbol, id])), ranks: ranksOf(merges), openai: true };
}

/** transformers' slow tokenizer: vocab.json and merges.txt. Nothing in them says how text is cleaned. */
export const ofVocabulary = (vocabulary: Json, merges: string): Vocabulary =>
  ({ ids: idsOf(vocabulary), ranks: ranksOf(linesOf(merges)), openai: true });

/** tokenizer.json, if it is CLIP's; undefined for another tokenizer's. */
export function ofTokenizer({ model }: Json): Vocabulary | undefined {
  if (!isObject(model) || model.end_of_word_suffix !== "</w>" || !isObject(model.vocab) || !Array.isArray(model.merges)) return undefined;
  const ids = idsOf(model.vocab), unknown = ids.get(String(model.unk_token));
  const merges = model.merges.map((pair: unknown) => (Array.isArray(pair) ? pair.join(" ") : String(pair)));
  return { ids, ranks: ranksOf(merges), unknown, openai: false };
}

const linesOf = (text: string) => text.split(/\r?\n/).slice(1).filter(Boolean);

function ranksOf(merges: readonly string[]): ReadonlyMap<string, number> {
  const wrong = merges.find((pair) => !/^[^ ]+ [^ ]+$/.test(pair));
  if (wrong !== undefined) throw bad(`merges of two symbols, got "${show(wrong)}"`);
  return new Map(merges.map((pair, rank) => [pair, rank]));
}

function idsOf(vocabulary: Json): ReadonlyMap<string, number> {
  const ids = new Map(Object.entries(vocabulary) as [string, number][]);
  for (const [symbol, id] of ids) {
    if (!Number.isSafeInteger(id) || id < 0) throw bad(`a whole number as id of "${show(symbol)}", got ${show(id)}`);
  }
  for (const symbol of [START, END]) if (!ids.has(symbol)) throw bad(`the token ${symbol}, got none`);
  return ids;
}
