/**
 * What few models need that are read by structure: several stacks, a block without a number, the caller's own map,
 * numbers of other types than F32. This is a bundle of its own, which shares code with structure.js.
 */
import type { Json } from "../../base/json.js";
import type { Mapping } from "../../config.js";
import type { Tensor } from "../family.js";
import type { Refusal } from "../refusal.js";
import type { Block } from "./block.js";
import type { DecoderPart } from "./decoder.js";
import { findStacks, isMatrix, isQkv, roleIn, type Stack } from "./blocks.js";
import { byName, cut, type Living, refuse, signatures, uncomputed } from "./layers.js";
import { badConfig, type Model } from "./model.js";
import { moved } from "./numbers.js";
import { isDecoder, isOfOthers, modulesOf, stackOf } from "./several.js";
import { readNumbers } from "./types.js";

/** A part of foreign.ts. */
type LoadDecoder = (name: "decoder") => Promise<typeof import("./decoder.js")>;

export type Rare = Awaited<ReturnType<typeof rareOf>>;

/** What structure.ts does with a file that is not usual. @param numbered the stacks whose blocks have numbers */
export async function rareOf(numbered: readonly Stack[], tensors: readonly Tensor[], bundle: LoadDecoder) {
  const stacks = numbered.length > 0 ? numbered : otherStacks(tensors), [decoder, ...more] = stacks.filter(isDecoder);
  const reader = decoder && more.length === 0 && stacks.length > 1 ? await bundle("decoder") : undefined;
  return {
    stacks, stackOf, finish, readNumbers, reordered,
    /** Tests whether a tensor belongs to another stack than the chosen one, or, if the caller wants no decoder, to texts. */
    isOfOthers: (stack: Stack, answers: Json) => {
      const isOther = isOfOthers(stacks, stack);
      return (tensor: Tensor) => isOther(tensor) || (answers.decoder === null && reader?.TEXT.test(tensor.name));
    },
    /** The only decoder beside an encoder. */
    decoderIn(encoder: Stack, heads: number | undefined, all: readonly Tensor[], outside: readonly Tensor[], living: Living, model: Model): DecoderPart | undefined {
      if (!reader || model.config.decoder === null) return undefined;
      try {
        return reader.readDecoder(decoder!, modulesOf(decoder!.blocks[0]!)!, encoder, heads, all, outside, living, model);
      } catch (error) {
        const refusal = error as Refusal;
        if (refusal.code === "bad_tensor") refusal.message = `config: decoder: set decoder to null to read the encoder alone: ${refusal.message}`;
        throw error;
      }
    },
  };
}

/** Stacks without numbers: parts told apart by words, or a single block. */
function otherStacks(tensors: readonly Tensor[]): readonly Stack[] {
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

/** The block with queries, keys and values in our order, and scaled. */
function reordered(block: Block, d: number, width: number, model: Model): Block {
  const { qkv, standard, fused } = block, inner = qkv.rows / 3;
  /** What attention is divided by: by what queries are multiplied, of which the core takes the root of d away again, and values. */
  const scales: Readonly<Record<string, readonly [number, number]>> = {
    head: [1, 1], width: [Math.sqrt(d / width), 1], none: [Math.sqrt(d), 1], after_softmax: [Math.sqrt(d), 1 / Math.sqrt(width)],
  };
  /** How the rows of one matrix follow each other, in einops' words: the steps from part to part, from head to head, and in a head. */
  const orders: Readonly<Record<string, readonly [number, number, number]>> = { "qkv h d": [inner, d, 1], "h qkv d": [d, 3 * d, 1], "h d qkv": [1, 3 * d, 3] };
  const [ofQueries, ofValues] = scales[model.choose("attention_scale", Object.keys(scales), !standard)]!;
  const [part, head, step] = orders[model.choose("qkv_order", Object.keys(orders), fused && !standard)]!;
  return { ...block, qkv: moved(qkv, qkv.columns, (values, row, column, length) => {
    const which = Math.floor(row / inner), at = row % inner, j = at % d;
    return values[(which * part + ((at - j) / d) * head + j * step) * length + column]! * [ofQueries, 1, ofValues][which]!;
  }) };
}

/** Changes a model's parameters as the caller says, and the config for them. */
function finish({ config: answers, parameters }: Model, tensors: readonly Tensor[], config: Json): Json {
  const isLate = /^n/.test(answers.norm_order as string);
  if (isLate) shiftNorms(parameters);
  if (answers.map) replaceBy(answers.map as Mapping, parameters, tensors);
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
  const table = byName(tensors);
  for (const [name, sources] of Object.entries(map)) {
    const parameter = parameters.get(name);
    if (!parameter) throw unlike(name, "none: the model has no such parameter", sources);
    const { from, make } = parameter, to = [sources].flat().map((one) => table.get(String(one)));
    if (to.length !== from.length || to.some((tensor, at) => tensor?.shape.join() !== from[at]!.shape.join())) throw unlike(name, signatures(...from), sources);
    parameters.set(name, { ...parameter, from: to as Tensor[], make: (read) => make((tensor) => read(to[from.indexOf(tensor)] ?? tensor)) });
  }
}

const unlike = (name: string, like: string, got: unknown) => badConfig(`map: ${cut(name)}`, `tensors like ${like}`, got);
