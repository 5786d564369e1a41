/**
 * Models whose tensors have nobody's names: the shapes and the repetition of the header show which tensor is
 * what. The file is then written anew under our names, because many need folding: three matrices become one,
 * two without anything between them become their product. This is a bundle of its own, loaded when no family fits.
 */
import type { Json } from "../../base/json.js";
import type { Foreign, Header } from "../checkpoint.js";
import type { Tensor } from "../family.js";
import type { Refusal } from "../refusal.js";
import { type Block, readBlock, widthOf } from "./block.js";
import { findStacks, type Stack, templateIn, tensorsIn } from "./blocks.js";
import { gridOf } from "./grid.js";
import { byName, isVector, type Layer, layersOf, parent, refuse, signatures, uncomputed, unused } from "./layers.js";
import { badConfig, Model, openQuestions } from "./model.js";
import { constant, moved } from "./numbers.js";
import { isConvolution, readOutside } from "./outside.js";

interface Structured extends Omit<Foreign, "written"> {
  readonly parameters: Model["parameters"];
}

const MOST_TENSORS = 5000;
/** How often a model may call the same block. */
const MOST_CALLS = 64;
/** The most bytes that are written anew. */
const MOST_BYTES = 2 ** 29;

const BUFFER = /(^|[._])(num_batches_tracked|position_ids|relative_position_index|(\w*_)?mask(_token)?|tri[lu]|n_averaged|dummy\w*)$/i;
/** Tensors of other architectures, which might pass for a ViT's. */
const OTHER = /(^|[._])(rope|rotary|inv_freq|freqs_cis|relative_position_bias|rel_pos_[hw]|lora_[ab]|weight_[ih]h)|running_(mean|var)$/i;

/** How the keys begin that only this room reads. */
const OWN = /^(attention_scale|batch|class_pos|decoder|early|fc_norm|head_act|map|norm_[bo]|patch_[ao]|qkv_order|stack|untrained)/;
/** What pre may stand for. The core computes the first, and rare.ts makes a post-norm model of the second. */
const BLOCKS = ["x + f(norm(x))", "norm(x) + f(norm(x))", "x + norm(f(x))"];
/** What only rare.js reads in a config. */
const RARE = /"(map|norm_order|qkv_order|attention_scale)"/;
const ACTIVATIONS = ["gelu", "relu", "gelu_tanh", "quick_gelu", "silu"];

/** The tensors without buffers, such as the mask of four dimensions that GPT-2's code calls bias. @throws {Refusal} for another model. */
function weightsIn(all: readonly Tensor[]): readonly Tensor[] {
  if (all.length > MOST_TENSORS) throw refuse(`expected at most ${MOST_TENSORS} tensors, got ${all.length}`);
  const other = all.find(({ name }) => OTHER.test(name));
  if (other) throw uncomputed(`${signatures(other)}, of ${/running/.test(other.name) ? "batch norms: a convolutional network or a hybrid," : "another architecture,"}`);
  return all.filter(({ name, dtype, shape, count }) => !BUFFER.test(name) && !(shape.length > 3 && name.endsWith("bias")) && count > 0 && /F/.test(dtype));
}

type Rare = import("./rare.js").Rare;

/**
 * Finds a model in tensors that no family names.
 *
 * @param all in the order of the header
 * @param tensors those without buffers
 * @param rare if there is something rare
 * @param isZero unknown before the numbers are read
 * @throws {Refusal} for another model, and for what is open, all at once.
 */
