/**
 * Models whose tensors have nobody's names: the shapes and the repetition of the header show which tensor is
 * what. The file is then written anew under our names, because many need folding: three matrices become one,
 * two without anything between them become their product. This is a bundle of its own, loaded when no family fits.
 */
import type { Json } from "../../base/json.js";
import type { Mapping } from "../../config.js";
import type { Foreign, Header } from "../checkpoint.js";
import type { Tensor } from "../family.js";
import { quoted, Refusal } from "../refusal.js";
import { type Block, readBlock, widthOf } from "./block.js";
import { findStacks, isOf, type Stack, templateIn, tensorsIn } from "./blocks.js";
import { gridOf } from "./grid.js";
import { isVector, type Layer, layersOf, parent, refuse, shown, uncomputed, unused } from "./layers.js";
import { exchange, type Make, Model, openQuestions } from "./model.js";
import { constant, readNumbers } from "./numbers.js";
import { type Norms, type Patches, readOutside } from "./outside.js";

/** A header in the order of its bytes, with the offset of each tensor's first byte. */
type Placed = Tensor & { readonly begin: number; readonly end: number };

interface Structured {
  readonly config: Json;
  readonly assumed: readonly string[];
  readonly skipped: readonly string[];
  readonly mapping: Mapping;
  readonly parameters: Model["parameters"];
}

const MOST_TENSORS = 5000;
/** How often a model may call the same block. */
const MOST_CALLS = 64;
/** The most bytes that are written anew. */
const MOST_BYTES = 2 ** 29;

const BUFFER = /(^|[._])(num_batches_tracked|position_ids|relative_position_index|(\w*_)?mask(_token)?|n_averaged|dummy\w*)$/i;
const OTHER: readonly [RegExp, string][] = [
  [/(^|\.)running_(mean|var)$/, "batch norms: a convolutional network or a hybrid"],
  [/(^|\.)(weight_[ih]h(_l\d+)?)$/, "a recurrent network's layers"],
  [/(^|[._])(rope|rotary|inv_freq|freqs_cis)/i, "rotary positions"],
  [/relative_position_bias|rel_pos_(h|w)$/, "relative positions in windows, as in Swin"],
  [/(^|\.)(lora_[ab])(\.|$)/i, "LoRA's matrices: merge them first"],
];

/** How the rows of one matrix for queries, keys and values follow each other, in einops' words: the row of number `j` of head `head`. */
const ORDERS: Readonly<Record<string, (part: number, head: number, j: number, heads: number, d: number) => number>> = {
  "qkv h d": (part, head, j, heads, d) => (part * heads + head) * d + j,
  "h qkv d": (part, head, j, _heads, d) => (3 * head + part) * d + j,
  "h d qkv": (part, head, j, _heads, d) => (head * d + j) * 3 + part,
};
/** What is divided: by what queries are multiplied, of which the core takes the root of d away again, and values. */
const SCALES: Readonly<Record<string, (d: number, width: number) => readonly [number, number]>> = {
  head: () => [1, 1],
  width: (d, width) => [Math.sqrt(d / width), 1],
  none: (d) => [Math.sqrt(d), 1],
  after_softmax: (d, width) => [Math.sqrt(d), 1 / Math.sqrt(width)],
};
const ACTIVATIONS = ["gelu", "relu", "gelu_tanh", "quick_gelu", "silu"];

/** Keys that only this room reads. */
const OWN = "attention_scale class_position early_norm fc_norm head_activation map norm_bias patch_order qkv_order stack untrained".split(" ");

/** The one that a word names. */
function meaningOf<Value>(name: string, table: Readonly<Record<string, Value>>, word: string): Value {
  if (!Object.hasOwn(table, word)) throw new Refusal(`config: ${name}: expected ${Object.keys(table).join(", ")}`);
  return table[word]!;
}

