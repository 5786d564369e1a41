/** JSON from strangers, which must not take more memory or a deeper stack than it is worth. */
import { reason, VitError, type VitErrorCode } from "../errors.js";

/** What a JSON object is before anything is known of its members. */
export type Json = Readonly<Record<string, unknown>>;

/** A config or an index of more bytes is none. */
export const MOST_JSON_BYTES = 2 ** 23;

/** src/file/json.c goes 32 levels deep. */
const MOST_LEVELS = 64;
/** Values in objects and arrays, which cost some 50 bytes each, however short their text is… */
const MOST_VALUES = 2 ** 19;
/** …and in a header of as many tensors as src/file/safetensors.c takes. */
export const MOST_HEADER_VALUES = 2 ** 21;

/** @throws {VitError} `code`, by default `bad_config`. */
export function parseJson(
  text: string,
  what: string,
  { code = "bad_config", most = MOST_VALUES }: { code?: VitErrorCode; most?: number } = {},
): unknown {
  const trouble = tooMuch(text, most);
  if (trouble) throw new VitError(code, `${what}: expected JSON ${trouble}`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new VitError(code, `${what}: expected JSON: ${reason(cause)}`, { cause });
  }
}

/** What is too much about a text, in one pass over it. */
function tooMuch(text: string, most: number): string | undefined {
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

/** Whether it is an object as a literal makes one, and nothing that has methods of its own. */
export function isPlain(value: unknown): value is Json {
  if (!isObject(value)) return false;
  const plain = Object.getPrototypeOf(value) as unknown;
  return plain === Object.prototype || plain === null;
}
