/** Finds the blocks that a file repeats. */
import type { Tensor } from "../family.js";
import { QKV, roleOf } from "./layers.js";

const MOST_BLOCK_TENSORS = 400;

/** Blocks that a file repeats. */
export interface Stack {
  /** What stands before the blocks' numbers, without the last dot. */
  readonly name: string;
  /** Each block's tensors by their names without the block's own. */
  readonly blocks: Parts;
}

const MOST_STACKS = 6;

/** The role of a tensor's layer. */
export const roleIn = (name: string) => roleOf(name.toLowerCase().replace(/\.\w+$/, ""));

export const isMatrix = ({ shape }: Tensor) => shape.length === 2;

/** Lists of at least so many equal parts with queries, keys and values, which differ in a `part` of their names. The largest is first. */
export function findStacks(tensors: readonly Tensor[], part: RegExp, least: number): readonly Stack[] {
  const lists = listsIn(tensors, part);
  const large = lists.filter(({ parts }) => parts.length >= least).sort((a, b) => b.count - a.count).slice(0, 200);
  const stacks: Stack[] = [], prefixes: string[] = [];
  for (const { before, parts } of large) {
    if (prefixes.some((one) => before.startsWith(one) || one.startsWith(before))) continue;
    const blocks = sameParts(parts) ? parts : pairedParts(parts) ?? parts.filter(attends); // a Sequential may hold a norm too
    if (blocks.length < Math.min(2, parts.length) || !attends(blocks[0]!)) continue;
    if (sameParts(blocks)) stacks.push({ name: before.replace(/[._]$/, ""), blocks: parallel(before, blocks, lists) });
    prefixes.push(before); // blocks that differ are not read one by one
    if (stacks.length === MOST_STACKS) break;
  }
  return stacks;
}

interface List {
  readonly before: string;
  readonly parts: Parts;
  /** How many tensors it has. */
  readonly count: number;
}

/** By the names before a number or a word: the parts of these names, in order. */
function listsIn(tensors: readonly Tensor[], part: RegExp): readonly List[] {
  const groups = new Map<string, Map<string, Map<string, Tensor>>>();
  for (const tensor of tensors) {
    for (const { index, 0: word } of [...tensor.name.matchAll(part)].slice(0, 4)) {
      const before = tensor.name.slice(0, index);
      const group = groups.get(before) ?? new Map<string, Map<string, Tensor>>();
      groups.set(before, group);
      const own = group.get(word) ?? new Map<string, Tensor>();
      group.set(word, own);
      own.set(tensor.name.slice(index + word.length + 1), tensor);
    }
  }
  return [...groups].map(([before, group]) => {
    const parts = [...group].sort(([a], [b]) => Number(a) - Number(b) || 0).map(([, own]) => own);
    return { before, parts, count: tensorsIn(parts).size };
  });
}

export type Part = ReadonlyMap<string, Tensor>;
type Parts = readonly Part[];

export const tensorsIn = (parts: Parts) => new Set(parts.flatMap((part) => [...part.values()]));

const key = (tensor: Tensor | undefined) => `${tensor?.dtype} ${tensor?.shape.join()}`;

const sameParts = (parts: Parts) => parts.every((part) => part.size === parts[0]!.size && [...parts[0]!].every(([name, tensor]) => key(part.get(name)) === key(tensor)));

/** Attention and MLP as parts by turns: 0 and 1 are a block, 2 and 3 the next. */
function pairedParts(parts: Parts): Parts | undefined {
  const joined = parts.filter((_, at) => at % 2).map((part, at) => new Map(
    [parts[2 * at]!, part].flatMap((one, turn) => [...one].map(([name, tensor]) => [`${turn}.${name}`, tensor] as const)),
  ));
  return parts.length === 2 * joined.length && sameParts(joined) ? joined : undefined;
}

export const isQkv = (name: string, { shape }: Tensor) => QKV.test(name) || (shape.length === 2 && shape[0] === 3 * shape[1]!);

const attends = (part: Part) => part.size <= MOST_BLOCK_TENSORS && (
  [...part].some(([name, tensor]) => isQkv(name, tensor)) ||
  [...part.values()].filter((tensor) => isMatrix(tensor) && tensor.shape[0] === tensor.shape[1]).length >= 3 ||
  [...part.keys()].filter(roleIn).length >= 3);

/** What stands before a list's own name. */
const outer = (before: string) => before.replace(/[^.]+\.?$/, "");

/** Lists side by side, such as attentions.0, mlps.0 and norms.0: their equal numbers are one block. */
function parallel(own: string, blocks: Parts, lists: readonly List[]): Parts {
  if (blocks.length < 2 || [...blocks[0]!.values()].filter(isMatrix).length > 4) return blocks;
  const used = tensorsIn(blocks);
  const joined = blocks.map((block) => new Map(block));
  for (const { before, parts } of lists) {
    const all = [...tensorsIn(parts)];
    if (parts.length !== blocks.length || outer(before) !== outer(own) || !sameParts(parts) || attends(parts[0]!) || all.some((tensor) => used.has(tensor))) continue;
    all.forEach((tensor) => used.add(tensor));
    parts.forEach((part, at) => part.forEach((tensor, name) => joined[at]!.set(before + name, tensor)));
  }
  return joined;
}

/** A layer that nn.TransformerEncoder only copied, which stays in the file beside the copies. */
export function templateIn(outside: readonly Tensor[], block: Part): readonly Tensor[] {
  const found = [...block].map(([end, { shape }]) => outside.find((tensor) => tensor.name.endsWith(`.${end}`) && tensor.shape.join() === shape.join()));
  return found.every((tensor) => tensor) ? found as Tensor[] : [];
}
