/** The layers that a file's tensors make, and the words for what is refused. */
import type { Tensor } from "../family.js";
import { Refusal } from "../refusal.js";
import type { Matrix } from "./numbers.js";

/** A Linear, a convolution or a norm: a weight and perhaps a bias. */
export interface Layer {
  /** The name in front of .weight, in lower case. */
  readonly path: string;
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly rows: number;
  readonly columns: number;
}

export const refuse = (what: string) => new Refusal(what, "bad_tensor");
export const shown = ({ name, shape }: Tensor) => `"${name.slice(0, 120)}" (${shape.join()})`;
export const listed = (tensors: readonly Tensor[]) => tensors.slice(0, 24).map(shown).join(" and ");
export const weights = (layers: readonly Layer[]) => listed(layers.map(({ weight }) => weight));
export const unused = (tensor: Tensor) => refuse(`nothing here uses ${shown(tensor)}`);

/** The one in a list, if there is any. */
export function only(tensors: readonly Tensor[], what: string): Tensor | undefined {
  if (tensors.length > 1) throw refuse(`expected one ${what}, got ${listed(tensors)}`);
  return tensors[0];
}

/** The shape without dimensions of 1 in front. */
export const squeezed = (shape: readonly number[]) => shape.slice(Math.max(0, shape.findIndex((length) => length !== 1)));

const ENDINGS: readonly [weight: RegExp, bias: string][] = [
  [/(^|[._])in_proj_weight$/, "in_proj_bias"], [/(^|\.)weight$/, "bias"], [/(^|\.)gamma$/, "beta"], [/(^|\.)a_2$/, "b_2"],
  [/(^|\.)scale$/, "shift"], [/(^|\.)kernel$/, "bias"], [/(^|\.)alpha$/, "beta"], [/(^|\.)alpha$/, "bias"],
];

/** Joins weights with their biases. What is left are parameters of their own. */
export function layersOf(named: Iterable<readonly [string, Tensor]>): { layers: Layer[]; alone: [string, Tensor][] } {
  const all = new Map(named);
  const layers: Layer[] = [];
  const taken = new Set<string>();
  for (const [name, weight] of all) {
    for (const [ending, other] of ENDINGS) {
      if (!ending.test(name)) continue;
      const before = name.replace(/[^.]*$/, "");
      const bias = all.get(before + other);
      if (other !== "bias" && other !== "in_proj_bias" && !bias) continue;
      layers.push({ path: (other === "in_proj_bias" ? `${before}in_proj` : before.slice(0, -1)).toLowerCase(), weight, bias, rows: weight.shape[0]!, columns: weight.count / weight.shape[0]! });
      taken.add(name);
      if (bias) taken.add(before + other);
      break;
    }
  }
  return { layers, alone: [...all].filter(([name]) => !taken.has(name)) };
}

export const isVector = ({ weight }: Layer, width?: number) => {
  const shape = squeezed(weight.shape);
  return shape.length === 1 && (width === undefined || shape[0] === width);
};

export const roleOf = (path: string): "q" | "k" | "v" | undefined => {
  const parts = path.split(".").filter((part) => !/^\d+$/.test(part)).reverse();
  for (const part of parts) {
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

/** The path of the module that has a layer. */
export const parent = (layer: Layer | undefined) => layer?.path.replace(/\.?[^.]*$/, "");

export const linear = (layer: Layer): Matrix => ({
  ...layer,
  from: [layer.weight, ...(layer.bias ? [layer.bias] : [])],
  weight: (read) => read(layer.weight),
  bias: layer.bias && ((read) => read(layer.bias!)),
});

/** The names of a Linear that makes queries, keys and values at once. */
export const QKV = /(^|[._])(in_proj|w?qkv|c_attn)/i;
