/** Reads a block: its attention, its MLP, its norms and its scales. */
import type { Tensor } from "../family.js";
import { apart, isVector, type Layer, layersOf, type Living, QKV, refuse, roleOf, signatures, sized, squeezed, take, takeAll, unused } from "./layers.js";
import { identity, type Matrix, moved, product, rowsOf, stacked } from "./numbers.js";

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

/** The width of the tokens: the length that most norms have, or without norms most rows of matrices. */
export function widthOf(block: ReadonlyMap<string, Tensor>): number {
  const weights = layersOf(block).layers, norms = weights.filter(isVector);
  const lengths = (norms.length > 0 ? norms : weights).map(({ shape }) => shape.at(-1)!);
  const votes = (length: number) => lengths.filter((one) => one === length).length;
  return lengths.reduce((most, length) => (votes(length) > votes(most) ? length : most), 0);
}

/** @param living leaves out layers that were never trained. */
export function readBlock(part: ReadonlyMap<string, Tensor>, width: number, living: Living): Block {
  const { layers, alone } = layersOf(part);
  const [vectors, matrices] = apart(layers);
  const norms = living(vectors, 2);
  for (const [name, tensor] of alone) {
    if (squeezed(tensor).join() !== String(width) || !/gamma|scale|ls|lambda/i.test(name)) throw unused(tensor);
  }
  const scales = alone.map(([, tensor]) => tensor);
  const attention = readAttention(matrices, width);
  const mlp = living(matrices, matrices.length % 2 ? 0 : 2);
  const [fc1, fc2] = mlp[0]?.columns === width ? mlp : mlp.reverse();
  const isMlp = fc1 && fc2 ? fc1.columns === width && fc2.rows === width && fc2.columns === fc1.rows : !fc1;
  /** Whether a norm ends the MLP's Sequential, and so is not one around it. */
  const isInside = norms.some(({ path }) => path.slice(0, -1) === fc2?.path.slice(0, -1) && path > fc2.path);
  if (!attention || !isMlp || isInside || mlp.length > 2 || scales.length % 2 || norms.length > 2 || norms.some(({ count }) => count !== width)) throw refuse(
    `expected a block of attention, an MLP of two (no SwiGLU or norm), a norm or two, perhaps two scales; got ${signatures(...part.values())}`,
  );
  const places = norms.map(({ path }) => (/before|att|msa|mha|sa_|(^|\D)1$/.test(path) ? 0 : /after|mlp|ff|fin|(^|\D)2$/.test(path) ? 2 : 1));
  if (places[0]! > places[1]!) norms.reverse();
  return { ...attention, fc1, fc2, norms, scales };
}

/** Takes the attention's layers out of a block's matrices, if they make one. */
function readAttention(matrices: Layer[], width: number): Attention | undefined {
  const threes = matrices.filter(({ rows }) => rows === 3 * width).length;
  const fused = take(matrices, ({ path, rows, columns }) => QKV.test(path) && rows % 3 === 0 && columns === width) ??
    take(matrices, sized(3 * width, width, undefined, threes === 1 && matrices.length % 2 === 0 ? undefined : /mlp|ff|fc|feed/));
  const lists = ["q", "k", "v"].map((role) => takeAll(matrices, ({ path }) => roleOf(path) === role));
  const [q] = lists as [Layer[]];
  for (const list of fused || q.length > 0 ? [] : lists) {
    const square = take(matrices, sized(width, width));
    if (square) list.push(square);
  }
  const count = q.length, shape = q[0]?.shape.join(), side = q[0]?.columns ?? width;
  const isEqual = lists.every((list) => list.length === count && list.every((layer) => layer.shape.join() === shape));
  if (!isEqual || (side !== width && side !== width / count) || (fused ? count > 1 || (count && q[0]!.rows !== width) : !count)) return undefined;
  /** A head that reads only its own slice of the token becomes one that reads the whole token. */
  const spread = (layer: Layer, head: number) => (side === width ? layer : moved(layer, width, (values, row, column, length) =>
    length === 1 ? values[row]! : Math.floor(column / side) === head ? values[row * side + column % side]! : 0));
  const apart = count ? lists.map((list) => stacked(list.map(spread))) : undefined;
  const qkv = apart ? stacked(fused ? apart.map((one, at) => product(rowsOf(fused, at * width, width), one)) : apart) : fused!;
  const inner = qkv.rows / 3;
  const proj = take(matrices, sized(width, inner, /out|proj|att|unify|mix|dense|merge|combine|(^|[._])(w?o|fc_?o|msa|mha)/, /mlp|ff|feed/)) ??
    (matrices.length % 2 ? take(matrices, sized(width, inner)) : undefined);
  if (!proj && inner !== width) return undefined;
  const second = fused && apart && matrices.length % 2 ? take(matrices, sized(width, width)) : undefined;
  const out = proj ?? identity(width);
  return {
    qkv, proj: second ? product(second, out) : out, heads: count > 1 ? count : undefined,
    standard: /in_proj/.test(fused?.path ?? ""), fused: !apart,
  };
}
