/** Fields that ask the visitor for config keys that the checkpoint lacks. */
import { VitError } from "vitrine";
import { h } from "../dom.ts";
import { ownWords } from "./words.ts";

/** A key of the config and its possible values: one of `words`, or one number for each hint. */
export interface ConfigQuestion {
  key: string;
  words: string[];
  hints: string[];
  about: string; // more about the key; may be empty
}

/** Matches the package's message, "config: heads: set heads to 2, 3 or 6: …". */
const ASKS = /\bconfig: (\w+): set \1 to ([^:]+):/g;

export const questionsIn = (error: unknown): ConfigQuestion[] =>
  error instanceof VitError ? [...error.message.matchAll(ASKS)].map(([, key, values]) => questionOf(key!, values!)) : [];

function questionOf(key: string, values: string): ConfigQuestion {
  const [what, about = ""] = values.split(/, (?=whether )/);
  const [, several] = /^\[(.*)\]$/.exec(what) ?? [];
  const words = what.split(/, | or /);
  if (several) return { key, words: [], hints: several.split(", "), about };
  return words.every((word) => /^\w+$/.test(word))
    ? { key, words, hints: [], about }
    : { key, words: [], hints: [what], about };
}

export const plain = (key: string) => key.replaceAll("_", " ");

/** @param tell is called with every answer that is complete and valid. */
export function fieldFor({ key, words, hints, about }: ConfigQuestion, tell: (value: unknown) => void): HTMLElement {
  const inputs = words.length > 0 ? [choiceOf(words)] : hints.map(numberFor);
  const field = h(inputs.length === 1 ? "label" : "div", { data: { key } }, plain(key), ...inputs);
  if (about) field.append(h("small", {}, about));
  if (inputs.length > 1) inputs.forEach((input, index) => (input.ariaLabel = `${plain(key)}, ${hints[index]}`));
  field.addEventListener("change", () => {
    if (!inputs.every((input) => input.checkValidity())) return;
    const values = inputs.map(({ value }) => valueOf(value));
    tell(values.length > 1 ? values : values[0]);
  });
  return field;
}

function choiceOf(values: string[]): HTMLSelectElement {
  const none = h("option", { value: "", selected: true, disabled: true }, ownWords().choose);
  return h("select", { required: true }, none, ...values.map((value) => new Option(value)));
}

const numberFor = (hint: string): HTMLInputElement =>
  h("input", { type: "number", min: "1", step: "1", required: true, placeholder: hint });

const valueOf = (text: string): unknown => (/^(\d+|true|false)$/.test(text) ? JSON.parse(text) : text);

/** Shows the values of the config field in the fields of its keys too. */
export function showOverrides(fields: HTMLElement, overrides: Overrides): void {
  for (const field of fields.children) {
    const values = [overrides[(field as HTMLElement).dataset.key!]].flat();
    field.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select").forEach((input, index) => {
      input.value = String(values[index] ?? "");
    });
  }
}

export type Overrides = Readonly<Record<string, unknown>>;

/** The keys that the config field holds; none where it is empty. */
export function parseOverrides(text: string): Overrides {
  if (text.trim() === "") return {};
  try {
    const overrides: unknown = JSON.parse(text);
    if (typeof overrides === "object" && overrides !== null && !Array.isArray(overrides)) return overrides as Overrides;
  } catch {
    // the error below says so
  }
  throw new Error(ownWords().noJson({ example: '{"heads": 3}', got: text }));
}
