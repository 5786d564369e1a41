/** A model under way: our parameters and what makes them, the keys that were guessed, the questions that are open. */
import type { Json } from "../../base/json.js";
import type { Mapping } from "../../config.js";
import type { Tensor } from "../family.js";
import { type Question, Refusal } from "../refusal.js";
import { byName, cut, shown } from "./layers.js";
import type { Matrix, Read } from "./numbers.js";

export type Make = (read: Read) => Float32Array;

interface Parameter {
  readonly shape: readonly number[];
  readonly from: readonly Tensor[];
  readonly make: Make;
}

export const badConfig = (key: string, expected: string, got: unknown) => new Refusal(`config: ${key}: expected ${expected}, got ${cut(got)}`);

const unlike = (name: string, like: string, got: unknown) => badConfig(`map: ${cut(name)}`, `tensors like ${like}`, got);

export class Model {
  readonly parameters = new Map<string, Parameter>();
  readonly questions: Question[] = [];
  /** What each question says. */
  readonly texts: string[] = [];
  /** The keys that were guessed, and their values. */
  readonly assumed: Record<string, unknown> = {};
  readonly given: Json;
  readonly tensors: ReadonlyMap<string, Tensor>;

  readonly map: Mapping;

  constructor(given: Json, tensors: readonly Tensor[]) {
    this.given = given;
    this.map = (given.map ?? {}) as Mapping;
    this.tensors = byName(tensors);
  }

  /** The caller's value, or else the only possible one, or else a question whose answer is awaited. No values: sizes in pixels. */
  ask<Value>(name: string, values: readonly Value[], why = "no tensor shows it"): Value | undefined {
    const value = (this.given[name] ?? (values.length === 1 ? values[0] : undefined)) as Value | undefined;
    if (value === undefined && !this.questions.some(({ key }) => key === name)) {
      this.questions.push({ key: name, values });
      this.texts.push(`config: ${name}: set ${name} to ${values.join(" or ") || "[rows, columns]"}: ${why}`);
    }
    return value;
  }

  assume<Value>(name: string, value: Value): Value {
    return (this.given[name] ?? (this.assumed[name] = value)) as Value;
  }

  /** The caller's word, or else the first, which is a guess if the others are possible. */
  choose(name: string, words: readonly string[], isOpen: boolean): string {
    const word = isOpen ? this.assume(name, words[0]!) : words[0]!;
    if (!words.includes(word)) throw badConfig(name, words.join(" or "), word);
    return word;
  }

  /** A parameter, of other tensors of the same shapes if the caller's map says so. */
  put(name: string, shape: readonly number[], from: readonly Tensor[], make: Make): void {
    const wanted = this.map[name];
    const to = wanted === undefined ? from : [wanted].flat().map((one) => this.tensors.get(String(one)));
    if (to.length !== from.length || to.some((tensor, at) => tensor?.shape.join() !== from[at]!.shape.join())) throw unlike(name, shown(...from), wanted);
    this.parameters.set(name, { shape, from: to as Tensor[], make: (read) => make((tensor) => read(to[from.indexOf(tensor)] ?? tensor)) });
  }

  /** Refuses a map with names of no parameters. */
  finish(): void {
    const strange = Object.keys(this.map).find((name) => !this.parameters.has(name));
    if (strange !== undefined) throw unlike(strange, "none: the model has no such parameter", this.map[strange]);
  }

  /** A layer's weight and bias; a norm's weight is a row. */
  putLayer(name: string, { rows, columns, from, make }: Matrix, shape: readonly number[] = /norm/.test(name) ? [rows * columns] : [rows, columns]): void {
    ["weight", "bias"].forEach((part, which) => this.put(`${name}.${part}`, which ? [rows] : shape, from[which]!, (read) => make(read, which)));
  }
}

/** An error with questions, and what the tensors were taken for. */
export const openQuestions = (text: string, questions: readonly Question[], mapping: Mapping): Refusal => Object.assign(new Refusal(text), { questions, mapping });