function structureOf(all: readonly Tensor[], tensors: readonly Tensor[], stacks: readonly Stack[], answers: Json, rare?: Rare, isZero?: (tensor: Tensor) => boolean): Structured {
  const stack = rare?.stackOf(stacks, answers.stack, (name) => structureOf(all, tensors, stacks, { ...answers, stack: name }, rare, isZero).origin) ?? stacks[0]!;
  const own = stack.blocks, inside = tensorsIn(own), weights = new Set(tensors), skipped = new Set(all.filter((tensor) => !weights.has(tensor))), [start] = own[0]!.values() as Iterable<Tensor>;
  const outside = () => tensors.filter((tensor) => !inside.has(tensor) && !skipped.has(tensor));
  /** Leaves tensors out of the model. */
  const leave = (some: readonly Tensor[]) => some.forEach((tensor) => skipped.add(tensor));
  const model = new Model(answers);
  /** A bias that is exactly zero everywhere was never trained, if any norm's was. Without the numbers all may be. */
  const isTrained = !isZero || layersOf(byName(tensors)).layers.some((layer) => isVector(layer) && !layer.from[1]!.every(isZero));
  const isDead = ({ from }: Layer) => isTrained && from[1]!.some(isZero ?? Boolean);
  const untrained = (layer: Layer) => `${signatures(layer)} was never trained: its bias is zero`;
  /** Leaves out what is one too many and was never trained. */
  const living = (layers: readonly Layer[], most: number) => layers.filter((layer) => layers.length <= most || !isDead(layer) ||
    model.ask("untrained", ["skipped", "called"], untrained(layer)) === "called" || leave(layer.from.flat()));
  const width = widthOf(own[0]!);
  const blocks = own.map((part) => readBlock(part, width, living)), first = blocks[0]!;
  const decoder = rare?.decoderIn(stack, first.heads, all, outside(), living, model);
  decoder?.used.forEach((tensor) => inside.add(tensor));
  if (rare) leave(outside().filter(rare.isOfOthers(stack, answers)));
  leave(templateIn(outside(), own[0]!));
  if (blocks.length === 1) { // it may be called several times
    const depth = model.assume("depth", 1);
    if (!Number.isInteger(depth) || depth < 1 || depth > MOST_CALLS) throw badConfig("depth", `1 to ${MOST_CALLS}`, depth);
    blocks.push(...Array<Block>(depth - 1).fill(first));
  }
  const isEarly = ({ from }: Layer) => all.indexOf(from[0]![0]!) < all.indexOf(start!);
  const [token, position, patches, norms, head] = readOutside(outside(), width, model, isEarly, living);
  const { hidden, last } = head, prefix = token ? 1 : 0;
  const [grid, count] = gridOf(patches, position, width, prefix, model);
  if (!position) model.ask("position", ["none", "sincos1d", "sincos2d"], "the file has none; sincos2d is MAE's");

  // What no tensor shows.
  const inner = first.qkv.rows / 3;
  const divisors = Array.from({ length: Math.min(inner, 64) }, (_, at) => at + 1).filter((heads) => inner % heads === 0);
  const heads = first.heads ?? model.ask("heads", divisors);
  const isBare = first.norms.length === 0;
  const place = model.ask("norm", ["pre", "post"], isBare ? "norms have no tensors" : undefined);
  if (first.fc1) model.ask("activation", ACTIVATIONS);
  const pool = (hidden ?? last)?.columns === 2 * width ? "class_mean" : token ? model.ask("pool", ["class", "mean", "max"]) : model.assume("pool", "mean");
  model.assume("norm_eps", 1e-5);
  if (first.standard && !model.assume("batch_first", true)) throw uncomputed("batch_first: false");
  if (place === "pre" && first.fc1) model.assume("mlp_norm_after", false);
  const block = model.choose("norm_order", BLOCKS, place === "pre");
  if (block === BLOCKS[2]) throw uncomputed(`a block of ${block}`);
  const pixels = !isConvolution(patches) && grid.channels > 1 ? model.ask("patch_order", ["channels_first", "channels_last"]) : undefined;
  if (!first.fc1 && place === "post") throw uncomputed("that norm");
  const bare = [...blocks.flatMap((block) => block.norms), ...Object.values(norms)].find((one) => one && !one.from[1]!.length);
  if (bare && model.ask("norm_bias", ["none", "rms"], `${signatures(bare)} is of a LayerNorm or RMSNorm`) === "rms") throw uncomputed("RMSNorm");
  const d = heads ? inner / (heads as number) : 0;
  if (!Number.isInteger(d)) throw badConfig("heads", `a divisor of ${inner}`, heads);
  // The usual values; rare.ts reads others.
  if (!first.standard) model.assume("attention_scale", "head");
  if (!first.standard && first.fused) model.assume("qkv_order", "qkv h d");

  // The parameters.
  const { rows, columns } = patches, { channels, patch_size } = grid, { norm, fc_norm, ...before } = norms, each = columns / channels;
  const placeOf = (at: number) => (pixels === "channels_last" ? (at % each) * channels + Math.floor(at / each) : at);
  const ordered = moved(patches, columns, (values, row, column, length) => values[row * length + placeOf(column)]!);
  model.putLayers({ "patch_embed.proj": ordered }, "", patch_size && channels ? [rows, channels, ...patch_size] : undefined);
  const normIn = before["patch_embed.norm_in"];
  model.putLayers({ ...before, "patch_embed.norm_in": normIn && moved(normIn, 1, (values, row) => values[placeOf(row)]!) });
  if (token) model.put("cls_token", [1, 1, width], [token], (read) => read(token));
  if (position && count) putPositions(model, position, width, count, prefix);
  blocks.forEach((block, at) => putBlock(model, `blocks.${at}.`, rare?.reordered(block, d, width, model) ?? block, width));
  const isOpen = norm ? isDead(norm) : isBare;
  const finalNorm = isOpen ? model.ask("final_norm", [true, false], norm && untrained(norm)) : answers.final_norm;
  const final = finalNorm === false ? undefined : norm ?? (isOpen && finalNorm ? plainNorm(width) : undefined);
  // A mean's norm is before it, or after it, as in a Sequential of norm and head. For the class token both are one.
  const inHead = norm !== undefined && parent(norm) === head.parent && !start!.name.toLowerCase().startsWith(head.parent!);
  const isAfter = final && !fc_norm && pool === "mean" ? model.assume("fc_norm", inHead) : false;
  if (token && pool === "mean") model.assume("pool_prefix", false);
  model.putLayers({ norm: isAfter ? undefined : final, fc_norm: isAfter ? final : final && fc_norm, pre_logits: hidden, head: last });
  decoder?.put();

  const plain: Json = {
    prepare: null,
    position: "learned",
    ...Object.fromEntries(Object.entries({ ...answers, ...model.assumed }).filter(([key]) => !OWN.test(key))),
    ...grid, width, depth: blocks.length, heads, head_width: d, mlp_width: first.fc1?.rows ?? 1, classes: last?.rows ?? 0, final_norm: final !== undefined, pool,
    head_hidden: hidden?.rows, head_activation: hidden && head.activation, prefix: token ? ["class"] : [], layer_scale: first.scales.length > 0, ...(decoder && { decoder: decoder.config }),
  };
  const config = rare?.finish(model, tensors, plain) ?? plain;
  const mapping = Object.fromEntries([...model.parameters].map(([name, { from }]) => [name, from.map((tensor) => tensor.name)]));
  const used = new Set([...model.parameters.values()].flatMap(({ from }) => from));
  if (final !== norm && norm) leave(norm.from.flat());
  const leftover = tensors.find((tensor) => !used.has(tensor) && !skipped.has(tensor) && tensor !== position);
  if (leftover && count) throw unused(leftover);
  if (model.questions.length > 0) {
    const table = Object.entries(mapping).filter(([name, from]) => from.length > 0 && !/\bblocks\.[1-9]|\.bias$/.test(name)).map(([name, from]) => `\n  ${name} ← ${from.join(" + ")}`);
    throw openQuestions(`${Object.values(model.texts).join("; ")}\nThe tensors were taken for (${blocks.length} blocks):${table.join("")}`, model.questions, mapping);
  }
  const origin = { family: "a model of its own", assumed: Object.keys(model.assumed), skipped: [...skipped].map(({ name }) => name), projection: null, mapping };
  return { config, map: undefined, origin, parameters: model.parameters };
}

