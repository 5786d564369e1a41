/** Reads what lies outside the blocks: tokens and positions, patches, the last norm and the head. */
import type { Tensor } from "../family.js";
import { isVector, type Layer, layersOf, linear, only, refuse, shown, squeezed, take, unused, weights } from "./layers.js";
import type { Model } from "./model.js";
import { type Matrix, product } from "./numbers.js";

/** What makes a patch's numbers a token. */
export interface Patches {
  readonly matrix: Matrix;
  readonly layer: Layer;
  readonly isConvolution: boolean;
  /** Norms of a patch's numbers and of its token: both or none. */
  readonly norms: readonly [] | readonly [Layer, Layer];
}

export interface Head {
  /** Of two Linears with nothing between them, their product; undefined without a head. */
  readonly matrix: Matrix | undefined;
  readonly hidden: { readonly layer: Matrix; readonly activation: unknown } | undefined;
  readonly layer: Layer | undefined;
  /** How many numbers it reads. */
  readonly reads: number | undefined;
}

export interface Outside {
  readonly token: Tensor | undefined;
  readonly position: Tensor | undefined;
  readonly patches: Patches;
  readonly norm: Layer | undefined;
  readonly head: Head;
}

/** @param isDead whether a norm was never trained; `leave` is called for such ones that are one too many. */
export function readOutside(tensors: readonly Tensor[], width: number, model: Model, isDead: (norm: Layer) => boolean, leave: (norm: Layer) => void): Outside {
  const { layers, alone } = layersOf(tensors.map((tensor) => [tensor.name, tensor] as const));
  const { token, position } = readPlaces(layers, alone, width);
  const matrices = layers.filter(({ weight }) => weight.shape.length === 2 && squeezed(weight.shape).length === 2);
  const found = readPatches(layers.filter(({ weight }) => weight.shape.length > 2), matrices, tensors, width);
  const vectors = layers.filter((layer) => isVector(layer));
  const norms = patchNorms(vectors, found, width);
  let last = vectors.filter((layer) => !(norms as readonly Layer[]).includes(layer));
  if (last.length > 1) {
    last.filter(isDead).forEach(leave);
    last = last.filter((layer) => !isDead(layer));
  }
  const strange = last.find(({ weight, bias }) => weight.count !== width || !bias);
  if (strange) throw refuse(`${shown(strange.weight)} is no LayerNorm of a token`);
  only(last.map(({ weight }) => weight), "norm after the blocks");
  return { token, position, patches: { ...found, norms }, norm: last[0], head: readHead(matrices, width, model) };
}

const isPosition = (name: string) => /pos|(^|[._])pe($|[._])/i.test(name);

function readPlaces(layers: Layer[], alone: readonly [string, Tensor][], width: number): Pick<Outside, "token" | "position"> {
  const rows = ({ count }: Tensor) => count / width;
  const wide = alone.filter(([, { shape }]) => squeezed(shape).at(-1) === width || (shape.length === 2 && shape[0] === width && shape[1] === 1));
  const embedding = take(layers, ({ path, weight, bias }) => !bias && isPosition(path) && weight.shape.length === 2 && weight.shape[1] === width);
  const isToken = ([name, tensor]: readonly [string, Tensor]) => rows(tensor) === 1 && !isPosition(name);
  const unknown = alone.find((one) => !wide.includes(one));
  if (unknown) throw unused(unknown[1]);
  const places = wide.filter((one) => !isToken(one)).map(([, tensor]) => tensor);
  return {
    token: only(wide.filter(isToken).map(([, tensor]) => tensor), "class token"),
    position: only([...(embedding ? [embedding.weight] : []), ...places], "table of positions"),
  };
}

const isHead = (path: string) => /head|classif|(^|[._])(fc|out|logits|cls)|final/.test(path) && !/patch|embed/.test(path);
const isPatch = (path: string) => /patch|embed|proj|token|input|stem|map/.test(path) && !isHead(path);

