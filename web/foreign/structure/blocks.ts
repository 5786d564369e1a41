/** Finds the block that a file repeats. */
import type { Tensor } from "../family.js";
import { QKV, refuse, roleOf } from "./layers.js";

const MOST_BLOCK_TENSORS = 400;

export interface Blocks {
  /** Each block's tensors by their names without the block's own. */
  readonly blocks: readonly ReadonlyMap<string, Tensor>[];
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
  let best: readonly ReadonlyMap<string, Tensor>[] = [];
  let most = 0;
  const sized = [...groups.values()]
    .map((group) => ({ group, count: [...group.values()].reduce((sum, { size }) => sum + size, 0) }))
    .filter(({ count }) => count >= 4).sort((a, b) => b.count - a.count).slice(0, 200);
  for (const { group, count } of sized) {
    const parts = [...group].sort(([a], [b]) => a - b).map(([, part]) => part);
    if (count <= most) break;
    const alike = sameParts(parts) ? parts : pairedParts(parts);
    if (alike && attends(alike[0]!)) {
      best = alike;
      most = count;
    }
  }
  if (most === 0) best = loneBlock(tensors);
  if (best.length === 0) throw refuse("no repeated part of the file has queries, keys and values");
  const blocks = parallel(best, groups) ?? best;
  const inside = new Set(blocks.flatMap((block) => [...block.values()]));
  return { blocks, outside: tensors.filter((tensor) => !inside.has(tensor)) };
}

function sameParts(parts: readonly ReadonlyMap<string, Tensor>[]): boolean {
  const [first] = parts;
  return parts.every((part) => part.size === first!.size && [...first!].every(([name, tensor]) => {
    const other = part.get(name);
    return other !== undefined && key(other) === key(tensor);
  }));
}

/** Attention and MLP as parts by turns: 0 and 1 are a block, 2 and 3 the next. */
function pairedParts(parts: readonly ReadonlyMap<string, Tensor>[]): ReadonlyMap<string, Tensor>[] | undefined {
  if (parts.length % 2) return undefined;
  const joined = Array.from({ length: parts.length / 2 }, (_, at) => new Map(
    [0, 1].flatMap((turn) => [...parts[2 * at + turn]!].map(([name, tensor]) => [`${turn}.${name}`, tensor] as const)),
  ));
  return sameParts(joined) ? joined : undefined;
}

const squares = (part: ReadonlyMap<string, Tensor>) => [...part.values()].filter(({ shape }) => shape.length === 2 && shape[0] === shape[1]);

const attends = (part: ReadonlyMap<string, Tensor>) =>
  part.size <= MOST_BLOCK_TENSORS && ([...part].some(([name, { shape }]) => shape.length === 2 && shape[0] === 3 * shape[1]! || QKV.test(name)) ||
    squares(part).length >= 3 || [...part.keys()].filter((name) => roleOf(name.toLowerCase().replace(/\.\w+$/, ""))).length >= 3);

/** A single block without a number: what shares the name in front of the attention's. */
function loneBlock(tensors: readonly Tensor[]): ReadonlyMap<string, Tensor>[] {
  const qkv = tensors.find(({ name, shape }) => shape.length === 2 && (shape[0] === 3 * shape[1]! || QKV.test(name)));
  if (!qkv) return [];
  const names = qkv.name.split(".");
  for (let parts = names.length - 2; parts > 0; parts--) {
    const before = `${names.slice(0, parts).join(".")}.`;
    const inside = tensors.filter(({ name }) => name.startsWith(before));
    if (inside.length < 8) continue;
    return [new Map(inside.map((tensor) => [tensor.name.slice(before.length), tensor]))];
  }
  return [];
}

/** Lists side by side, such as attentions.0, mlps.0 and norms.0: their equal numbers are one block. */
function parallel(
  blocks: readonly ReadonlyMap<string, Tensor>[],
  groups: ReadonlyMap<string, ReadonlyMap<number, ReadonlyMap<string, Tensor>>>,
): readonly ReadonlyMap<string, Tensor>[] | undefined {
  const own = new Set(blocks.flatMap((block) => [...block.values()]));
  if (blocks.length < 2 || [...blocks[0]!.values()].filter(isMatrix).length > 4) return undefined;
  const joined = blocks.map((block) => new Map(block));
  let found = false;
  for (const [before, group] of groups) {
    const parts = [...group].sort(([a], [b]) => a - b).map(([, part]) => part);
    if (parts.length !== blocks.length || !sameParts(parts) || parts.some((part) => [...part.values()].some((tensor) => own.has(tensor)))) continue;
    found = true;
    parts.forEach((part, at) => part.forEach((tensor, name) => {
      own.add(tensor);
      joined[at]!.set(before + name, tensor);
    }));
  }
  return found ? joined : undefined;
}

/** A layer that nn.TransformerEncoder only copied, which stays in the file beside the copies. */
export function templateIn(outside: readonly Tensor[], block: ReadonlyMap<string, Tensor>): readonly Tensor[] {
  const [[end, { shape }]] = [...block] as [[string, Tensor]];
  const names = new Map(outside.map((tensor) => [tensor.name, tensor]));
  for (const { name } of outside.filter((tensor) => tensor.name.endsWith(`.${end}`) && tensor.shape.join() === shape.join())) {
    const before = name.slice(0, -end.length);
    const all = [...block.keys()].map((one) => names.get(before + one));
    if (all.every((tensor) => tensor)) return all as Tensor[];
  }
  return [];
}
