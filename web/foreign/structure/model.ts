/** A model under way: our parameters and what makes them, the keys that were guessed, the questions that are open. */
import type { Json } from "../../base/json.js";
import { headerBytes, headerOf } from "../../base/safetensors.mjs";
import type { Mapping } from "../../config.js";
import type { Tensor } from "../family.js";
import { quoted, Refusal } from "../refusal.js";
import { type Layer, listed } from "./layers.js";
import { type Matrix, type Read, zeros } from "./numbers.js";

export type Make = (read: Read) => Float32Array;

interface Parameter {
  readonly shape: readonly number[];
  readonly from: readonly Tensor[];
  readonly make: Make;
}

interface Question { readonly key: string; readonly values: readonly unknown[]; readonly text: string; readonly why: string }

export class Model {
  readonly parameters = new Map<string, Parameter>();
  readonly questions: Question[] = [];
  readonly assumed: string[] = [];
  readonly given: Json;

  constructor(given: Json) {
    this.given = given;
  }

  /** The caller's value, or a question whose answer is awaited. */
  ask<Value>(name: string, values: readonly Value[], why: string, text = values.join(", ").replace(/, ([^,]*)$/, " or $1")): Value | undefined {
    const told = this.given[name] ?? undefined;
    if (told !== undefined) return told as Value;
    if (values.length === 1 && text !== "[rows, columns]") return values[0];
    this.questions.push({ key: name, values, text, why });
    return undefined;
  }

  assume<Value>(name: string, value: Value): Value {
    const told = this.given[name] ?? undefined;
    if (told !== undefined) return told as Value;
    this.assumed.push(name);
    return value;
  }

  put(name: string, shape: readonly number[], from: readonly Tensor[], make: Make): void {
    this.parameters.set(name, { shape, from, make });
  }

  putMatrix(name: string, matrix: Matrix): void {
    this.put(`${name}.weight`, [matrix.rows, matrix.columns], matrix.from.filter(({ shape: { length } }) => length > 1), matrix.weight);
    this.put(`${name}.bias`, [matrix.rows], matrix.from.filter((tensor) => tensor.shape.length === 1), matrix.bias ?? zeros(matrix.rows));
  }

  putNorm(name: string, { weight, bias }: Layer): void {
    this.put(`${name}.weight`, [weight.count], [weight], (read) => read(weight));
    this.put(`${name}.bias`, [weight.count], bias ? [bias] : [], bias ? (read) => read(bias) : zeros(weight.count));
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
    .map(([name, from]) => `${name} ← ${from.join(" + ")}`).join("\n  ");
  const refusal = new Refusal(`${asked}\nThe tensors were taken for (${depth} blocks):\n  ${table}`);
  return Object.assign(refusal, { questions: questions.map(({ key: name, values }) => ({ key: name, values })), mapping });
}

/** A file under our names. */
export function written(parameters: ReadonlyMap<string, Parameter>, read: Read): Uint8Array[] {
  const header = headerBytes(headerOf([...parameters].map(([name, { shape }]) =>
    [name, { dtype: "F32", shape, size: 4 * shape.reduce((product, length) => product * length, 1) }])));
  return [header, ...[...parameters.values()].map(({ make }) => {
    const { buffer, byteOffset, byteLength } = make(read);
    return new Uint8Array(buffer, byteOffset, byteLength);
  })];
}
