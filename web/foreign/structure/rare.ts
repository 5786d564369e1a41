/**
 * What few models need that are read by structure: several stacks, a decoder among them, a block without a number,
 * the caller's own map, numbers of other types than F32. This is a bundle of its own, which shares code with structure.js.
 */
import type { Mapping } from "../../config.js";
import type { Tensor } from "../family.js";
import { findStacks, isMatrix, isQkv, roleIn, type Stack } from "./blocks.js";
import { byName, cut, refuse, shown } from "./layers.js";
import { badConfig, type Model } from "./model.js";

export { decoderIn } from "./decoder.js";
export { isOfOthers, stackOf } from "./several.js";
export { readNumbers } from "./types.js";

/** Keys that only this bundle reads. */
export const OWN = "decoder_activation decoder_embedding_scale decoder_heads decoder_max_tokens decoder_norm decoder_norm_eps map".split(" ");

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

/** Makes parameters of the tensors that the caller's map names, which must be of the same shapes. */
export function replaceBy(map: Mapping, { parameters }: Model, tensors: readonly Tensor[]): void {
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
