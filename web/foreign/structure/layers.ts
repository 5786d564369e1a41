/** The layers that a file's tensors make, and the words for what is refused. */
import type { Tensor } from "../family.js";
import { Refusal } from "../refusal.js";
import type { Matrix } from "./numbers.js";

type Shaped = Pick<Tensor, "name" | "shape">;

/** A Linear, a convolution or a norm: a weight, whose name and shape it has, and perhaps a bias. */
export interface Layer extends Matrix, Shaped {
  readonly count: number;
  /** The name in front of .weight, in lower case. */
  readonly path: string;
}

export const refuse = (what: string) => new Refusal(what, "bad_tensor");
/** Leaves out layers that were never trained, if there are more than `most`. */
export type Living = (layers: readonly Layer[], most: number) => Layer[];

export const cut = (text: unknown) => `"${String(text).slice(0, 120)}"`;
export const signatures = (...tensors: readonly Shaped[]) => tensors.slice(0, 24).map(({ name, shape }) => `${cut(name)} (${shape.join()})`).join(" and ");
export const unused = (...tensors: readonly Shaped[]) => refuse(`nothing here uses ${signatures(...tensors)}`);
export const uncomputed = (what: string) => refuse(`${what} is not computed here`);

/** The one in a list, if there is any. */
export function only<One extends Shaped>(tensors: readonly One[], what: string): One | undefined {
  if (tensors.length > 1) throw refuse(`expected one ${what}, got ${signatures(...tensors)}`);
  return tensors[0];
}

/** The shape without dimensions of 1 in front. */
export const squeezed = ({ shape }: Shaped) => shape.slice(Math.max(0, shape.findIndex((length) => length !== 1)));

/** By the last part of a weight's name, that of its bias. Only with a bias the last four are weights. */
const BIASES: ReadonlyMap<string, string> = new Map([
  ["in_proj_weight", "in_proj_bias"], ["weight", "bias"], ["kernel", "bias"], ["alpha", "bias"], ["gamma", "beta"], ["a_2", "b_2"], ["scale", "shift"],
]);

export const byName = <One extends Tensor>(tensors: readonly One[]): ReadonlyMap<string, One> => new Map(tensors.map((tensor) => [tensor.name, tensor]));

/** Joins weights with their biases. What is left are parameters of their own. */
export function layersOf(all: ReadonlyMap<string, Tensor>): { layers: Layer[]; alone: [string, Tensor][] } {
  const layers: Layer[] = [];
  for (const [name, tensor] of all) {
    const [, before = "", last = ""] = /^(.*\.)?(.*)$/s.exec(name)!;
    const other = BIASES.get(last);
    if (!other) continue;
    const bias = (last === "alpha" && all.get(`${before}beta`)) || all.get(before + other);
    if (!bias && !other.endsWith("bias")) continue;
    const { shape, count } = tensor, rows = shape[0]!, from = [[tensor], bias ? [bias] : []];
    layers.push({ // member by member, which is twice as fast as spreading the tensor
      name: tensor.name, shape, count, path: (last === "in_proj_weight" ? `${before}in_proj` : before.slice(0, -1)).toLowerCase(), rows, columns: count / rows, from,
      make: (read, which) => from[which]!.map(read)[0] ?? new Float32Array(rows),
    });
  }
  const inLayers = new Set(layers.flatMap(({ from }) => from.flat()));
  return { layers, alone: [...all].filter(([, tensor]) => !inLayers.has(tensor)) };
}

/** A class token may lie in a module of positions. */
export const isPosition = (name: string) => /^(?!.*(cls|class)(?!\w*pos)\w*$).*(pos|(^|[._])w?pe($|[._]))/i.test(name);

/** Whether it is a norm's. A row with a bias of one number, or with none, is a Linear's with one output. */
export const isVector = (layer: Layer) => squeezed(layer).length === 1 && (layer.shape.length !== 2 || (layer.from[1]![0]?.count ?? 1) > 1);

/** The norms, and the matrices. */
export const apart = (layers: readonly Layer[]) => [layers.filter(isVector), layers.filter((layer) => !isVector(layer))] as const;

export const roleOf = (path: string): "q" | "k" | "v" | undefined => {
  for (const part of path.split(".").reverse()) {
    const [, letter] = /^(?:w|to|fc|[a-z]+_)?_?(qu?e?ry|querie|key|valu?e?|[qkv])s?(?:_[a-z]+|proj|lin|linear|layer|map)?s?$/.exec(part) ?? [];
    if (letter) return letter[0] as "q";
  }
  return undefined;
};

/** Takes one layer out of a list. */
export function take(layers: Layer[], test: (layer: Layer) => boolean): Layer | undefined {
  const at = layers.findIndex(test);
  return at < 0 ? undefined : layers.splice(at, 1)[0];
}

/** Takes layers out of a list. They are sorted by path, head.2 before head.10. */
export function takeAll(layers: Layer[], test: (layer: Layer) => boolean): Layer[] {
  const all = layers.filter(test).sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
  all.forEach((layer) => layers.splice(layers.indexOf(layer), 1));
  return all;
}

/** Tests a layer's sizes, and its path by what it must and must not have. */
export const sized = (rows: number, columns?: number, is = /^/, not = /(?!)/) => (layer: Layer) =>
  layer.rows === rows && (columns ?? layer.columns) === layer.columns && is.test(layer.path) && !not.test(layer.path);

/** The path of the module that has a layer. */
export const parent = (layer: Layer | undefined) => layer?.path.replace(/\.?[^.]*$/, "");

/** The names of a Linear that makes queries, keys and values at once. */
export const QKV = /(^|[._])(in_proj|w?qkv|c_attn)/i;
