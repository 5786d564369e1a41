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
import { findBlocks, templateIn } from "./blocks.js";
import { gridOf } from "./grid.js";
import { type Layer, parent, refuse, shown, uncomputed, unused } from "./layers.js";
import { exchange, type Make, Model, openQuestions } from "./model.js";
import { constant, readNumbers } from "./numbers.js";
import { type Patches, readOutside } from "./outside.js";

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

const BUFFER = /(^|[._])(num_batches_tracked|position_ids|relative_position_index|(\w*_)?mask|n_averaged|dummy\w*)$/i;
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
const ACTIVATIONS = ["gelu", "relu", "gelu_tanh", "quick_gelu"];

/** The one that a word names. */
function meaningOf<Value>(name: string, table: Readonly<Record<string, Value>>, word: string): Value {
  if (!Object.hasOwn(table, word)) throw new Refusal(`config: ${name}: expected ${Object.keys(table).join(", ")}`);
  return table[word]!;
}

/** Finds a model in tensors that no family names. @throws {Refusal} for another model, and for what is open, all at once. */
export function structureOf(all: readonly Placed[], given: Json, isZero: (tensor: Tensor) => boolean): Structured {
  if (all.length > MOST_TENSORS) throw refuse(`expected at most ${MOST_TENSORS} tensors, got ${all.length}`);
  const skipped = all.filter(({ name, dtype, count }) => BUFFER.test(name) || count === 0 || ["I64", "I32", "U8", "BOOL", "I8"].includes(dtype));
  const tensors = all.filter((tensor) => !skipped.includes(tensor));
  for (const [pattern, what] of OTHER) {
    const found = all.find(({ name }) => pattern.test(name));
    if (found) throw refuse(`${shown(found)} is of ${what}`);
  }
  const { blocks: parts, outside: around } = findBlocks(tensors);
  const template = templateIn(around, parts[0]!);
  skipped.push(...template as Placed[]);
  const outside = around.filter((tensor) => !template.includes(tensor));
  const width = widthOf(parts[0]!);
  const blocks = parts.map((part) => readBlock(part, width));
  const first = blocks[0]!;
  const model = new Model(given);
  if (blocks.length === 1) { // it may be called several times
    const depth = model.assume("depth", 1);
    if (!Number.isInteger(depth) || depth < 1 || depth > MOST_CALLS) throw new Refusal(`config: depth: expected 1 to ${MOST_CALLS}, got ${quoted(String(depth))}`);
    blocks.push(...Array<Block>(depth - 1).fill(first));
  }
  /** A bias that is exactly zero everywhere was never trained. */
  const isDead = ({ biases: [bias] }: Layer) => bias !== undefined && isZero(bias);
  const leave = ({ from, biases }: Layer) => void skipped.push(...[...from, ...biases] as Placed[]);
  const { token, position, patches, norm, head } = readOutside(outside, width, model, isDead, leave);
  const prefix = token ? 1 : 0;
  const { image, patch, stride, channels, count } = gridOf(patches, position, width, prefix, model);
  if (!position) model.ask("position", ["none", "sincos1d", "sincos2d"], "the file has no positions");

  // What no tensor shows.
  const inner = first.qkv.rows / 3;
  const divisors = Array.from({ length: Math.min(inner, 64) }, (_, at) => at + 1).filter((heads) => inner % heads === 0);
  const heads = first.heads ?? model.ask("heads", divisors);
  const place = model.ask("norm", first.norms.length === 0 ? ["pre"] : ["pre", "post"]);
  const activation = first.fc1 ? model.ask("activation", ACTIVATIONS) : "gelu";
  const pool = (head.hidden ?? head.matrix)?.columns === 2 * width ? "class_mean" : token ? model.ask("pool", ["class", "mean"], "the class token fits, and the mean of the patches too") : model.ask("pool", ["mean"]);
  const norm_eps = model.assume("norm_eps", 1e-5);
  const mlp_norm_after = place === "pre" && first.fc1 ? model.assume("mlp_norm_after", false) : false;
  const pixels = !patches.isConvolution && channels > 1 ? model.ask("patch_order", ["channels_first", "channels_last"], `${shown(patches.tensor)} does not show it`) : undefined;
  const scale = first.standard ? "head" : model.assume("attention_scale", "head");
  const order = first.fused && !first.standard ? model.assume("qkv_order", "qkv h d") : "qkv h d";
  if (first.norms.length === 0 || (!first.fc1 && place === "post")) throw uncomputed();
  const d = heads ? inner / (heads as number) : 0;
  if (!Number.isInteger(d)) throw new Refusal(`config: heads: expected a divisor of ${inner}, got ${String(heads)}`);
  const rowOf = meaningOf("qkv_order", ORDERS, order);
  const [ofQueries, ofValues] = meaningOf("attention_scale", SCALES, scale)(d, width);

  // The parameters.
  putPatches(model, patches, width, channels, patch, pixels === "channels_last");
  if (token) model.put("cls_token", [1, 1, width], [token], (read) => read(token));
  if (position && count) putPositions(model, position, width, count, prefix);
  const scaled = (make: Make): Make => (read) => make(read).map((_, index, values) => {
    const columns = values.length / (3 * inner), row = Math.floor(index / columns), part = Math.floor(row / inner);
    const j = row % d, from = rowOf(part, ((row % inner) - j) / d, j, heads as number, d);
    return values[from * columns + (index % columns)]! * [ofQueries, 1, ofValues][part]!;
  });
  blocks.forEach((block, at) => putBlock(model, `blocks.${at}.`, block, width, scaled));
  const called = norm && isDead(norm) ? model.ask("final_norm", [true, false], `${shown(norm.tensor)} was never trained: its bias is zero`) : given.final_norm;
  const final = called === false ? undefined : norm;
  // A mean's norm is before it, or after it, as in a Sequential of norm and head. For the class token both are one.
  const inHead = norm !== undefined && parent(norm) !== "" && parent(norm) === head.parent;
  const isAfter = final && pool === "mean" ? model.assume("fc_norm", inHead) : false;
  const pool_prefix = token && pool === "mean" ? model.assume("pool_prefix", false) : false;
  if (final) model.putNorm(isAfter ? "fc_norm" : "norm", final);
  if (head.hidden) model.putLayer("pre_logits", head.hidden);
  if (head.matrix) model.putLayer("head", head.matrix);

  exchange(model.parameters, tensors, (given.map ?? {}) as Mapping);
  const mapping = Object.fromEntries([...model.parameters].map(([name, { from }]) => [name, from.map((tensor) => tensor.name)]));
  const used = new Set([...model.parameters.values()].flatMap(({ from }) => from));
  if (final !== norm && norm) leave(norm);
  const left = tensors.find((tensor) => !used.has(tensor) && !skipped.includes(tensor) && tensor !== position);
  if (left && count) throw unused(left);
  if (model.questions.length > 0) throw openQuestions(model.questions, mapping, blocks.length);
  const { attention_scale: _scale, head_activation: _head, patch_order: _order, qkv_order: _rows, fc_norm: _after, map: _map, ...keys } = given;
  const config: Json = {
    prepare: null,
    position: position ? "learned" : given.position,
    ...keys,
    image_size: image, patch_size: patch, ...(stride && { patch_stride: stride }), channels, width, depth: blocks.length, heads,
    ...(d * (heads as number) !== width && { head_width: d }),
    mlp_width: first.fc1?.rows ?? 1, classes: head.matrix?.rows ?? 0, norm: place, norm_eps, final_norm: final !== undefined, activation, pool, pool_prefix, mlp_norm_after,
    ...(head.hidden && { head_hidden: head.hidden.rows, head_activation: head.activation }),
    prefix: token ? ["class"] : [], layer_scale: first.scales.length > 0, qkv_bias: true,
  };
  return { config, assumed: model.assumed, skipped: skipped.map(({ name }) => name), mapping, parameters: model.parameters };
}