/** Finds a model in tensors that no family names. @param isZero unknown before the numbers are read. @throws {Refusal} for another model, and for what is open, all at once. */
export function structureOf(all: readonly Placed[], given: Json, isZero?: (tensor: Tensor) => boolean): Structured {
  if (all.length > MOST_TENSORS) throw refuse(`expected at most ${MOST_TENSORS} tensors, got ${all.length}`);
  const skipped = all.filter(({ name, dtype, count }) => BUFFER.test(name) || count === 0 || ["I64", "I32", "U8", "BOOL", "I8"].includes(dtype));
  const tensors = all.filter((tensor) => !skipped.includes(tensor));
  for (const [pattern, what] of OTHER) {
    const found = all.find(({ name }) => pattern.test(name));
    if (found) throw refuse(`${shown(found)} is of ${what}`);
  }
  const stacks = findStacks(tensors);
  const stack = stacks.length > 1 ? stacks.find(({ name }) => name === given.stack) : stacks[0];
  if (!stack) throw askStack(stacks, (name) => structureOf(all, { ...given, stack: name }, isZero));
  const { blocks: parts } = stack, inside = tensorsIn(parts), [start] = parts[0]!.values() as Iterable<Placed>;
  let outside = tensors.filter((tensor) => !inside.has(tensor));
  /** Leaves tensors out of the model. */
  const leave = (some: readonly Tensor[]) => {
    const left = new Set(some);
    skipped.push(...some as Placed[]);
    outside = outside.filter((tensor) => !left.has(tensor));
  };
  for (const { name, blocks } of stacks) {
    const other = tensorsIn(blocks), isOther = isOf(name, stack.name);
    if (blocks !== parts) leave(outside.filter((tensor) => other.has(tensor) || isOther(tensor)));
  }
  leave(templateIn(outside, parts[0]!));
  const width = widthOf(parts[0]!);
  const model = new Model(given);
  /** A bias that is exactly zero everywhere was never trained, if any norm's was. Without the numbers all may be. */
  const isTrained = !isZero || layersOf(tensors.map((tensor) => [tensor.name, tensor] as const)).layers.some((layer) => isVector(layer) && layer.biases.some((bias) => !isZero(bias)));
  const isDead = ({ biases: [bias] }: Layer) => isTrained && bias !== undefined && (!isZero || isZero(bias));
  /** Leaves out what is one too many and was never trained. */
  const living = (layers: Layer[]) => layers.filter((layer) => !isDead(layer) ||
    model.ask("untrained", ["skipped", "called"], `${shown(layer.tensor)} was never trained: its bias is zero`) === "called" || leave([...layer.from, ...layer.biases]));
  const blocks = parts.map((part) => readBlock(part, width, living)), first = blocks[0]!;
  if (blocks.length === 1) { // it may be called several times
    const depth = model.assume("depth", 1);
    if (!Number.isInteger(depth) || depth < 1 || depth > MOST_CALLS) throw new Refusal(`config: depth: expected 1 to ${MOST_CALLS}, got ${quoted(String(depth))}`);
    blocks.push(...Array<Block>(depth - 1).fill(first));
  }
  const isEarly = (tensor: Tensor) => all.indexOf(tensor as Placed) < all.indexOf(start!);
  const { token, position, patches, norms, head } = readOutside(outside, width, model, isEarly, living);
  const prefix = token ? 1 : 0;
  const { image, patch, stride, channels, count } = gridOf(patches, position, width, prefix, model);
  if (!position) model.ask("position", ["none", "sincos1d", "sincos2d"], "the file has no positions");

  // What no tensor shows.
  const inner = first.qkv.rows / 3;
  const divisors = Array.from({ length: Math.min(inner, 64) }, (_, at) => at + 1).filter((heads) => inner % heads === 0);
  const heads = first.heads ?? model.ask("heads", divisors);
  const isBare = first.norms.length === 0;
  const place = model.ask("norm", ["pre", "post"], isBare ? "the blocks' norms have no tensors; a model without norms is not computed here" : undefined);
  const activation = first.fc1 ? model.ask("activation", ACTIVATIONS) : "gelu";
  const pool = (head.hidden ?? head.matrix)?.columns === 2 * width ? "class_mean" : token ? model.ask("pool", ["class", "mean", "max"], "the class token fits, and the mean of the patches too") : model.assume("pool", "mean");
  const norm_eps = model.assume("norm_eps", 1e-5);
  const mlp_norm_after = place === "pre" && first.fc1 ? model.assume("mlp_norm_after", false) : false;
  const pixels = !patches.isConvolution && channels > 1 ? model.ask("patch_order", ["channels_first", "channels_last"], `${shown(patches.tensor)} does not show it`) : undefined;
  const scale = first.standard ? "head" : model.assume("attention_scale", "head");
  const order = first.fused && !first.standard ? model.assume("qkv_order", "qkv h d") : "qkv h d";
  if (!first.fc1 && place === "post") throw uncomputed();
  const bare = [...blocks.flatMap((block) => block.norms), ...Object.values(norms)].find((one) => one?.biases.length === 0);
  if (bare && model.ask("norm_bias", ["none", "rms"], `${shown(bare.tensor)} is a LayerNorm without a bias, or RMSNorm`) === "rms") throw uncomputed("RMSNorm");
  const d = heads ? inner / (heads as number) : 0;
  if (!Number.isInteger(d)) throw new Refusal(`config: heads: expected a divisor of ${inner}, got ${String(heads)}`);
  const rowOf = meaningOf("qkv_order", ORDERS, order);
  const [ofQueries, ofValues] = meaningOf("attention_scale", SCALES, scale)(d, width);

  // The parameters.
  putPatches(model, patches, norms, channels, patch, pixels === "channels_last");
  if (token) model.put("cls_token", [1, 1, width], [token], (read) => read(token));
  if (position && count) putPositions(model, position, width, count, prefix);
  const scaled = (make: Make): Make => (read) => make(read).map((_, index, values) => {
    const columns = values.length / (3 * inner), row = Math.floor(index / columns), part = Math.floor(row / inner);
    const j = row % d, from = rowOf(part, ((row % inner) - j) / d, j, heads as number, d);
    return values[from * columns + (index % columns)]! * [ofQueries, 1, ofValues][part]!;
  });
  blocks.forEach((block, at) => putBlock(model, `blocks.${at}.`, block, width, scaled));
  const { norm, fc_norm, norm_pre } = norms;
  const called = norm && isDead(norm) ? model.ask("final_norm", [true, false], `${shown(norm.tensor)} was never trained: its bias is zero`) : given.final_norm;
  const unseen = isBare && !norm && model.ask("final_norm", [true, false]) ? plainNorm(width) : undefined;
  const final = called === false ? undefined : norm ?? unseen;
  // A mean's norm is before it, or after it, as in a Sequential of norm and head. For the class token both are one.
  const inHead = norm !== undefined && parent(norm) === head.parent && !start!.name.toLowerCase().startsWith(head.parent!);
  const isAfter = final && !fc_norm && pool === "mean" ? model.assume("fc_norm", inHead) : false;
  const pool_prefix = token && pool === "mean" ? model.assume("pool_prefix", false) : false;
  if (norm_pre) model.putNorm("norm_pre", norm_pre);
  if (final) model.putNorm(isAfter ? "fc_norm" : "norm", final);
  if (final && fc_norm) model.putNorm("fc_norm", fc_norm);
  if (head.hidden) model.putLayer("pre_logits", head.hidden);
  if (head.matrix) model.putLayer("head", head.matrix);

  exchange(model.parameters, tensors, (given.map ?? {}) as Mapping);
  const mapping = Object.fromEntries([...model.parameters].map(([name, { from }]) => [name, from.map((tensor) => tensor.name)]));
  const used = new Set([...model.parameters.values()].flatMap(({ from }) => from));
  if (final !== norm && norm) leave([...norm.from, ...norm.biases]);
  const left = tensors.find((tensor) => !used.has(tensor) && !skipped.includes(tensor) && tensor !== position);
  if (left && count) throw unused(left);
  if (model.questions.length > 0) throw openQuestions(model.questions, mapping, blocks.length);
  const config: Json = {
    prepare: null,
    position: position ? "learned" : given.position,
    ...Object.fromEntries(Object.entries(given).filter(([key]) => !OWN.includes(key))),
    image_size: image, patch_size: patch, ...(stride && { patch_stride: stride }), channels, width, depth: blocks.length, heads,
    ...(d * (heads as number) !== width && { head_width: d }),
    mlp_width: first.fc1?.rows ?? 1, classes: head.matrix?.rows ?? 0, norm: place, norm_eps, final_norm: final !== undefined, activation, pool, pool_prefix, mlp_norm_after,
    ...(head.hidden && { head_hidden: head.hidden.rows, head_activation: head.activation }),
    prefix: token ? ["class"] : [], layer_scale: first.scales.length > 0, qkv_bias: true,
  };
  return { config, assumed: model.assumed, skipped: skipped.map(({ name }) => name), mapping, parameters: model.parameters };
}

