/** Finds the blocks that a file repeats. */
import type { Tensor } from "../family.js";
import { QKV, refuse, roleOf } from "./layers.js";

const MOST_BLOCK_TENSORS = 400;

/** Blocks that a file repeats. */
export interface Stack {
  /** What stands before the blocks' numbers, without the last dot. */
  readonly name: string;
  /** Each block's tensors by their names without the block's own. */
  readonly blocks: Parts;
}

const MOST_STACKS = 6;

const isMatrix = ({ shape }: Tensor) => shape.length === 2;

/** Lists of equal parts with a matrix three times as long as wide or several squares: numbered ones, or else named ones. The largest is first. */
export function findStacks(tensors: readonly Tensor[]): readonly Stack[] {
  for (const [part, least] of [[/\d+(?=\.)/g, 1], [/[^.]+(?=\.)/g, 2]] as const) {
    const lists = listsIn(tensors, part);
    const sized = lists.filter(({ parts }) => parts.length >= least).map((list) => ({ ...list, count: tensorsIn(list.parts).size }))
      .filter(({ count }) => count >= 4).sort((a, b) => b.count - a.count).slice(0, 200);
    const stacks: (Stack & { readonly before: string })[] = [];
    for (const { before, parts } of sized) {
      const alike = sameParts(parts) ? parts : pairedParts(parts);
      if (!alike || !attends(alike[0]!) || stacks.some((stack) => before.startsWith(stack.before) || stack.before.startsWith(before))) continue;
      stacks.push({ name: before.replace(/[._]$/, ""), before, blocks: parallel(alike, lists) });
      if (stacks.length === MOST_STACKS) break;
    }
    if (stacks.length > 0) return stacks;
  }
  const blocks = loneBlock(tensors);
  if (!blocks) throw refuse("no repeated part of the file has queries, keys and values");
  return [{ name: "", blocks }];
}

/** By the names before a number or a word: the parts of these names, in order. */
function listsIn(tensors: readonly Tensor[], part: RegExp): readonly { readonly before: string; readonly parts: Parts }[] {
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
  return [...groups].map(([before, group]) => ({ before, parts: [...group].sort(([a], [b]) => Number(a) - Number(b) || 0).map(([, own]) => own) }));
}

/** Tests whether a tensor belongs to another stack than the chosen one, by the words in which the stacks' names differ: student.blocks and teacher.blocks, blocks and decoder_blocks. */
export function isOf(other: string, chosen: string): (tensor: Pick<Tensor, "name">) => boolean {
  const [theirs, mine] = [other, chosen].map((name) => name.split(/[._]/)) as [string[], string[]];
  while (theirs.length > 0 && theirs.at(-1) === mine.at(-1)) [theirs, mine].forEach((words) => words.pop());
  const begins = (name: string, words: readonly string[]) => words.join() === name.split(/[._]/, words.length).join();
  return ({ name }) => begins(name, theirs) && !(mine.length > theirs.length && begins(name, mine));
}

export type Part = ReadonlyMap<string, Tensor>;
type Parts = readonly Part[];

export const tensorsIn = (parts: Parts) => new Set(parts.flatMap((part) => [...part.values()]));

const key = (tensor: Tensor | undefined) => `${tensor?.dtype} ${tensor?.shape.join()}`;

const sameParts = (parts: Parts) => parts.every((part) => part.size === parts[0]!.size && [...parts[0]!].every(([name, tensor]) => key(part.get(name)) === key(tensor)));

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
    if (parts.length !== blocks.length || !sameParts(parts) || attends(parts[0]!) || all.some((tensor) => own.has(tensor))) continue;
    all.forEach((tensor) => own.add(tensor));
    parts.forEach((part, at) => part.forEach((tensor, name) => joined[at]!.set(before + name, tensor)));
  }
  return joined;
}

/** A layer that nn.TransformerEncoder only copied, which stays in the file beside the copies. */
export function templateIn(outside: readonly Tensor[], block: Part): readonly Tensor[] {
  const found = [...block].map(([end, { shape }]) => outside.find((tensor) => tensor.name.endsWith(`.${end}`) && tensor.shape.join() === shape.join()));
  return found.every((tensor) => tensor) ? found as Tensor[] : [];
}
