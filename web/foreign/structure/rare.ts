/**
 * What few models need that are read by structure: several stacks, a decoder among them, a block without a number,
 * the caller's own map, numbers of other types than F32. This is a bundle of its own, which shares code with structure.js.
 */
import type { Json } from "../../base/json.js";
import type { Mapping } from "../../config.js";
import type { Tensor } from "../family.js";
import { findStacks, isMatrix, isQkv, roleIn, type Stack } from "./blocks.js";
import { byName, cut, refuse, shown, uncomputed } from "./layers.js";
import { badConfig, type Model } from "./model.js";

export { decoderIn } from "./decoder.js";
export { isOfOthers, stackOf } from "./several.js";
export { readNumbers } from "./types.js";

/** Stacks without numbers: parts told apart by words, or a single block. */
export function otherStacks(tensors: readonly Tensor[]): readonly Stack[] {
  const stacks = findStacks(tensors, /[^.]+(?=\.)/g, 2);
  if (stacks.length > 0) return stacks;
  const blocks = loneBlock(tensors);
  if (!blocks) throw refuse("no blocks have queries, keys and values");
  return [{ name: "", blocks }];
}

/** A single block without a number: what shares the name in front of the attention's. */
function loneBlock(tensors: readonly Tensor[]): Stack["blocks"] | undefined {
  const found = tensors.find((tensor) => isQkv(tensor.name, tensor) || roleIn(tensor.name)), names = found?.name.split(".") ?? [];
  for (let parts = names.length - 2; parts > 0; parts--) {
    const before = `${names.slice(0, parts).join(".")}.`;
    const inside = tensors.filter(({ name }) => name.startsWith(before));
    if (inside.filter(isMatrix).length > (isQkv(found!.name, found!) ? 3 : 4)) return [new Map(inside.map((tensor) => [tensor.name.slice(before.length), tensor]))];
  }
  return undefined;
}

/** Changes a model's parameters as the caller says, and the config for them. */
export function finish({ given, parameters }: Model, tensors: readonly Tensor[], config: Json): Json {
  const isLate = /^n/.test(given.norm_order as string);
  if (isLate) shiftNorms(parameters);
  if (given.map) replaceBy(given.map as Mapping, parameters, tensors);
  return isLate ? { ...config, norm: "post", final_norm: parameters.has("fc_norm.weight") } : config;
}

/** Makes norm(x) + f(norm(x)) of each block norm(x + f(x)): all norms stand one place later, the first before the blocks. */
function shiftNorms(parameters: Model["parameters"]): void {
  const names = ["norm_pre.weight", "norm_pre.bias", ...[...parameters.keys()].filter((name) => /^(blocks.+norm.|norm)\.\w+$/.test(name))];
  if (parameters.has(names[0]!) || names.at(-1) !== "norm.bias") throw uncomputed("such a norm_order without a last norm");
  names.slice(2).forEach((name, at) => parameters.set(names[at]!, parameters.get(name)!));
  names.slice(-2).forEach((name) => parameters.delete(name));
}

/** Makes parameters of the tensors that the caller's map names, which must be of the same shapes. */
function replaceBy(map: Mapping, parameters: Model["parameters"], tensors: readonly Tensor[]): void {
  const named = byName(tensors);
  for (const [name, wanted] of Object.entries(map)) {
    const known = parameters.get(name);
    if (!known) throw unlike(name, "none: the model has no such parameter", wanted);
    const { from, make } = known, to = [wanted].flat().map((one) => named.get(String(one)));
    if (to.length !== from.length || to.some((tensor, at) => tensor?.shape.join() !== from[at]!.shape.join())) throw unlike(name, shown(...from), wanted);
    parameters.set(name, { ...known, from: to as Tensor[], make: (read) => make((tensor) => read(to[from.indexOf(tensor)] ?? tensor)) });
  }
}

const unlike = (name: string, like: string, got: unknown) => badConfig(`map: ${cut(name)}`, `tensors like ${like}`, got);