/** The first of a table's positions, the class token's in front: its own is the first or the one after the patches', or it has none. */
function putPositions(model: Model, position: Tensor, width: number, count: number, prefix: number): void {
  const rows = position.count / width, isWhole = prefix > 0 && rows > count;
  const place = model.choose("class_position", !prefix ? ["first"] : !isWhole ? ["none"] : ["first", "last", ...rows > count + 1 ? ["none"] : []], isWhole);
  const rowOf = (row: number) => (place === "first" ? row : row > 0 ? row - 1 : place === "last" ? count : -1);
  model.put("pos_embed", [1, count + prefix, width], [position], (read) => {
    const table = read(position);
    return Float32Array.from({ length: (count + prefix) * width }, (_, at) => table[rowOf(Math.floor(at / width)) * width + at % width] ?? 0);
  });
}

/** A norm without a gain and a bias. */
const plainNorm = (width: number) => constant(width, 1, () => 1);

function putBlock(model: Model, name: string, { qkv, proj, fc1, fc2, norms, scales }: Block, width: number): void {
  const norm1 = norms[0] ?? plainNorm(width);
  model.putLayers({ norm1, norm2: norms[1] ?? norm1, "attn.qkv": qkv, "attn.proj": proj, "mlp.fc1": fc1 ?? constant(1, width), "mlp.fc2": fc2 ?? constant(width, 1) }, name);
  scales.forEach((tensor, index) => model.put(`${name}ls${index + 1}.gamma`, [width], [tensor], (read) => read(tensor)));
}