/** Asks which stack makes the model, with the mapping of each that could: its parameters have the stack's name in front. */
function askStack(stacks: readonly Stack[], read: (stack: string) => Structured): Refusal {
  const names: string[] = [], asked = new Map<string, readonly unknown[]>([["stack", names]]);
  const mapping: Record<string, readonly string[]> = {};
  let unfit: Refusal | undefined, text = "";
  for (const { name } of stacks) {
    let found: Structured | Refusal;
    try {
      found = read(name);
    } catch (error) {
      found = error as Refusal;
    }
    if (found.mapping) {
      names.push(name);
      for (const [ours, from] of Object.entries(found.mapping)) mapping[`${name}: ${ours}`] = from;
      for (const { key, values } of (found as Refusal).questions ?? []) asked.set(key, [...new Set([...asked.get(key) ?? [], ...values])]);
    } else {
      unfit ??= found as Refusal;
      text += `; ${quoted(name)} is none: ${(found as Refusal).message}`;
    }
  }
  if (names.length === 0) return unfit!;
  const refusal = new Refusal(`config: stack: set stack to ${names.map(quoted).join(" or ")}, which the file repeats${text}; open are ${[...asked.keys()].join(", ")}`);
  return Object.assign(refusal, { mapping, questions: [...asked].map(([key, values]) => ({ key, values })) });
}

