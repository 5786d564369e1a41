/** Words of other code's configs, and what they stand for here. */
import { hasOwn, show } from "../../errors.js";
import { isObject, type Json } from "../../base/json.js";
import { Refusal } from "../refusal.js";

/** What a key's value stands for. */
export function meaning<Value>(
  key: string,
  value: unknown,
  table: Readonly<Record<string, Value>>,
  where = "config",
): Value {
  const word = wordOf(value);
  const found = hasOwn(table, word) ? table[word] : undefined;
  if (found !== undefined) return found;
  const words = Object.keys(table).join(", ");
  throw new Refusal(`${where}: ${key}: expected one of ${words}, got "${show(word)}"`);
}

/** A value of JSON as a word: an object's own toString may be anything. */
export const wordOf = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value) ?? "nothing";

export const objectOr = (value: unknown, other: Json): Json => (isObject(value) ? value : other);