/** A part of web/load/incoming.ts. */
export interface Bytes {
  peek(count: number): Promise<Uint8Array>;
  cancel(): void;
}

/** A model and its parameters: their names here, shapes and numbers. */
interface Rewritten extends Omit<Structured, "parameters"> {
  readonly parameters: readonly (readonly [name: string, shape: readonly number[], values: Float32Array])[];
}

/** A part of foreign.ts. */
type LoadBundle = <Name extends keyof RareBundles>(name: Name) => Promise<RareBundles[Name]>;

export interface RareBundles {
  readonly rare: typeof import("./rare.js");
  readonly decoder: typeof import("./decoder.js");
}

/** Reads the whole file. */
export async function openStructure(tensors: readonly Tensor[], header: Header, answers: Json, file: Bytes, bundle: LoadBundle): Promise<Rewritten> {
  const table = byName(tensors);
  const all = Object.keys(header.tensors!).map((name) => table.get(name)!), weights = weightsIn(all);
  const numbered = findStacks(weights, /\d+(?=\.)/g, 1);
  const isUsual = numbered.length === 1 && !RARE.test(JSON.stringify(answers)) && weights.every(({ dtype }) => dtype === "F32");
  const rare = isUsual ? undefined : await (await bundle("rare")).rareOf(numbered, weights, bundle), stacks = rare?.stacks ?? numbered;
  const find = (isZero?: (tensor: Tensor) => boolean) => structureOf(all, weights, stacks, answers, rare, isZero);
  try {
    find(); // refuses another model before it is downloaded
  } catch (error) {
    if (!(error as Refusal).questions) throw error;
  }
  if (header.size > MOST_BYTES) throw refuse(`expected at most ${MOST_BYTES} bytes, got ${header.size}`);
  const data = (await file.peek(header.size)).subarray(header.bytes);
  const read = rare?.readNumbers(data) ?? (({ begin, end }: Tensor) => new Float32Array(data.slice(begin, end).buffer));
  const found = find((tensor) => read(tensor).every((value) => value === 0));
  const parameters = [...found.parameters].map(([name, { shape, make }]) => [name, shape, make(read)] as const);
  file.cancel();
  return { ...found, parameters };
}
