/** Reads what lies outside the blocks: tokens and positions, patches, the last norm and the head. */
import type { Tensor } from "../family.js";
import { isVector, type Layer, layersOf, only, parent, refuse, shown, sized, squeezed, take, uncomputed, unused, weights } from "./layers.js";
import type { Model } from "./model.js";
import { type Matrix, product } from "./numbers.js";

/** What makes a patch's numbers a token. */
export interface Patches {
  /** Of two layers, their product. */
  readonly matrix: Matrix;
  /** The weight that reads the pixels, in messages. */
  readonly tensor: Tensor;
  readonly isConvolution: boolean;
  /** Norms of a patch's numbers and of its token: both or none. */
  readonly norms: readonly Layer[];
}

export interface Head {
  /** Of two Linears with nothing between them, their product; undefined without a head. */
  readonly matrix: Matrix | undefined;
  readonly hidden?: Matrix;
  readonly activation?: unknown;
  /** The module that has it. */
  readonly parent?: string | undefined;
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
  const matrices = layers.filter((layer) => layer.tensor.shape.length === 2 && !isVector(layer));
  const found = readPatches(layers.filter(({ tensor: { shape } }) => shape.length > 2), matrices, tensors, width);
  const vectors = layers.filter((layer) => isVector(layer));
  const norms = patchNorms(vectors, found, width);
  let last = vectors.filter((layer) => !norms.includes(layer));
  if (last.length > 1) {
    last.filter(isDead).forEach(leave);
    last = last.filter((layer) => !isDead(layer));
  }
  const strange = last.find(({ tensor, biases: { length } }) => tensor.count !== width || !length);
  if (strange) throw refuse(`${weights([strange])} is no LayerNorm of a token`);
  only(last.map(({ tensor }) => tensor), "norm after the blocks");
  return { token, position, patches: { ...found, norms }, norm: last[0], head: readHead(matrices, width, model) };
}

const isPosition = (name: string) => /pos|(^|[._])pe($|[._])/i.test(name);

function readPlaces(layers: Layer[], alone: readonly [string, Tensor][], width: number): Pick<Outside, "token" | "position"> {
  const embedding = take(layers, ({ path, tensor, columns, biases }) => !biases.length && isPosition(path) && tensor.shape.length === 2 && columns === width);
  const tokens: Tensor[] = [], tables = embedding ? [embedding.tensor] : [];
  for (const [name, tensor] of alone) {
    const { shape, count } = tensor;
    if (squeezed(tensor).at(-1) !== width && !(shape.length === 2 && shape[0] === width && shape[1] === 1)) throw unused(tensor);
    (count === width && !isPosition(name) ? tokens : tables).push(tensor);
  }
  return { token: only(tokens, "class token"), position: only(tables, "table of positions") };
}

const HEAD = /^(?!.*(patch|embed)).*(head|classif|(^|[._])(fc|out|logits|cls)|final)/;
const isPatch = (path: string) => /patch|embed|proj|token|input|stem|map/.test(path) && !HEAD.test(path);

/** Takes what makes patches out of the matrices. */
function readPatches(convolutions: readonly Layer[], matrices: Layer[], order: readonly Tensor[], width: number): Omit<Patches, "norms"> {
  if (convolutions.length > 1) throw refuse(`${weights(convolutions)} are convolutions one after the other: a hybrid, no plain ViT`);
  const [conv] = convolutions;
  if (conv) {
    const made = { tensor: conv.tensor, isConvolution: true };
    if (conv.tensor.shape.length !== 4) throw refuse(`${shown(conv.tensor)} is no convolution of images`);
    const square = matrices.some(({ path, rows, columns }) => rows === width && columns === width && isPatch(path));
    if (conv.rows === width && !square) return { ...made, matrix: conv };
    const after = take(matrices, sized(width, conv.rows, undefined, HEAD));
    if (!after) throw refuse(`${shown(conv.tensor)} makes no tokens of ${width} numbers`);
    return { ...made, matrix: product(after, conv) };
  }
  const layer = take(matrices, ({ rows, path }) => rows === width && isPatch(path)) ??
    take(matrices, sized(width, undefined, undefined, HEAD)) ?? take(matrices, sized(width));
  if (!layer) throw refuse(`nothing makes tokens of ${width} numbers`);
  const made = { tensor: layer.tensor, isConvolution: false };
  const other = take(matrices, ({ path, rows }) => rows === layer.columns && isPatch(path));
  if (!other) return { ...made, matrix: layer };
  const isFirst = order.indexOf(other.tensor) < order.indexOf(layer.tensor) || other.columns !== width;
  return { ...made, matrix: isFirst ? product(layer, other) : product(other, layer) };
}

function patchNorms(vectors: readonly Layer[], { matrix: { columns }, isConvolution }: Omit<Patches, "norms">, width: number): readonly Layer[] {
  const found = vectors.filter(({ path, tensor: { count } }) => /patch/.test(path) || (count !== width && count === columns));
  if (found.length === 0) return [];
  const before = found.find(({ tensor: { count } }) => count === columns && !isConvolution && (columns !== width || found.length > 1));
  const after = found.find((layer) => layer !== before && layer.tensor.count === width);
  const other = found.find((layer) => layer !== before && layer !== after);
  if (other) throw unused(other.tensor);
  if (!before || !after) throw uncomputed(`${weights(found)}: such a norm`);
  return [before, after];
}

/** One Linear, or two, which may have an activation between them. */
function readHead(matrices: readonly Layer[], width: number, model: Model): Head {
  const [first, second] = matrices;
  if (!first) return { matrix: undefined };
  const isFed = ({ columns }: Layer) => columns === width || (!second && columns === 2 * width);
  const [a, b] = !second || (isFed(first) && second.columns === first.rows) ? [first, second] : [second, first];
  if (matrices.length > 2 || !isFed(a) || (b && b.columns !== a.rows)) throw refuse(`${weights(matrices)} are no head of tokens of ${width} numbers`);
  const place = parent(first);
  if (!b) return { matrix: a, parent: place };
  const activation = model.ask("head_activation", ["none", "tanh", "gelu", "relu"], `${weights(matrices)} are a head with a hidden layer`);
  return activation === undefined || activation === "none" ? { matrix: product(b, a), parent: place } : { matrix: b, hidden: a, activation, parent: place };
}
