/** Reads a block: its attention, its MLP, its norms and its scales. */
import type { Tensor } from "../family.js";
import type { Refusal } from "../refusal.js";
import { isVector, type Layer, layersOf, listed, QKV, refuse, roleOf, sized, squeezed, take, unused, weights } from "./layers.js";
import { constant, type Matrix, product, rowsOf, spread, stacked } from "./numbers.js";

interface Attention {
  readonly qkv: Matrix;
  readonly proj: Matrix;
  readonly heads: number | undefined;
  /** Whether nn.MultiheadAttention made it, whose scale is known. */
  readonly standard: boolean;
  /** Whether one matrix makes queries, keys and values. */
  readonly fused: boolean;
}

export interface Block extends Attention {
  readonly fc1: Layer | undefined;
  readonly fc2: Layer | undefined;
  readonly norms: readonly Layer[];
  readonly scales: readonly Tensor[];
}

/** The width of the tokens: the length that most norms and most matrices' sides have. */
export function widthOf(block: ReadonlyMap<string, Tensor>): number {
  const votes = new Map<number, number>();
  const vote = (length: number, weight: number) => votes.set(length, (votes.get(length) ?? 0) + weight);
  for (const [name, tensor] of block) {
    const { shape } = tensor, small = squeezed(tensor);
    if (small.length === 1 && /norm|ln|gamma|beta/i.test(name)) vote(small[0]!, 3);
    if (shape.length === 2) {
      vote(shape[0]!, 1);
      if (shape[1] !== shape[0]) vote(shape[1]!, 2);
    }
  }
  return [...votes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

/** @param living leaves out layers that were never trained. */
export function readBlock(part: ReadonlyMap<string, Tensor>, width: number, living: (layers: Layer[]) => Layer[]): Block {
  const { layers, alone } = layersOf(part);
  const fail = (what: string) => refuse(`a block is no ViT's: ${what}; it has ${listed([...part.values()])}`);
  const convolution = layers.find(({ tensor }) => squeezed(tensor).length > 2 && tensor.shape.slice(2).some((side) => side > 1));
  if (convolution) throw refuse(`${weights([convolution])} is a convolution in a block: a hybrid, no plain ViT`);
  let norms = layers.filter((layer) => isVector(layer, width));
  if (norms.length > 2) norms = living(norms);
  if (norms.length > 2 || layers.some((layer) => isVector(layer) && !isVector(layer, width))) throw fail("expected one norm or two");
  const scales: Tensor[] = [];
  for (const [name, tensor] of alone) {
    if (squeezed(tensor).join() !== String(width) || !/gamma|scale|ls|lambda/i.test(name)) throw unused(tensor);
    scales.push(tensor);
  }
  if (scales.length % 2) throw fail("expected two scales");
  let matrices = layers.filter((layer) => !isVector(layer));
  const attention = readAttention(matrices, width, fail);
  if (matrices.length > 2 || matrices.length % 2) matrices = living(matrices);
  if (matrices.length % 2 || matrices.length > 2) throw fail("expected two Linears in its MLP");
  const [fc1, fc2] = matrices[0]?.columns === width ? matrices : matrices.reverse();
  if (fc1 && fc2 && (fc1.columns !== width || fc2.rows !== width || fc2.columns !== fc1.rows)) {
    throw fail(`${weights([fc1, fc2])} are no MLP: SwiGLU is not computed here`);
  }
  const places = norms.map(({ path }) => (/before|att|msa|mha|sa_|(^|\D)1$/.test(path) ? 0 : /after|mlp|ff|(^|\D)2$/.test(path) ? 2 : 1));
  if (places.join() === "2,0") norms.reverse();
  return { ...attention, fc1, fc2, norms, scales };
}

/** Takes the attention's layers out of a block's matrices. */
function readAttention(matrices: Layer[], width: number, fail: (what: string) => Refusal): Attention {
  const threes = matrices.filter(({ rows }) => rows === 3 * width).length;
  const fused = take(matrices, ({ path, rows, columns }) => QKV.test(path) && rows % 3 === 0 && columns === width) ??
    take(matrices, sized(3 * width, width, undefined, threes === 1 && matrices.length % 2 === 0 ? undefined : /mlp|ff|fc|feed/));
  const roles = { q: [] as Layer[], k: [] as Layer[], v: [] as Layer[] };
  for (const layer of [...matrices]) {
    const role = roleOf(layer.path);
    if (role) roles[role].push(...matrices.splice(matrices.indexOf(layer), 1));
  }
  const lists = Object.values(roles);
  const [q] = lists as [Layer[]];
  if (!fused && q.length === 0) {
    for (const list of lists) {
      const square = take(matrices, sized(width, width));
      if (!square) throw fail("no queries, keys and values");
      list.push(square);
    }
  }
  const unequal = () => fail("queries, keys and values do not match");
  for (const list of lists) {
    list.sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
    if (list.length !== q.length || list.some(({ tensor }) => tensor.shape.join() !== q[0]!.tensor.shape.join())) throw unequal();
  }
  const side = q[0]?.columns ?? width;
  if (side !== width && side !== width / q.length) throw unequal();
  let qkv: Matrix | undefined = fused;
  const apart = q.length > 0 ? lists.map((list) => stacked(list.map((layer, at) => spread(layer, at, list.length, width)))) : undefined;
  if (apart && fused && (q.length > 1 || apart.some(({ rows }) => rows !== width))) throw unequal();
  if (apart) qkv = stacked(fused ? apart.map((one, at) => product(rowsOf(fused, at * width, width), one)) : apart);
  const inner = qkv!.rows / 3;
  const proj = take(matrices, sized(width, inner, /out|proj|att|unify|mix|dense|merge|combine|(^|[._])(w?o|fc_?o|msa|mha)/, /mlp|ff|feed/)) ??
    (matrices.length % 2 ? take(matrices, sized(width, inner)) : undefined);
  if (!proj && inner !== width) throw fail("nothing mixes the heads");
  const second = fused && apart && matrices.length % 2 ? take(matrices, sized(width, width)) : undefined;
  const out = proj ?? constant(width, width, (index) => Number(index % (width + 1) === 0));
  return {
    qkv: qkv!, proj: second ? product(second, out) : out, heads: q.length > 1 ? q.length : undefined,
    standard: fused !== undefined && /in_proj/.test(fused.path), fused: fused !== undefined && !apart,
  };
}
