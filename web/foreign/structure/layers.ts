/** The layers that a file's tensors make, and the words for what is refused. */
import type { Tensor } from "../family.js";
import { Refusal } from "../refusal.js";
import { type Matrix, zeros } from "./numbers.js";

/** A Linear, a convolution or a norm: a weight and perhaps a bias. */
export interface Layer extends Matrix {
  /** The name in front of .weight, in lower case. */
  readonly path: string;
  /** The weight. */
  readonly tensor: Tensor;
}

export const refuse = (what: string) => new Refusal(what, "bad_tensor");
export const shown = ({ name, shape }: Tensor) => `"${name.slice(0, 120)}" (${shape.join()})`;
export const listed = (tensors: readonly Tensor[]) => tensors.slice(0, 24).map(shown).join(" and ");
export const weights = (layers: readonly Layer[]) => listed(layers.map(({ tensor }) => tensor));
export const unused = (tensor: Tensor) => refuse(`nothing here uses ${shown(tensor)}`);
export const uncomputed = (what = "such a norm") => refuse(`${what} is not computed here`);

/** The one in a list, if there is any. */
export function only(tensors: readonly Tensor[], what: string): Tensor | undefined {
  if (tensors.length > 1) throw refuse(`expected one ${what}, got ${listed(tensors)}`);
  return tensors[0];
}

/** The shape without dimensions of 1 in front. */
export const squeezed = ({ shape }: Tensor) => shape.slice(Math.max(0, shape.findIndex((length) => length !== 1)));

/** By the last part of a weight's name, that of its bias. Only with a bias the last four are weights. */
const BIASES: ReadonlyMap<string, string> = new Map([
  ["in_proj_weight", "in_proj_bias"], ["weight", "bias"], ["kernel", "bias"], ["alpha", "bias"], ["gamma", "beta"], ["a_2", "b_2"], ["scale", "shift"],
]);

/** Joins weights with their biases. What is left are parameters of their own. */
export function layersOf(named: Iterable<readonly [string, Tensor]>): { layers: Layer[]; alone: [string, Tensor][] } {
  const all = new Map(named);
  const layers: Layer[] = [];
  for (const [name, tensor] of all) {
    const [, before = "", last = ""] = /^(.*\.)?(.*)$/s.exec(name)!;
    const other = BIASES.get(last);
    if (!other) continue;
    const beta = all.get(`${before}beta`);
    const bias = (last === "alpha" && beta) || all.get(before + other);
    if (!bias && !other.endsWith("bias")) continue;
    const rows = tensor.shape[0]!;
    layers.push({
      path: (last === "in_proj_weight" ? `${before}in_proj` : before.slice(0, -1)).toLowerCase(),
      tensor, rows, columns: tensor.count / rows, from: [tensor], biases: bias ? [bias] : [],
      weight: (read) => read(tensor), bias: bias ? (read) => read(bias) : zeros(rows),
    });
  }
  const taken = new Set(layers.flatMap(({ from, biases }) => [...from, ...biases]));
  return { layers, alone: [...all].filter(([, tensor]) => !taken.has(tensor)) };
}

export const isVector = ({ tensor }: Layer, width?: number) => {
  const [length, ...more] = squeezed(tensor);
  return length !== undefined && more.length === 0 && (width === undefined || length === width);
};

export const roleOf = (path: string): "q" | "k" | "v" | undefined => {
  for (const part of path.split(".").reverse()) {
    const [, letter] = /^(?:w|to|fc|[a-z]+_)?_?(quer(?:y|ie)|key|value|[qkv])s?(?:_[a-z]+|proj|lin|linear|layer|map)?s?$/.exec(part) ?? [];
    if (letter) return letter[0] as "q";
  }
  return undefined;
};

/** Takes one layer out of a list. */
export function take(layers: Layer[], test: (layer: Layer) => boolean): Layer | undefined {
  const at = layers.findIndex(test);
  return at < 0 ? undefined : layers.splice(at, 1)[0];
}

/** Tests a layer's sizes, and its path by what it must and must not have. */
export const sized = (rows: number, columns?: number, is = /^/, not = /(?!)/) => (layer: Layer) =>
  layer.rows === rows && (columns ?? layer.columns) === layer.columns && is.test(layer.path) && !not.test(layer.path);

/** The path of the module that has a layer. */
export const parent = (layer: Layer | undefined) => layer?.path.replace(/\.?[^.]*$/, "");

/** The names of a Linear that makes queries, keys and values at once. */
export const QKV = /(^|[._])(in_proj|w?qkv|c_attn)/i;
