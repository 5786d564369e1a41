/** A model under way: our parameters and what makes them, the keys that were guessed, the questions that are open. */
import type { Json } from "../../base/json.js";
import type { Mapping } from "../../config.js";
import type { Tensor } from "../family.js";
import { quoted, Refusal } from "../refusal.js";
import { listed } from "./layers.js";
import { type Matrix, type Read, zeros } from "./numbers.js";

export type Make = (read: Read) => Float32Array;

interface Parameter {
  readonly shape: readonly number[];
  readonly from: readonly Tensor[];
  readonly make: Make;
}

interface Question { readonly key: string; readonly values: readonly unknown[]; readonly text: string; readonly why: string }

export const SIZES = "[rows, columns]";
const UNSEEN = "no tensor shows it";

export class Model {
  readonly parameters = new Map<string, Parameter>();
  readonly questions: Question[] = [];
  readonly assumed: string[] = [];
  readonly given: Json;

  constructor(given: Json) {
    this.given = given;
  }

  /** The caller's value, or else the only possible one, or else a question whose answer is awaited. */
  ask<Value>(name: string, values: readonly Value[], why = UNSEEN, text = values.join(", ").replace(/, ([^,]*)$/, " or $1")): Value | undefined {
    const value = (this.given[name] ?? (values.length === 1 ? values[0] : undefined)) as Value | undefined;
    if (value === undefined && !this.questions.some(({ key }) => key === name)) this.questions.push({ key: name, values, text, why });
    return value;
  }

  assume<Value>(name: string, value: Value): Value {
    if ((this.given[name] ?? undefined) !== undefined) return this.given[name] as Value;
    this.assumed.push(name);
    return value;
  }

  put(name: string, shape: readonly number[], from: readonly Tensor[], make: Make): void {
    this.parameters.set(name, { shape, from, make });
  }

  /** A layer's weight and bias. */
  putLayer(name: string, { rows, columns, from, biases, weight, bias }: Matrix, shape: readonly number[] = [rows, columns]): void {
    this.put(`${name}.weight`, shape, from, weight);
    this.put(`${name}.bias`, [rows], biases, bias);
  }

  putNorm(name: string, norm: Matrix): void {
    this.putLayer(name, norm, [norm.rows * norm.columns]);
  }
}

/** Takes other tensors of the same shapes for some parameters, as the caller's map says. */
export function exchange(parameters: Map<string, Parameter>, tensors: readonly Tensor[], map: Mapping): void {
  const named = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const none: Parameter = { shape: [], from: [], make: zeros(0) };
  for (const [name, wanted] of Object.entries(map)) {
    const { shape, from, make } = parameters.get(name) ?? none;
    const to = [wanted].flat().map((one) => named.get(String(one)));
    if (to.length !== from.length || !to.every((tensor, at) => tensor?.shape.join() === from[at]!.shape.join())) {
      throw new Refusal(`config: map: ${quoted(name)}: expected tensors like ${listed(from) || "none: the model has no such parameter"}, got ${quoted(String(wanted))}`);
    }
    const other = new Map(from.map((tensor, at) => [tensor, to[at]!]));
    parameters.set(name, { shape, from: to as Tensor[], make: (read) => make((tensor) => read(other.get(tensor) ?? tensor)) });
  }
}

/** One error with everything that is open, and what the tensors were taken for. */
export function openQuestions(questions: readonly Question[], mapping: Mapping, depth: number): Refusal {
  const asked = questions.map(({ key: name, text, why }) => `config: ${name}: set ${name} to ${text}: ${why}`).join("; ");
  const table = Object.entries(mapping).filter(([name, from]) => from.length > 0 && !/^blocks\.[1-9]|\.bias$/.test(name))
    .map(([name, from]) => `\n  ${name} ← ${from.join(" + ")}`).join("");
  const refusal = new Refusal(`${asked}\nThe tensors were taken for (${depth} blocks):${table}`);
  return Object.assign(refusal, { questions: questions.map(({ key: name, values }) => ({ key: name, values })), mapping });
}
