/** Finds the block that a file repeats. */
import type { Tensor } from "../family.js";
import { QKV, refuse, roleOf } from "./layers.js";

const MOST_BLOCK_TENSORS = 400;

export interface Blocks {
  /** Each block's tensors by their names without the block's own. */
  readonly blocks: Parts;
  readonly outside: readonly Tensor[];
}

const isMatrix = ({ shape }: Tensor) => shape.length === 2;
const key = ({ shape, dtype }: Tensor) => `${dtype} ${shape.join()}`;

/** The numbered group of equal parts that has most tensors, among them a matrix three times as long as wide or several squares. */
export function findBlocks(tensors: readonly Tensor[]): Blocks {
  /** By the name before a number: the parts by their numbers. */
  const groups = new Map<string, Map<number, Map<string, Tensor>>>();
  for (const tensor of tensors) {
    const numbers = /\d+(?=\.)/g;
    for (let found, depth = 0; (found = numbers.exec(tensor.name)) && depth < 4; depth++) {
      const before = tensor.name.slice(0, found.index);
      const group = groups.get(before) ?? new Map<number, Map<string, Tensor>>();
      groups.set(before, group);
      const part = group.get(Number(found[0])) ?? new Map<string, Tensor>();
      group.set(Number(found[0]), part);
      part.set(tensor.name.slice(found.index + found[0].length + 1), tensor);
    }
  }
  const lists = [...groups].map(([before, group]) => ({ before, parts: [...group].sort(([a], [b]) => a - b).map(([, part]) => part) }));
  const sized = lists.map(({ parts }) => ({ parts, count: tensorsIn(parts).size }))
    .filter(({ count }) => count >= 4).sort((a, b) => b.count - a.count).slice(0, 200);
  let best: Parts | undefined;
  for (const { parts } of sized) {
    best = sameParts(parts) ? parts : pairedParts(parts);
    if (best && attends(best[0]!)) break;
    best = undefined;
  }
  best ??= loneBlock(tensors);
  if (!best) throw refuse("no repeated part of the file has queries, keys and values");
  const blocks = parallel(best, lists);
  const inside = tensorsIn(blocks);
  return { blocks, outside: tensors.filter((tensor) => !inside.has(tensor)) };
}

type Part = ReadonlyMap<string, Tensor>;
type Parts = readonly Part[];

const tensorsIn = (parts: Parts) => new Set(parts.flatMap((part) => [...part.values()]));

function sameParts(parts: Parts): boolean {
  const [first] = parts;
  return parts.every((part) => part.size === first!.size && [...first!].every(([name, tensor]) => {
    const other = part.get(name);
    return other !== undefined && key(other) === key(tensor);
  }));
}

/** Attention and MLP as parts by turns: 0 and 1 are a block, 2 and 3 the next. */
function pairedParts(parts: Parts): Parts | undefined {
  if (parts.length % 2) return undefined;
  const joined = Array.from({ length: parts.length / 2 }, (_, at) => new Map(
    [0, 1].flatMap((turn) => [...parts[2 * at + turn]!].map(([name, tensor]) => [`${turn}.${name}`, tensor] as const)),
  ));
  return sameParts(joined) ? joined : undefined;
}

const isQkv = (name: string, { shape }: Tensor) => QKV.test(name) || (shape.length === 2 && shape[0] === 3 * shape[1]!);

const attends = (part: Part) => part.size <= MOST_BLOCK_TENSORS && (
  [...part].some(([name, tensor]) => isQkv(name, tensor)) ||
  [...part.values()].filter((tensor) => isMatrix(tensor) && tensor.shape[0] === tensor.shape[1]).length >= 3 ||
  [...part.keys()].filter((name) => roleOf(name.toLowerCase().replace(/\.\w+$/, ""))).length >= 3);

/** A single block without a number: what shares the name in front of the attention's. */
function loneBlock(tensors: readonly Tensor[]): Parts | undefined {
  const names = tensors.find((tensor) => isQkv(tensor.name, tensor))?.name.split(".") ?? [];
  for (let parts = names.length - 2; parts > 0; parts--) {
    const before = `${names.slice(0, parts).join(".")}.`;
    const inside = tensors.filter(({ name }) => name.startsWith(before));
    if (inside.length >= 8) return [new Map(inside.map((tensor) => [tensor.name.slice(before.length), tensor]))];
  }
  return undefined;
}

/** Lists side by side, such as attentions.0, mlps.0 and norms.0: their equal numbers are one block. */
function parallel(blocks: Parts, lists: readonly { readonly before: string; readonly parts: Parts }[]): Parts {
  if (blocks.length < 2 || [...blocks[0]!.values()].filter(isMatrix).length > 4) return blocks;
  const own = tensorsIn(blocks);
  const joined = blocks.map((block) => new Map(block));
  for (const { before, parts } of lists) {
    const all = [...tensorsIn(parts)];
    if (parts.length !== blocks.length || !sameParts(parts) || all.some((tensor) => own.has(tensor))) continue;
    all.forEach((tensor) => own.add(tensor));
    parts.forEach((part, at) => part.forEach((tensor, name) => joined[at]!.set(before + name, tensor)));
  }
  return joined;
}

/** A layer that nn.TransformerEncoder only copied, which stays in the file beside the copies. */
export function templateIn(outside: readonly Tensor[], block: Part): readonly Tensor[] {
  const [[end, { shape }]] = [...block] as [[string, Tensor]];
  const names = new Map(outside.map((tensor) => [tensor.name, tensor]));
  for (const { name } of outside.filter((tensor) => tensor.name.endsWith(`.${end}`) && tensor.shape.join() === shape.join())) {
    const before = name.slice(0, -end.length);
    const all = [...block.keys()].map((one) => names.get(before + one));
    if (all.every((tensor) => tensor)) return all as Tensor[];
  }
  return [];
}
