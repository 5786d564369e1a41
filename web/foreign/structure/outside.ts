/** Reads what lies outside the blocks: tokens and positions, patches, the last norm and the head. */
import type { Tensor } from "../family.js";
import { isVector, type Layer, layersOf, only, parent, refuse, shown, sized, squeezed, take, unused, weights } from "./layers.js";
import type { Model } from "./model.js";
import { type Matrix, product } from "./numbers.js";

/** What makes a patch's numbers a token. */
export interface Patches {
  /** Of two layers, their product. */
  readonly matrix: Matrix;
  /** The weight that reads the pixels, in messages. */
  readonly tensor: Tensor;
  readonly isConvolution: boolean;
}

/** Norms outside the blocks by our names. `fc_norm` is the second after the blocks. */
export type Norms = Readonly<Record<"patch_embed.norm_in" | "patch_embed.norm" | "norm_pre" | "norm" | "fc_norm", Layer | undefined>>;

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
  readonly norms: Norms;
  readonly head: Head;
}

/**
 * @param isEarly whether a tensor lies before the blocks in the file.
 * @param living leaves out layers that were never trained.
 */
export function readOutside(
  tensors: readonly Tensor[], width: number, model: Model, isEarly: (tensor: Tensor) => boolean, living: (layers: Layer[]) => Layer[],
): Outside {
  const { layers, alone } = layersOf(tensors.map((tensor) => [tensor.name, tensor] as const));
  const { token, position } = readPlaces(layers, alone, width);
  const matrices = layers.filter((layer) => layer.tensor.shape.length === 2 && !isVector(layer));
  const patches = readPatches(layers.filter(({ tensor: { shape } }) => shape.length > 2), matrices, tensors, width);
  let vectors = layers.filter((layer) => isVector(layer));
  if (vectors.length > 1) vectors = living(vectors);
  return { token, position, patches, norms: readNorms(vectors, patches, width, model, isEarly), head: readHead(matrices.length > 1 ? living(matrices) : matrices, width, model) };
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

/** Where the norms stand: after the blocks, unless their names or their place in the file say otherwise. */
function readNorms(norms: Layer[], { matrix: { columns }, isConvolution }: Patches, width: number, model: Model, isEarly: (tensor: Tensor) => boolean): Norms {
  const isNamed = norms.filter(({ path }) => /patch/.test(path)).length > 1;
  const pixels = isConvolution || (columns === width && !isNamed) ? undefined : take(norms, sized(columns, undefined, columns === width ? /patch/ : undefined));
  const patches = take(norms, sized(width, undefined, /patch/));
  const early = norms.filter(({ path, tensor }) => isEarly(tensor) || /emb|input|(^|[._])pre(?![a-z])/.test(path));
  const late = norms.filter((norm) => !early.includes(norm));
  const strange = norms.find(({ tensor }) => tensor.count !== width);
  if (strange) throw refuse(`${weights([strange])} is no LayerNorm of a token`);
  only(early.map(({ tensor }) => tensor), "norm before the blocks");
  const [norm] = early;
  const places = [...(late.length < 2 ? ["last"] : []), ...(late.length < 2 && /final|last|post|out/.test(norm?.path ?? "") ? [] : ["tokens", ...(patches ? [] : ["patches"])])];
  const place = norm && (model.ask("early_norm", places, `${weights(early)} may follow the blocks, the tokens with their positions or the patches alone`) ?? places[0]);
  if (place === "last") late.unshift(norm!);
  if (late.length > 2) throw refuse(`expected at most two norms after the blocks, got ${weights(late)}`);
  return {
    "patch_embed.norm_in": pixels, "patch_embed.norm": place === "patches" ? norm : patches, norm_pre: place === "tokens" ? norm : undefined, norm: late[0], fc_norm: late[1],
  };
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
