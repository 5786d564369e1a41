/**
 * CLIP's tokenizer: byte pair encoding (Sennrich et al., arXiv:1508.07909) over bytes written as
 * printable characters. The last symbol of a word ends with </w>.
 */
import { VitError } from "../errors.js";
import { unescaped } from "./references.js";

/** How text becomes ids. */
export interface Vocabulary {
  readonly ids: ReadonlyMap<string, number>;
  /** Which pairs of symbols merge, with a space between; those of lower numbers first. */
  readonly ranks: ReadonlyMap<string, number>;
  /** The id of a symbol that has none. */
  readonly unknown?: number | undefined;
  /** As OpenAI cleans text: references of HTML are replaced. Otherwise as transformers does it: letters are composed. */
  readonly openai: boolean;
}

export const START = "<|startoftext|>";
export const END = "<|endoftext|>";

const words = (s: string, nothing: string) => new RegExp(
  `<\\|${s}tartoftext\\|>|<\\|endoftext\\|>|'(?:${s}|[tmd]|re|ve|ll)|\\p{L}+|\\p{N}|[^\\p{White_Space}\\p{L}\\p{N}${nothing}]+`, "gu");
const WORDS = words("s", "");
/** OpenAI ignores case as Python's regex does: ſ is an s, and U+0345, whose capital is a letter, is nothing. */
const OPENAI_WORDS = words("[sſ]", "\\u0345");
/** transformers takes these out of a text first. */
const SPECIAL = /(<\|(?:start|end)oftext\|>)/;

/** The printable bytes, then the others, which are written as the characters from U+0100. */
const BYTES = [[0x21, 0x7e], [0xa1, 0xac], [0xae, 0xff]].flatMap(([from, to]) => range(from!, to!));
const CHARACTERS = Array.from({ length: 256 }, () => "");
BYTES.forEach((byte) => (CHARACTERS[byte] = String.fromCharCode(byte)));
for (const byte of range(0, 255)) {
  if (CHARACTERS[byte]) continue;
  CHARACTERS[byte] = String.fromCharCode(0x100 + BYTES.length - 188);
  BYTES.push(byte);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/** The symbols of single bytes, in the order of their ids in OpenAI's vocabulary. */
export const BYTE_SYMBOLS: readonly string[] = BYTES.map((byte) => CHARACTERS[byte]!);

/**
 * The ids of a text, without start and end.
 *
 * @param most no more ids are needed
 * @throws {VitError} code `bad_file` if the vocabulary lacks a symbol.
 */
export async function encode(text: string, vocabulary: Vocabulary, most: number): Promise<number[]> {
  const { ids, unknown, openai } = vocabulary;
  const clean = (openai ? stripped(await unescaped(await unescaped(text))) : text.normalize("NFC")).toLowerCase();
  const all: number[] = [];
  const matches = openai ? [...clean.matchAll(OPENAI_WORDS)] : clean.split(SPECIAL).flatMap((part) => [...part.matchAll(WORDS)]);
  for (const [word] of matches) {
    if (all.length >= most) break;
    for (const symbol of word === START || word === END ? [word] : merged(symbolsOf(word), vocabulary.ranks)) {
      const id = ids.get(symbol) ?? unknown;
      if (id === undefined) throw new VitError("bad_file", `vocabulary: expected the token "${symbol}", got none`);
      all.push(id);
    }
  }
  return all.slice(0, most);
}

/** Without what Python takes for spaces at both ends. Other spaces only separate words. */
function stripped(text: string): string {
  const space = /[\p{White_Space}\x1c-\x1f]/u;
  let from = 0, to = text.length;
  while (from < to && space.test(text[from]!)) from++;
  while (from < to && space.test(text[to - 1]!)) to--;
  return text.slice(from, to);
}

function symbolsOf(word: string): string[] {
  const symbols = Array.from(new TextEncoder().encode(word), (byte) => CHARACTERS[byte]!);
  symbols[symbols.length - 1] += "</w>";
  return symbols;
}

/** Merges the pair of the lowest rank, the leftmost first, until no pair has one. A long word takes n log n. */
function merged(symbols: string[], ranks: Vocabulary["ranks"]): string[] {
  const { length } = symbols;
  const next = symbols.map((_, at) => at + 1), last = symbols.map((_, at) => at - 1);
  const rankAt = (left: number) => next[left]! < length ? ranks.get(`${symbols[left]} ${symbols[next[left]!]}`) : undefined;
  const queue: number[] = [];
  const offer = (left: number) => {
    const rank = left < 0 ? undefined : rankAt(left);
    if (rank !== undefined) push(queue, rank * length + left);
  };
  symbols.forEach((_, at) => offer(at));
  while (queue.length > 0) {
    const key = pop(queue), left = key % length, right = next[left]!;
    if (rankAt(left) !== (key - left) / length) continue; // one of the two has merged with another
    symbols[left] += symbols[right]!;
    symbols[right] = "";
    next[left] = next[right]!;
    if (next[left]! < length) last[next[left]!] = left;
    offer(last[left]!);
    offer(left);
  }
  return symbols.filter(Boolean);
}

/** A heap whose first number is the least. */
function push(heap: number[], key: number): void {
  let at = heap.push(key) - 1;
  for (let up; at > 0 && heap[(up = (at - 1) >> 1)]! > key; at = up) heap[at] = heap[up]!;
  heap[at] = key;
}

function pop(heap: number[]): number {
  const [least] = heap as [number], key = heap.pop()!;
  if (heap.length === 0) return least;
  let at = 0;
  for (let down; (down = 2 * at + 1) < heap.length; at = down) {
    if (down + 1 < heap.length && heap[down + 1]! < heap[down]!) down++;
    if (heap[down]! >= key) break;
    heap[at] = heap[down]!;
  }
  heap[at] = key;
  return least;
}
