/** Parses JSON from strangers, with limits on memory and depth. */
import { reason, VitError, type VitErrorCode } from "../errors.js";

/** A JSON object whose members have not been checked. */
export type Json = Readonly<Record<string, unknown>>;

/** A config or an index with more bytes is refused. */
export const MOST_JSON_BYTES = 2 ** 23;

/** The most levels of nesting. src/file/json.c takes 32. */
const MOST_LEVELS = 64;
/** The most values in objects and arrays. Each takes about 50 bytes, however short its text is. */
const MOST_VALUES = 2 ** 19;
/** The most values in a header, enough for the most tensors that src/file/safetensors.c takes. */
export const MOST_HEADER_VALUES = 2 ** 21;

/** @throws {VitError} `code`, by default `bad_config`. */
export function parseJson(
  text: string,
  what: string,
  { code = "bad_config", most = MOST_VALUES }: { code?: VitErrorCode; most?: number } = {},
): unknown {
  const excess = excessIn(text, most);
  if (excess) throw new VitError(code, `${what}: expected JSON ${excess}`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new VitError(code, `${what}: expected JSON: ${reason(cause)}`, { cause });
  }
}

/** The limit that a text exceeds, as words for a message. Reads the text once. */
function excessIn(text: string, most: number): string | undefined {
  let levels = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // a string: its end is the next quote that no backslash escapes
        for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++) {
          if (text.charCodeAt(at) === 0x5c) at++;
        }
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++levels > MOST_LEVELS) return `of at most ${MOST_LEVELS} levels, got more`;
        values++;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        levels--;
        break;
      case 0x2c: // ,
        values++;
    }
    if (values > most) return `of at most ${most} values, got more`;
  }
  return undefined;
}

/** @throws {VitError} code `bad_config`. */
export function parseObject(text: string, what: string): Json {
  const value = parseJson(text, what);
  if (isObject(value)) return value;
  throw new VitError("bad_config", `${what}: expected a JSON object`);
}

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a value is an object as a literal of any realm makes it, without a class of its own. */
export function isPlain(value: unknown): value is Json {
  if (!isObject(value)) return false;
  const plain = Object.getPrototypeOf(value) as unknown;
  return plain === null || Object.getPrototypeOf(plain) === null;
}
