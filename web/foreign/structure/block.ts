/** Reads a block: its attention, its MLP, its norms and its scales. */
import type { Tensor } from "../family.js";
import type { Refusal } from "../refusal.js";
import { isVector, type Layer, layersOf, linear, listed, QKV, refuse, roleOf, shown, squeezed, take, unused, weights } from "./layers.js";
import { type Matrix, product, rowsOf, spread, stacked } from "./numbers.js";

export interface Block {
  readonly qkv: Matrix;
  readonly proj: Matrix;
  readonly fc1: Matrix | undefined;
  readonly fc2: Matrix | undefined;
  readonly norms: readonly Layer[];
  readonly scales: readonly Tensor[];
  readonly heads: number | undefined;
  /** Whether nn.MultiheadAttention made it, whose scale is known. */
  readonly standard: boolean;
  /** Whether one matrix makes queries, keys and values. */
  readonly fused: boolean;
}

/** The width of the tokens: the length that most norms and most matrices' sides have. */
export function widthOf(block: ReadonlyMap<string, Tensor>): number {
  const votes = new Map<number, number>();
  const vote = (length: number, weight: number) => votes.set(length, (votes.get(length) ?? 0) + weight);
  for (const [name, { shape }] of block) {
    const small = squeezed(shape);
    if (small.length === 1 && /norm|ln|gamma|beta/i.test(name)) vote(small[0]!, 3);
    if (shape.length === 2) {
      vote(shape[0]!, 1);
      if (shape[1] !== shape[0]) vote(shape[1]!, 2);
    }
  }
  return [...votes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

export function readBlock(part: ReadonlyMap<string, Tensor>, width: number): Block {
  const { layers, alone } = layersOf(part);
  const fail = (what: string) => refuse(`a block is no ViT's: ${what}; it has ${listed([...part.values()])}`);
  const convolution = layers.find(({ weight }) => squeezed(weight.shape).length > 2 && weight.shape.slice(2).some((side) => side > 1));
  if (convolution) throw refuse(`${shown(convolution.weight)} is a convolution in a block: a hybrid, no plain ViT`);
  const norms = layers.filter((layer) => isVector(layer, width));
  if (norms.length > 2 || norms.length < layers.filter((layer) => isVector(layer)).length) throw fail("expected one norm or two");
  const noBias = norms.find(({ bias }) => !bias);
  if (noBias) throw fail(`${shown(noBias.weight)} has no bias: RMSNorm is not computed here`);
  const scales = alone.filter(([name, { shape }]) => squeezed(shape).length === 1 && squeezed(shape)[0] === width && /gamma|scale|ls|lambda/i.test(name)).map(([, tensor]) => tensor);
  const strange = alone.find(([, tensor]) => !scales.includes(tensor));
  if (strange) throw unused(strange[1]);
  if (scales.length % 2) throw fail("expected two scales");
  const matrices = layers.filter((layer) => !isVector(layer));
  const attention = readAttention(matrices, width, fail);
  if (matrices.length % 2 || matrices.length > 2) throw fail("expected two Linears in its MLP");
  const [fc1, fc2] = matrices[0] && matrices[0].columns !== width ? [matrices[1], matrices[0]] : matrices;
  if (fc1 && fc2 && (fc1.columns !== width || fc2.rows !== width || fc2.columns !== fc1.rows)) {
    throw fail(`${weights([fc1, fc2])} are no MLP: SwiGLU is not computed here`);
  }
  const place = ({ path }: Layer) => (/before|att|msa|mha|sa_|(^|\D)1$/.test(path) ? 0 : /after|mlp|ff|(^|\D)2$/.test(path) ? 2 : 1);
  const sorted = [...norms].sort((a, b) => (norms.length === 2 && place(a) !== 1 && place(b) !== 1 ? place(a) - place(b) : 0));
  return { ...attention, fc1: fc1 && linear(fc1), fc2: fc2 && linear(fc2), norms: sorted, scales };
}

/** Takes the attention's layers out of a block's matrices. */
function readAttention(matrices: Layer[], width: number, fail: (what: string) => Refusal): Pick<Block, "qkv" | "proj" | "heads" | "standard" | "fused"> {
  const identity: Matrix = {
    rows: width, columns: width, from: [], bias: undefined,
    weight: () => Float32Array.from({ length: width * width }, (_, at) => Number(at % (width + 1) === 0)),
  };
  const fused = take(matrices, ({ path, rows, columns }) => QKV.test(path) && rows % 3 === 0 && columns === width) ??
    take(matrices, ({ path, rows, columns }) => rows === 3 * width && columns === width && !/mlp|ff|fc|feed/.test(path)) ??
    (matrices.filter(({ rows }) => rows === 3 * width).length === 1 && matrices.length % 2 === 0 ? take(matrices, ({ rows, columns }) => rows === 3 * width && columns === width) : undefined);
  const roles = { q: [] as Layer[], k: [] as Layer[], v: [] as Layer[] };
  for (const layer of [...matrices]) {
    const role = roleOf(layer.path);
    if (!role) continue;
    roles[role].push(layer);
    matrices.splice(matrices.indexOf(layer), 1);
  }
  let { q, k, v } = roles;
  if (!fused && q.length === 0) {
    const square = matrices.filter(({ rows, columns }) => rows === width && columns === width);
    if (square.length < 3) throw fail("no queries, keys and values");
    [q, k, v] = square.slice(0, 3).map((layer) => [layer]) as [Layer[], Layer[], Layer[]];
    for (const layer of square.slice(0, 3)) matrices.splice(matrices.indexOf(layer), 1);
  }
  const unequal = () => fail("queries, keys and values do not match");
  for (const list of [q, k, v]) {
    list.sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
    if (list.length !== q.length || list.some(({ weight }) => weight.shape.join() !== q[0]!.weight.shape.join())) throw unequal();
  }
  const side = q[0]?.columns ?? width;
  if (side !== width && side !== width / q.length) throw unequal();
  let qkv: Matrix;
  const apart = q.length > 0 ? [q, k, v].map((list) => stacked(list.map((layer, at) => spread(linear(layer), at, list.length, width)))) : undefined;
  if (fused) {
    qkv = linear(fused);
    if (apart) {
      if (q.length > 1 || apart.some(({ rows }) => rows !== width)) throw unequal();
      qkv = stacked(apart.map((one, at) => product(rowsOf(qkv, at * width, width), one)));
    }
  } else qkv = stacked(apart!);
  const inner = qkv.rows / 3;
  const proj = take(matrices, ({ path, rows, columns }) => rows === width && columns === inner && /out|proj|att|unify|mix|dense|merge|combine|(^|[._])(w?o|fc_?o|msa|mha)/.test(path) && !/mlp|ff|feed/.test(path)) ??
    (matrices.length % 2 ? take(matrices, ({ rows, columns }) => rows === width && columns === inner) : undefined);
  if (!proj && inner !== width) throw fail("nothing mixes the heads");
  const second = fused && apart && matrices.length % 2 ? take(matrices, ({ rows, columns }) => rows === width && columns === width) : undefined;
  const out = proj ? linear(proj) : identity;
  return { qkv, proj: second ? product(linear(second), out) : out, heads: q.length > 1 ? q.length : undefined, standard: fused ? /in_proj/.test(fused.path) : false, fused: fused !== undefined && !apart };
}
