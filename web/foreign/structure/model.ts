/** A model under way: our parameters and what makes them, the keys that were guessed, the questions that are open. */
import type { Json } from "../../base/json.js";
import type { Mapping } from "../../config.js";
import type { Tensor } from "../family.js";
import { type Question, Refusal } from "../refusal.js";
import { cut } from "./layers.js";
import type { Matrix, Read } from "./numbers.js";

export type Make = (read: Read) => Float32Array;

export interface Parameter {
  readonly shape: readonly number[];
  readonly from: readonly Tensor[];
  readonly make: Make;
}

export const badConfig = (key: string, expected: string, got: unknown) => new Refusal(`config: ${key}: expected ${expected}, got ${cut(got)}`);

export class Model {
  readonly parameters = new Map<string, Parameter>();
  readonly questions: Question[] = [];
  /** What the questions say, by their keys. */
  readonly texts: Record<string, string> = {};
  /** The keys that were guessed, and their values. */
  readonly assumed: Record<string, unknown> = {};

  /** @param config the caller's, which answers questions. */
  constructor(readonly config: Json) {}

  /** The caller's value, or else the only possible one, or else a question whose answer is awaited. No values: sizes in pixels. */
  ask<Value>(key: string, values: readonly Value[], why = "no tensor shows it"): Value | undefined {
    const value = (this.config[key] ?? (values.length === 1 ? values[0] : undefined)) as Value | undefined;
    if (value === undefined && !this.texts[key]) {
      this.questions.push({ key, values });
      this.texts[key] = `config: ${key}: set ${key} to ${values.join(" or ") || "[rows, columns]"}: ${why}`;
    }
    return value;
  }

  assume<Value>(name: string, value: Value): Value {
    return (this.config[name] ?? (this.assumed[name] = value)) as Value;
  }

  /** The caller's word, or else the first, which is a guess if the others are possible. */
  choose(name: string, words: readonly string[], isOpen: boolean): string {
    const word = isOpen ? this.assume(name, words[0]!) : words[0]!;
    if (!words.includes(word)) throw badConfig(name, words.join(" or "), word);
    return word;
  }

  put(name: string, shape: readonly number[], from: readonly Tensor[], make: Make): void {
    this.parameters.set(name, { shape, from, make });
  }

  /** The weights and biases of layers by their names, of those that there are. A norm's weight is a row. */
  putLayers(layers: Readonly<Record<string, Matrix | undefined>>, before = "", shape?: readonly number[]): void {
    for (const [name, layer] of Object.entries(layers)) {
      if (!layer) continue;
      const { rows, columns, from, make } = layer, own = shape ?? (/norm/.test(name) ? [rows * columns] : [rows, columns]);
      ["weight", "bias"].forEach((part, which) => this.put(`${before}${name}.${part}`, which ? [rows] : own, from[which]!, (read) => make(read, which)));
    }
  }
}

/** An error with questions, and what the tensors were taken for. */
export const openQuestions = (text: string, questions: readonly Question[], mapping: Mapping): Refusal => Object.assign(new Refusal(text), { questions, mapping });
