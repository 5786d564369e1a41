/** Reads what lies outside the blocks: tokens and positions, patches, the last norm and the head. */
import type { Tensor } from "../family.js";
import { apart, byName, isPosition, type Layer, layersOf, type Living, only, parent, refuse, signatures, sized, take, takeAll, uncomputed, unused } from "./layers.js";
import type { Model } from "./model.js";
import { type Matrix, product } from "./numbers.js";

/** Norms outside the blocks by our names. `fc_norm` is the second after the blocks. */
export type Norms = Readonly<Record<"patch_embed.norm_in" | "patch_embed.norm" | "norm_pre" | "norm" | "fc_norm", Layer | undefined>>;

export interface HeadLayers {
  /** One Linear, or two with an activation between them, or none. */
  readonly last?: Matrix;
  readonly hidden?: Matrix;
  readonly activation?: string | undefined;
  /** The module that has it. */
  readonly parent?: string | undefined;
}

/** `patches`: what makes a patch's numbers a token; of two layers, their product. */
type Outside = readonly [token: Tensor | undefined, position: Tensor | undefined, patches: Matrix, norms: Norms, head: HeadLayers];

/**
 * @param isEarly whether a tensor lies before the blocks in the file.
 * @param living leaves out layers that were never trained.
 */
export function readOutside(
  tensors: readonly Tensor[], width: number, model: Model, isEarly: (layer: Layer) => boolean, living: Living,
): Outside {
  const { layers, alone } = layersOf(byName(tensors));
  const places = readPlaces(layers, alone, width);
  const [vectors, matrices] = apart(layers.filter(({ shape }) => shape.length < 3));
  const patches = readPatches(layers.filter(({ shape }) => shape.length > 2), matrices, width, model);
  return [...places, patches, readNorms(living(vectors, 1), patches, width, model, isEarly), readHead(living(matrices, 1), width, model)];
}

function readPlaces(layers: Layer[], alone: readonly [string, Tensor][], width: number): readonly [token: Tensor | undefined, position: Tensor | undefined] {
  const embedding = take(layers, ({ path, shape, columns, from }) => !from[1]!.length && isPosition(path) && shape.length === 2 && columns === width);
  const tokens: Tensor[] = [], tables: Tensor[] = embedding ? [...embedding.from[0]!] : [];
  for (const [name, tensor] of alone) {
    const { shape, count } = tensor;
    if (shape.filter((length) => length !== 1).at(-1) !== width) throw unused(tensor);
    (count === width && !isPosition(name) ? tokens : tables).push(tensor);
  }
  return [only(tokens, "class token"), only(tables, "table of positions")];
}

const HEAD = /^(?!.*(patch|embed)).*(head|classif|(^|[._])(fc|out|logits|cls)|final)/;
const isPatch = ({ path }: Layer) => /patch|embed|proj|token|input|stem|map/.test(path) && !HEAD.test(path);

/** Takes what makes patches out of the matrices. */
function readPatches(convolutions: readonly Layer[], matrices: Layer[], width: number, model: Model): Matrix {
  const conv = only(convolutions, "convolution (more are a hybrid)"), order = [...matrices];
  const layer = conv ?? take(matrices, (one) => one.rows === width && isPatch(one)) ?? take(matrices, sized(width, undefined, undefined, HEAD)) ?? take(matrices, sized(width));
  const square = conv?.rows === width && !matrices.some((one) => one.rows === width && one.columns === width && isPatch(one));
  const other = !layer || square ? undefined : take(matrices, conv ? sized(width, conv.rows, undefined, HEAD) : (one) => one.rows === layer.columns && isPatch(one));
  if (!layer || (conv && conv.shape.length !== 4) || (layer.rows !== width && !other)) throw refuse(`nothing makes tokens of ${width} numbers of an image${layer ? `: ${signatures(layer)}` : ""}`);
  if (other && model.assume("patch_activation", "none") !== "none") throw uncomputed("patch_activation");
  const isSecond = other && (conv ?? (order.indexOf(other) > order.indexOf(layer) && other.columns === width));
  return !other ? layer : isSecond ? product(other, layer) : product(layer, other);
}

/** What reads the pixels. */
export const readerOf = ({ from: [weights] }: Matrix) => weights!.at(-1)!;
export const isConvolution = (patches: Matrix) => readerOf(patches).shape.length > 2;

/** Where the norms stand: after the blocks, unless their names or their place in the file say otherwise. */
function readNorms(norms: Layer[], patches: Matrix, width: number, model: Model, isEarly: (layer: Layer) => boolean): Norms {
  const { columns } = patches, isSame = columns === width, isNamed = norms.filter(({ path }) => /patch/.test(path)).length > 1;
  const pixels = isConvolution(patches) || (isSame && !isNamed) ? undefined : take(norms, sized(columns, undefined, isSame ? /patch/ : undefined));
  const tokens = take(norms, sized(width, undefined, /patch/));
  const strange = norms.find(({ count }) => count !== width);
  if (strange) throw unused(strange);
  const early = takeAll(norms, (one) => isEarly(one) || /emb|input|(^|[._])pre(?![a-z])/.test(one.path));
  const norm = only(early, "norm before the blocks"), isLast = norms.length < 2;
  const places = [...isLast ? ["last"] : [], ...isLast && norm && /final|last|post|out/.test(norm.path) ? [] : ["tokens", ...tokens ? [] : ["patches"]]];
  const place = norm && (model.ask("early_norm", places, `${signatures(norm)} may follow the blocks, the tokens with their positions or the patches alone`) ?? places[0]);
  if (place === "last") norms.unshift(norm!);
  const [last, second, ...more] = norms;
  if (more.length > 0) throw unused(...more);
  return { "patch_embed.norm_in": pixels, "patch_embed.norm": place === "patches" ? norm : tokens, norm_pre: place === "tokens" ? norm : undefined, norm: last, fc_norm: second };
}

/** One Linear, or two, which may have an activation between them. */
function readHead(matrices: readonly Layer[], width: number, model: Model): HeadLayers {
  const [first, second] = matrices;
  if (!first) return {};
  const isFed = ({ columns }: Layer) => columns === width || (!second && columns === 2 * width);
  const [a, b] = !second || (isFed(first) && second.columns === first.rows) ? [first, second] : [second, first];
  if (matrices.length > 2 || !isFed(a) || (b && b.columns !== a.rows)) throw unused(...matrices);
  const activation = b && model.ask("head_activation", ["none", "tanh", "gelu", "relu"], `${signatures(...matrices)} are the head`);
  const layers = !b ? { last: a } : (activation ?? "none") === "none" ? { last: product(b, a) } : { hidden: a, last: b };
  return { ...layers, activation, parent: parent(first) };
}