/** Takes what makes patches out of the matrices. */
function readPatches(convolutions: readonly Layer[], matrices: Layer[], order: readonly Tensor[], width: number): Omit<Patches, "norms"> {
  if (convolutions.length > 1) throw refuse(`${weights(convolutions)} are convolutions one after the other: a hybrid, no plain ViT`);
  const [conv] = convolutions;
  if (conv) {
    if (conv.weight.shape.length !== 4) throw refuse(`${shown(conv.weight)} is no convolution of images`);
    const square = matrices.some(({ path, rows, columns }) => rows === width && columns === width && isPatch(path));
    if (conv.rows === width && !square) return { matrix: linear(conv), layer: conv, isConvolution: true };
    const after = take(matrices, ({ path, rows, columns }) => rows === width && columns === conv.rows && !isHead(path));
    if (!after) throw refuse(`${shown(conv.weight)} makes no tokens of ${width} numbers`);
    return { matrix: product(linear(after), linear(conv)), layer: conv, isConvolution: true };
  }
  const makesTokens = ({ rows }: Layer) => rows === width;
  const layer = take(matrices, (one) => makesTokens(one) && isPatch(one.path)) ??
    take(matrices, (one) => makesTokens(one) && !isHead(one.path)) ?? take(matrices, makesTokens);
  if (!layer) throw refuse(`nothing makes tokens of ${width} numbers`);
  const other = take(matrices, ({ path, rows }) => rows === layer.columns && isPatch(path));
  if (!other) return { matrix: linear(layer), layer, isConvolution: false };
  const isFirst = order.indexOf(other.weight) < order.indexOf(layer.weight) || other.columns !== width;
  const [before, after] = isFirst ? [other, layer] : [layer, other];
  return { matrix: product(linear(after), linear(before)), layer, isConvolution: false };
}

function patchNorms(vectors: readonly Layer[], { matrix, isConvolution }: Omit<Patches, "norms">, width: number): Patches["norms"] {
  const numbers = matrix.columns;
  const found = vectors.filter(({ path, weight }) => /patch/.test(path) || (weight.count !== width && weight.count === numbers));
  if (found.length === 0) return [];
  const before = found.find(({ weight }) => weight.count === numbers && !isConvolution && (numbers !== width || found.length > 1));
  const after = found.find((layer) => layer !== before && layer.weight.count === width);
  const other = found.find((layer) => layer !== before && layer !== after);
  if (other) throw unused(other.weight);
  if (!before || !after || isConvolution) throw refuse(`${weights(found)}: such a norm is not computed here`);
  return [before, after];
}

function readHead(matrices: readonly Layer[], width: number, model: Model): Head {
  const [layer, second] = matrices;
  if (!layer) return { matrix: undefined, hidden: undefined, layer, reads: undefined };
  const head = second ? readTwo([layer, second], width, model) : { matrix: linear(layer), hidden: undefined };
  const reads = (head.hidden?.layer ?? head.matrix).columns;
  if (matrices.length > 2 || (reads !== width && reads !== 2 * width)) throw refuse(`${weights(matrices)} are no head of tokens of ${width} numbers`);
  return { ...head, layer, reads };
}

/** Two Linears, which may have an activation between them. */
function readTwo(both: readonly [Layer, Layer], width: number, model: Model) {
  const [a, b] = both[0].columns === width && both[1].columns === both[0].rows ? both : [both[1], both[0]];
  if (a.columns !== width || b.columns !== a.rows) throw refuse(`${weights(both)} are no head of tokens of ${width} numbers`);
  const activation = model.ask("head_activation", ["none", "tanh", "gelu", "relu"], `${weights(both)} are a head with a hidden layer`);
  if (activation === undefined || activation === "none") return { matrix: product(linear(b), linear(a)), hidden: undefined };
  return { matrix: linear(b), hidden: { layer: linear(a), activation } };
}