/** @param isLast whether the channels of a pixel follow each other in a patch. */
function putPatches(model: Model, { matrix }: Patches, norms: Norms, channels: number, patch: readonly [number, number] | undefined, isLast: boolean): void {
  const { rows, columns } = matrix, pixels = columns / channels;
  const ordered = (make: Make): Make => (read) => make(read).map((value, index, values) => {
    const at = index % columns;
    return isLast ? values[index - at + (at % pixels) * channels + Math.floor(at / pixels)]! : value;
  });
  model.putLayer("patch_embed.proj", { ...matrix, weight: ordered(matrix.weight) }, patch && channels ? [rows, channels, ...patch] : undefined);
  const before = norms["patch_embed.norm_in"], after = norms["patch_embed.norm"];
  if (before) model.putNorm("patch_embed.norm_in", { ...before, weight: ordered(before.weight), bias: ordered(before.bias) });
  if (after) model.putNorm("patch_embed.norm", after);
}

/** The first of a table's positions, the class token's in front: its own is the first or the one after the patches', or it has none. */
function putPositions(model: Model, position: Tensor, width: number, count: number, prefix: number): void {
  const rows = position.count / width, places: readonly string[] = rows === count ? ["none"] : rows === count + 1 ? ["first", "last"] : ["first", "last", "none"];
  const place = !prefix ? "first" : places.length === 1 ? "none" : model.assume<string>("class_position", "first");
  if (!["first", ...places].includes(place)) throw new Refusal(`config: class_position: expected ${places.join(" or ")}`);
  model.put("pos_embed", [1, count + prefix, width], [position], (read) => {
    const out = new Float32Array((count + prefix) * width), table = read(position);
    if (place === "first") out.set(table.subarray(0, out.length));
    else out.set(table.subarray(0, count * width), width);
    if (place === "last") out.set(table.subarray(count * width, (count + 1) * width));
    return out;
  });
}

/** A norm without a gain and a bias. */
const plainNorm = (width: number) => constant(width, 1, () => 1);

/** @param scaled puts queries, keys and values in our order, and scales them. */
function putBlock(model: Model, name: string, { qkv, proj, fc1, fc2, norms, scales }: Block, width: number, scaled: (make: Make) => Make): void {
  const norm1 = norms[0] ?? plainNorm(width), norm2 = norms[1] ?? norm1;
  model.putNorm(`${name}norm1`, norm1);
  model.putNorm(`${name}norm2`, norm2);
  model.putLayer(`${name}attn.qkv`, { ...qkv, weight: scaled(qkv.weight), bias: scaled(qkv.bias) });
  model.putLayer(`${name}attn.proj`, proj);
  model.putLayer(`${name}mlp.fc1`, fc1 ?? constant(1, width));
  model.putLayer(`${name}mlp.fc2`, fc2 ?? constant(width, 1));
  scales.forEach((tensor, index) => model.put(`${name}ls${index + 1}.gamma`, [width], [tensor], (read) => read(tensor)));
}

/** A part of web/load/incoming.ts. */
export interface Bytes {
  peek(count: number): Promise<Uint8Array>;
  cancel(): void;
}

/** A model and its parameters: their names here, shapes and numbers. */
interface Rewritten extends Omit<Foreign, "written"> {
  readonly parameters: readonly (readonly [name: string, shape: readonly number[], values: Float32Array])[];
}

/** Reads the whole file. */
export async function openStructure(tensors: readonly Tensor[], header: Header, given: Json, file: Bytes): Promise<Rewritten> {
  const named = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const placed = Object.keys(header.tensors!).map((name) => named.get(name) as Placed);
  try {
    structureOf(placed, given); // refuses another model before it is downloaded
  } catch (error) {
    if (!(error as Refusal).questions) throw error;
  }
  if (header.size > MOST_BYTES) throw refuse(`expected at most ${MOST_BYTES} bytes, got ${header.size}`);
  const read = readNumbers((await file.peek(header.size)).subarray(header.bytes));
  const { config, assumed, skipped, mapping, parameters } = structureOf(placed, given, (tensor) => read(tensor).every((value) => value === 0));
  const made = [...parameters].map(([name, { shape, make }]) => [name, shape, make(read)] as const);
  file.cancel();
  return { config, map: undefined, parameters: made, origin: { family: "a model of its own", assumed, skipped, projection: null, mapping } };
}