/** @param isLast whether the channels of a pixel follow each other in a patch. */
function putPatches(model: Model, { matrix, norms: [before, after] }: Patches, width: number, channels: number, patch: readonly [number, number] | undefined, isLast: boolean): void {
  const { columns } = matrix, pixels = columns / channels;
  const ordered: Make = (read) => matrix.weight(read).map((value, index, values) => {
    const at = index % columns;
    return isLast ? values[index - at + (at % pixels) * channels + Math.floor(at / pixels)]! : value;
  });
  model.putLayer("patch_embed.proj", { ...matrix, weight: ordered }, patch && channels ? [width, channels, ...patch] : undefined);
  if (!before || !after) return;
  if (channels > 1) throw uncomputed();
  model.putNorm("patch_embed.norm_in", before);
  model.putNorm("patch_embed.norm", after);
}

/** The first of a table's positions; those of the prefix are zero where it has the patches' alone. */
function putPositions(model: Model, position: Tensor, width: number, count: number, prefix: number): void {
  const needed = count + prefix, missing = position.count < needed * width ? prefix : 0;
  model.put("pos_embed", [1, needed, width], [position], (read) => {
    const out = new Float32Array(needed * width);
    out.set(read(position).subarray(0, (needed - missing) * width), missing * width);
    return out;
  });
}

/** @param scaled puts queries, keys and values in our order, and scales them. */
function putBlock(model: Model, name: string, { qkv, proj, fc1, fc2, norms: [norm1, norm2 = norm1], scales }: Block, width: number, scaled: (make: Make) => Make): void {
  model.putNorm(`${name}norm1`, norm1!);
  model.putNorm(`${name}norm2`, norm2!);
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
    structureOf(placed, given, () => true); // refuses another model before it is downloaded
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
