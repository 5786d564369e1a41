/**
 * Models whose tensors have nobody's names: the shapes and the repetition of the header show which tensor is
 * what. The file is then written anew under our names, because many need folding: three matrices become one,
 * two without anything between them become their product. This is a bundle of its own, loaded when no family fits.
 */
import type { Json } from "../base/json.js";
import type { Mapping } from "../config.js";
import { headerBytes, headerOf } from "../base/safetensors.mjs";
import type { Tensor } from "./family.js";
import type { Foreign, Header } from "./checkpoint.js";
import { quoted, Refusal } from "./refusal.js";
import { type Matrix, product, type Read, readNumbers, rowsOf, spread, stacked, zeros } from "./numbers.js";

/** A header in the order of its bytes, with the offset of each tensor's first byte. */
export type Placed = Tensor & { readonly begin: number; readonly end: number };

export interface Structured {
  readonly config: Json;
  readonly assumed: readonly string[];
  readonly skipped: readonly string[];
  readonly mapping: Mapping;
  /** The whole file under our names. */
  write(read: Read): Uint8Array[];
}

type Make = (read: Read) => Float32Array;

interface Parameter {
  readonly shape: readonly number[];
  readonly from: readonly Tensor[];
  readonly make: Make;
}

/** A Linear, a convolution or a norm: a weight and perhaps a bias. */
interface Layer {
  /** The name in front of .weight, in lower case. */
  readonly path: string;
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly rows: number;
  readonly columns: number;
}

const MOST_BLOCK_TENSORS = 400;
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

const refuse = (what: string) => new Refusal(what, "bad_tensor");
const shown = ({ name, shape }: Tensor) => `"${name.slice(0, 120)}" (${shape.join()})`;
const listed = (tensors: readonly Tensor[]) => tensors.slice(0, 24).map(shown).join(" and ");
const weights = (layers: readonly Layer[]) => listed(layers.map(({ weight }) => weight));
const unused = (tensor: Tensor) => refuse(`nothing here uses ${shown(tensor)}`);
/** The one in a list, if there is any. */
function only(tensors: readonly Tensor[], what: string): Tensor | undefined {
  if (tensors.length > 1) throw refuse(`expected one ${what}, got ${listed(tensors)}`);
  return tensors[0];
}
const root = (square: number) => (Number.isInteger(Math.sqrt(square)) ? Math.sqrt(square) : 0);
/** The shape without dimensions of 1 in front. */
const squeezed = (shape: readonly number[]) => shape.slice(Math.max(0, shape.findIndex((length) => length !== 1)));

// ---- The repeated block --------------------------------------------------------

interface Blocks {
  /** Each block's tensors by their names without the block's own. */
  readonly blocks: readonly ReadonlyMap<string, Tensor>[];
  readonly outside: readonly Tensor[];
}

const isMatrix = ({ shape }: Tensor) => shape.length === 2;
const key = ({ shape, dtype }: Tensor) => `${dtype} ${shape.join()}`;

/** The numbered group of equal parts that has most tensors, among them a matrix three times as long as wide or several squares. */
function findBlocks(tensors: readonly Tensor[]): Blocks {
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
  if (best.length === 0) {
    throw refuse("no repeated part of the file has queries, keys and values");
  }
  const extra = parallel(best, groups);
  const blocks = extra ?? best;
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
  const joined = range(parts.length / 2).map((at) => new Map(
    [0, 1].flatMap((turn) => [...parts[2 * at + turn]!].map(([name, tensor]) => [`${turn}.${name}`, tensor] as const)),
  ));
  return sameParts(joined) ? joined : undefined;
}

const QKV = /(^|[._])(in_proj|w?qkv|c_attn)/i;
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
function templateIn(outside: readonly Tensor[], block: ReadonlyMap<string, Tensor>): readonly Tensor[] {
  const [[end, { shape }]] = [...block] as [[string, Tensor]];
  const names = new Map(outside.map((tensor) => [tensor.name, tensor]));
  for (const { name } of outside.filter((tensor) => tensor.name.endsWith(`.${end}`) && tensor.shape.join() === shape.join())) {
    const before = name.slice(0, -end.length);
    const all = [...block.keys()].map((one) => names.get(before + one));
    if (all.every((tensor) => tensor)) return all as Tensor[];
  }
  return [];
}

// ---- Layers --------------------------------------------------------------------

const ENDINGS: readonly [weight: RegExp, bias: string][] = [
  [/(^|[._])in_proj_weight$/, "in_proj_bias"], [/(^|\.)weight$/, "bias"], [/(^|\.)gamma$/, "beta"], [/(^|\.)a_2$/, "b_2"],
  [/(^|\.)scale$/, "shift"], [/(^|\.)kernel$/, "bias"], [/(^|\.)alpha$/, "beta"], [/(^|\.)alpha$/, "bias"],
];

/** Joins weights with their biases. What is left are parameters of their own. */
function layersOf(named: Iterable<readonly [string, Tensor]>): { layers: Layer[]; alone: [string, Tensor][] } {
  const all = new Map(named);
  const layers: Layer[] = [];
  const taken = new Set<string>();
  for (const [name, weight] of all) {
    for (const [ending, other] of ENDINGS) {
      if (!ending.test(name)) continue;
      const before = name.replace(/[^.]*$/, "");
      const bias = all.get(before + other);
      if (other !== "bias" && other !== "in_proj_bias" && !bias) continue;
      layers.push({ path: (other === "in_proj_bias" ? `${before}in_proj` : before.slice(0, -1)).toLowerCase(), weight, bias, rows: weight.shape[0]!, columns: weight.count / weight.shape[0]! });
      taken.add(name);
      if (bias) taken.add(before + other);
      break;
    }
  }
  return { layers, alone: [...all].filter(([name]) => !taken.has(name)) };
}

const isVector = ({ weight }: Layer, width?: number) => {
  const shape = squeezed(weight.shape);
  return shape.length === 1 && (width === undefined || shape[0] === width);
};

const roleOf = (path: string): "q" | "k" | "v" | undefined => {
  const parts = path.split(".").filter((part) => !/^\d+$/.test(part)).reverse();
  for (const part of parts) {
    const [, letter] = /^(?:w|to|fc|[a-z]+_)?_?(quer(?:y|ie)|key|value|[qkv])s?(?:_[a-z]+|proj|lin|linear|layer|map)?s?$/.exec(part) ?? [];
    if (letter) return letter[0] as "q";
  }
  return undefined;
};

/** Takes one layer out of a list. */
function take(layers: Layer[], test: (layer: Layer) => boolean): Layer | undefined {
  const at = layers.findIndex(test);
  return at < 0 ? undefined : layers.splice(at, 1)[0];
}

/** The path of the module that has a layer. */
const parent = (layer: Layer | undefined) => layer?.path.replace(/\.?[^.]*$/, "");

const linear = (layer: Layer): Matrix => ({
  ...layer,
  from: [layer.weight, ...(layer.bias ? [layer.bias] : [])],
  weight: (read) => read(layer.weight),
  bias: layer.bias && ((read) => read(layer.bias!)),
});

// ---- The model -----------------------------------------------------------------

type Size = readonly [rows: number, columns: number];

interface Question { readonly key: string; readonly values: readonly unknown[]; readonly text: string; readonly why: string }

const range = (count: number) => Array.from({ length: count }, (_, at) => at);

class Model {
  readonly parameters = new Map<string, Parameter>();
  readonly questions: Question[] = [];
  readonly assumed: string[] = [];
  readonly given: Json;

  constructor(given: Json) {
    this.given = given;
  }

  /** The caller's value, or a question whose answer is awaited. */
  ask<Value>(name: string, values: readonly Value[], why: string, text = values.join(", ").replace(/, ([^,]*)$/, " or $1")): Value | undefined {
    const told = this.given[name] ?? undefined;
    if (told !== undefined) return told as Value;
    if (values.length === 1 && text !== "[rows, columns]") return values[0];
    this.questions.push({ key: name, values, text, why });
    return undefined;
  }

  assume<Value>(name: string, value: Value): Value {
    const told = this.given[name] ?? undefined;
    if (told !== undefined) return told as Value;
    this.assumed.push(name);
    return value;
  }

  put(name: string, shape: readonly number[], from: readonly Tensor[], make: Make): void {
    this.parameters.set(name, { shape, from, make });
  }

  putMatrix(name: string, matrix: Matrix, bias: boolean, shape: readonly number[] = [matrix.rows, matrix.columns]): void {
    this.put(`${name}.weight`, shape, matrix.from.filter(({ shape: { length } }) => length > 1), matrix.weight);
    if (bias) this.put(`${name}.bias`, [matrix.rows], matrix.from.filter((tensor) => tensor.shape.length === 1), matrix.bias ?? zeros(matrix.rows));
  }

  putNorm(name: string, { weight, bias }: Layer): void {
    this.put(`${name}.weight`, [weight.count], [weight], (read) => read(weight));
    this.put(`${name}.bias`, [weight.count], bias ? [bias] : [], bias ? (read) => read(bias) : zeros(weight.count));
  }
}

interface Block {
  readonly qkv: Matrix;
  readonly proj: Matrix;
  readonly fc1: Matrix | undefined;
  readonly fc2: Matrix | undefined;
  readonly norms: readonly Layer[];
  readonly scales: readonly Tensor[];
  readonly heads: number | undefined;
  /** Whether nn.MultiheadAttention made it, whose scale is known. */
  readonly standard: boolean;
}

/** The width of the tokens: the length that most norms and most matrices' sides have. */
function widthOf(block: ReadonlyMap<string, Tensor>): number {
  const votes = new Map<number, number>();
  const vote = (length: number, weight: number) => votes.set(length, (votes.get(length) ?? 0) + weight);
  for (const [name, { shape }] of block) {
    const small = squeezed(shape);
    if (small.length === 1 && /norm|ln|gamma|beta/i.test(name)) vote(small[0]!, 3);
    if (shape.length === 2) {
      vote(shape[0]!, 1);
      if (shape[1] !== shape[0]) vote(shape[1]!, 2);
    }
  }
  return [...votes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

function readBlock(part: ReadonlyMap<string, Tensor>, width: number): Block {
  const { layers, alone } = layersOf(part);
  const fail = (what: string) => refuse(`a block is no ViT's: ${what}; it has ${listed([...part.values()])}`);
  const convolution = layers.find(({ weight }) => squeezed(weight.shape).length > 2 && weight.shape.slice(2).some((side) => side > 1));
  if (convolution) throw refuse(`${shown(convolution.weight)} is a convolution in a block: a hybrid, no plain ViT`);
  const norms = layers.filter((layer) => isVector(layer, width));
  if (norms.length > 2 || norms.length < layers.filter((layer) => isVector(layer)).length) throw fail("expected one norm or two");
  const noBias = norms.find(({ bias }) => !bias);
  if (noBias) throw fail(`${shown(noBias.weight)} has no bias: RMSNorm is not computed here`);
  const scales = alone.filter(([name, { shape }]) => squeezed(shape).length === 1 && squeezed(shape)[0] === width && /gamma|scale|ls|lambda/i.test(name)).map(([, tensor]) => tensor);
  const strange = alone.find(([, tensor]) => !scales.includes(tensor));
  if (strange) throw unused(strange[1]);
  if (scales.length % 2) throw fail("expected two scales");
  const matrices = layers.filter((layer) => !isVector(layer));
  const attention = readAttention(matrices, width, fail);
  if (matrices.length % 2 || matrices.length > 2) throw fail("expected two Linears in its MLP");
  const [fc1, fc2] = matrices[0] && matrices[0].columns !== width ? [matrices[1], matrices[0]] : matrices;
  if (fc1 && fc2 && (fc1.columns !== width || fc2.rows !== width || fc2.columns !== fc1.rows)) {
    throw fail(`${weights([fc1, fc2])} are no MLP: SwiGLU is not computed here`);
  }
  const place = ({ path }: Layer) => (/before|att|msa|mha|sa_|(^|\D)1$/.test(path) ? 0 : /after|mlp|ff|(^|\D)2$/.test(path) ? 2 : 1);
  const sorted = [...norms].sort((a, b) => (norms.length === 2 && place(a) !== 1 && place(b) !== 1 ? place(a) - place(b) : 0));
  return { ...attention, fc1: fc1 && linear(fc1), fc2: fc2 && linear(fc2), norms: sorted, scales };
}

/** Takes the attention's layers out of a block's matrices. */
function readAttention(matrices: Layer[], width: number, fail: (what: string) => Refusal): Pick<Block, "qkv" | "proj" | "heads" | "standard"> {
  const identity: Matrix = {
    rows: width, columns: width, from: [], bias: undefined,
    weight: () => Float32Array.from({ length: width * width }, (_, at) => Number(at % (width + 1) === 0)),
  };
  const fused = take(matrices, ({ path, rows, columns }) => QKV.test(path) && rows % 3 === 0 && columns === width) ??
    take(matrices, ({ path, rows, columns }) => rows === 3 * width && columns === width && !/mlp|ff|fc|feed/.test(path)) ??
    (matrices.filter(({ rows }) => rows === 3 * width).length === 1 && matrices.length % 2 === 0 ? take(matrices, ({ rows, columns }) => rows === 3 * width && columns === width) : undefined);
  const roles = { q: [] as Layer[], k: [] as Layer[], v: [] as Layer[] };
  for (const layer of [...matrices]) {
    const role = roleOf(layer.path);
    if (!role) continue;
    roles[role].push(layer);
    matrices.splice(matrices.indexOf(layer), 1);
  }
  let { q, k, v } = roles;
  if (!fused && q.length === 0) {
    const square = matrices.filter(({ rows, columns }) => rows === width && columns === width);
    if (square.length < 3) throw fail("no queries, keys and values");
    [q, k, v] = square.slice(0, 3).map((layer) => [layer]) as [Layer[], Layer[], Layer[]];
    for (const layer of square.slice(0, 3)) matrices.splice(matrices.indexOf(layer), 1);
  }
  const unequal = () => fail("queries, keys and values do not match");
  for (const list of [q, k, v]) {
    list.sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
    if (list.length !== q.length || list.some(({ weight }) => weight.shape.join() !== q[0]!.weight.shape.join())) throw unequal();
  }
  const side = q[0]?.columns ?? width;
  if (side !== width && side !== width / q.length) throw unequal();
  let qkv: Matrix;
  const apart = q.length > 0 ? [q, k, v].map((list) => stacked(list.map((layer, at) => spread(linear(layer), at, list.length, width)))) : undefined;
  if (fused) {
    qkv = linear(fused);
    if (apart) {
      if (q.length > 1 || apart.some(({ rows }) => rows !== width)) throw unequal();
      qkv = stacked(apart.map((one, at) => product(rowsOf(qkv, at * width, width), one)));
    }
  } else qkv = stacked(apart!);
  const inner = qkv.rows / 3;
  const proj = take(matrices, ({ path, rows, columns }) => rows === width && columns === inner && /out|proj|att|unify|mix|dense|merge|combine|(^|[._])(w?o|fc_?o|msa|mha)/.test(path) && !/mlp|ff|feed/.test(path)) ??
    (matrices.length % 2 ? take(matrices, ({ rows, columns }) => rows === width && columns === inner) : undefined);
  if (!proj && inner !== width) throw fail("nothing mixes the heads");
  const second = fused && apart && matrices.length % 2 ? take(matrices, ({ rows, columns }) => rows === width && columns === width) : undefined;
  const out = proj ? linear(proj) : identity;
  return { qkv, proj: second ? product(linear(second), out) : out, heads: q.length > 1 ? q.length : undefined, standard: fused ? /in_proj/.test(fused.path) : false };
}

const ACTIVATIONS = ["gelu", "relu", "gelu_tanh", "quick_gelu"];

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

  // What lies outside the blocks.
  const { layers, alone } = layersOf(outside.map((tensor) => [tensor.name, tensor] as const));
  const isPosition = (name: string) => /pos|(^|[._])pe($|[._])/i.test(name);
  const rows = ({ count }: Tensor) => count / width;
  const wide = ({ shape }: Tensor) => squeezed(shape).at(-1) === width || (shape.length === 2 && shape[0] === width && shape[1] === 1);
  const embedding = layers.findIndex(({ path, weight, bias }) => !bias && isPosition(path) && weight.shape.length === 2 && weight.shape[1] === width);
  const positionLayer = embedding >= 0 ? layers.splice(embedding, 1)[0]!.weight : undefined;
  const tokens = alone.filter(([name, tensor]) => wide(tensor) && rows(tensor) === 1 && !isPosition(name)).map(([, tensor]) => tensor);
  const places = [...(positionLayer ? [positionLayer] : []), ...alone.filter(([name, tensor]) => wide(tensor) && (rows(tensor) > 1 || isPosition(name))).map(([, tensor]) => tensor)];
  const unknown = alone.find(([, tensor]) => !tokens.includes(tensor) && !places.includes(tensor));
  if (unknown) throw unused(unknown[1]);
  const token = only(tokens, "class token");
  const position = only(places, "table of positions");

  // The patches.
  const convolution = layers.filter(({ weight }) => weight.shape.length > 2);
  if (convolution.length > 1) throw refuse(`${weights(convolution)} are convolutions one after the other: a hybrid, no plain ViT`);
  const [conv] = convolution;
  const vectors = layers.filter((layer) => isVector(layer));
  const matrices = layers.filter(({ weight }) => weight.shape.length === 2 && squeezed(weight.shape).length === 2);
  const isHead = (path: string) => /head|classif|(^|[._])(fc|out|logits|cls)|final/.test(path) && !/patch|embed/.test(path);
  const isPatch = (path: string) => /patch|embed|proj|token|input|stem|map/.test(path);
  let patches: Matrix;
  let patchLayer: Layer;
  if (conv) {
    if (conv.weight.shape.length !== 4) throw refuse(`${shown(conv.weight)} is no convolution of images`);
    patchLayer = conv;
    patches = linear(conv);
    if (patches.rows !== width || matrices.some(({ path, rows, columns }) => rows === width && columns === width && isPatch(path) && !isHead(path))) {
      const after = take(matrices, ({ path, rows, columns }) => rows === width && columns === patches.rows && !isHead(path));
      if (!after) throw refuse(`${shown(conv.weight)} makes no tokens of ${width} numbers`);
      patches = product(linear(after), patches);
    }
  } else {
    const candidates = matrices.filter(({ path, rows }) => rows === width && !isHead(path));
    const found = candidates.find(({ path }) => isPatch(path)) ?? candidates[0] ?? matrices.find(({ rows }) => rows === width);
    if (!found) {
      throw refuse(`nothing makes tokens of ${width} numbers`);
    }
    patchLayer = found;
    matrices.splice(matrices.indexOf(patchLayer), 1);
    patches = linear(patchLayer);
    const before = matrices.find(({ path, rows }) => rows === patches.columns && isPatch(path) && !isHead(path));
    if (before) {
      const [a, b] = outside.indexOf(before.weight) < outside.indexOf(patchLayer.weight) || before.columns !== width ? [before, patchLayer] : [patchLayer, before];
      matrices.splice(matrices.indexOf(before), 1);
      patches = product(linear(b!), linear(a!));
    }
  }

  // The norms and the head.
  const patchNorms = vectors.filter(({ path, weight }) => /patch/.test(path) || (weight.count !== width && weight.count === patches.columns));
  const inNorm = patchNorms.find(({ weight }) => weight.count === patches.columns && !conv && (patches.columns !== width || patchNorms.length > 1));
  const outNorm = patchNorms.find((layer) => layer !== inNorm && layer.weight.count === width);
  const thirdNorm = patchNorms.find((layer) => layer !== inNorm && layer !== outNorm);
  if (thirdNorm) throw unused(thirdNorm.weight);
  if ((inNorm || outNorm) && (conv || !inNorm || !outNorm)) throw refuse(`${shown((inNorm ?? outNorm)!.weight)}: such a norm is not computed here`);
  /** A bias that is exactly zero everywhere was never trained. */
  const isDead = ({ bias }: Layer) => bias !== undefined && isZero(bias);
  const leave = ({ weight, bias }: Layer) => void skipped.push(...[weight, bias!] as Placed[]);
  let norms = vectors.filter((layer) => layer !== inNorm && layer !== outNorm);
  if (norms.length > 1) {
    norms.filter(isDead).forEach(leave);
    norms = norms.filter((layer) => !isDead(layer));
  }
  const strangeNorm = norms.find(({ weight, bias }) => weight.count !== width || !bias);
  if (strangeNorm) throw refuse(`${shown(strangeNorm.weight)} is no LayerNorm of a token`);
  only(norms.map(({ weight }) => weight), "norm after the blocks");
  const [norm] = norms;
  const [headLayer] = matrices;
  let head = headLayer && linear(headLayer);
  let hidden: { readonly layer: Matrix; readonly activation: unknown } | undefined;
  if (matrices.length === 2) {
    const [a, b] = matrices[0]!.columns === width && matrices[1]!.columns === matrices[0]!.rows ? matrices : [matrices[1], matrices[0]];
    if (a!.columns !== width || b!.columns !== a!.rows) throw refuse(`${weights(matrices)} are no head`);
    const between = model.ask("head_activation", ["none", "tanh", "gelu", "relu"], `${weights(matrices)} are a head with a hidden layer`);
    if (between !== undefined && between !== "none") hidden = { layer: linear(a!), activation: between };
    head = hidden ? linear(b!) : product(linear(b!), linear(a!));
  } else if (matrices.length > 2) throw refuse(`${weights(matrices)} are no head`);
  const fed = (hidden?.layer ?? head)?.columns;
  if (head && fed !== width && fed !== 2 * width) throw refuse(`${shown(matrices[0]!.weight)} reads no tokens of ${width} numbers`);

  // The sizes.
  const prefix = token ? 1 : 0;
  let patch: Size | undefined;
  let channels: number;
  if (conv) {
    [, channels] = conv.weight.shape as [number, number];
    patch = [conv.weight.shape[2]!, conv.weight.shape[3]!];
  } else {
    const givenChannels = given.channels as number | undefined;
    const givenPatch = given.patch_size as Size | undefined;
    channels = givenChannels ?? (givenPatch ? patches.columns / (givenPatch[0] * givenPatch[1]) : [3, 1, 4, 2].find((count) => root(patches.columns / count))) ?? 0;
    const side = root(patches.columns / channels);
    patch = givenPatch ?? (side ? [side, side] : undefined);
    if (!patch) patch = model.ask("patch_size", [], `${shown(patchLayer.weight)} does not show it`, "[rows, columns]");
    else if (!givenPatch) model.assume("channels", channels);
  }
  const positions = position ? rows(position) : 0;
  let image = given.image_size as Size | undefined;
  let stride = given.patch_stride as Size | undefined;
  const side = root(positions - prefix) || (prefix ? root(positions) : 0);
  if (!image && patch && side) {
    const usual = patch.map((length, axis) => (side - 1) * (stride?.[axis] ?? length) + length) as unknown as Size;
    // Overlapping patches make more positions, so an image of an odd size may be a smaller one.
    if (stride || usual[0] === 28 || usual[0] % 32 === 0) image = model.assume("image_size", usual);
  }
  image ??= model.ask("image_size", [], side ? "no tensor shows whether patches overlap" : position ? `${positions} positions do not make a square` : "the file has no positions", "[rows, columns]");
  if (!position) model.ask("position", ["none", "sincos1d", "sincos2d"], "the file has no positions");
  const cells = (step: Size) => [0, 1].reduce((product, axis) => product * (Math.floor((image![axis]! - patch![axis]!) / step[axis]!) + 1), 1);
  if (image && patch && !stride && position && ![positions, positions - prefix].includes(cells(patch))) {
    const step = range(patch[0] - 1).find((at) => [positions, positions - prefix].includes(cells([at + 1, at + 1])));
    if (step !== undefined) stride = model.assume("patch_stride", [step + 1, step + 1] as Size);
  }
  const count = image && patch ? cells(stride ?? patch) : 0;
  if (position && count && positions < count) throw refuse(`${shown(position)}: expected positions for ${count} patches`);

  // What no tensor shows.
  const inner = first.qkv.rows / 3;
  const divisors = range(Math.min(inner, 64)).map((at) => at + 1).filter((heads) => inner % heads === 0);
  const heads = first.heads ?? model.ask("heads", divisors, "no tensor shows it");
  const place = model.ask("norm", first.norms.length === 0 ? ["pre"] : ["pre", "post"], "no tensor shows it");
  const activation = first.fc1 ? model.ask("activation", ACTIVATIONS, "no tensor shows it") : "gelu";
  const pool = fed === 2 * width ? "class_mean" : token ? model.ask("pool", ["class", "mean"], "the class token fits, and the mean of the patches too") : model.ask("pool", ["mean"], "");
  const norm_eps = model.assume("norm_eps", 1e-5);
  const mlp_norm_after = place === "pre" && first.fc1 ? model.assume("mlp_norm_after", false) : false;
  const order = !conv && channels > 1 ? model.ask("patch_order", ["channels_first", "channels_last"], `${shown(patchLayer.weight)} does not show it`) : undefined;
  const scale = first.standard ? "head" : model.assume<string>("attention_scale", "head");
  if (first.norms.length === 0 || (!first.fc1 && place === "post")) throw refuse("such a norm is not computed here");

  const d = heads ? inner / (heads as number) : 0;
  if (heads && !Number.isInteger(d)) throw new Refusal(`config: heads: expected a divisor of ${inner}, got ${String(heads)}`);
  const scales = new Map([["head", [1, 1]], ["width", [Math.sqrt(d / width), 1]], ["none", [Math.sqrt(d), 1]], ["after_softmax", [Math.sqrt(d), 1 / Math.sqrt(width)]]]);
  const [ofQueries, ofValues] = scales.get(scale) ?? [];
  if (!ofQueries) throw new Refusal(`config: attention_scale: expected ${[...scales.keys()].join(", ")}`);

  // The parameters.
  const flat = (read: (tensor: Tensor) => Float32Array) => patches.weight(read);
  model.put("patch_embed.proj.weight", patch && channels && order !== "channels_last" ? [width, channels, patch[0], patch[1]] : [width, patches.columns], patches.from.slice(0, 1), flat);
  if (order === "channels_last" && patch) {
    const [P, Q] = patch;
    model.put("patch_embed.proj.weight", [width, channels, P, Q], patches.from.slice(0, 1), (read) => {
      const values = flat(read);
      const out = new Float32Array(values.length);
      for (let row = 0, at = 0; row < width; row++) {
        for (let c = 0; c < channels; c++) for (let p = 0; p < P * Q; p++, at++) out[at] = values[row * patches.columns + p * channels + c]!;
      }
      return out;
    });
  }
  model.put("patch_embed.proj.bias", [width], patches.from.slice(1), patches.bias ?? zeros(width));
  if (inNorm && outNorm) {
    if (channels > 1) throw refuse("such a norm is not computed here");
    model.putNorm("patch_embed.norm_in", inNorm);
    model.putNorm("patch_embed.norm", outNorm);
  }
  if (token) model.put("cls_token", [1, 1, width], [token], (read) => read(token));
  const needed = count + prefix;
  if (position && count) {
    model.put("pos_embed", [1, needed, width], [position], (read) => {
      const values = read(position);
      const out = new Float32Array(needed * width);
      const missing = positions < needed ? prefix : 0; // positions of the patches alone
      out.set(values.subarray(0, (needed - missing) * width), missing * width);
      return out;
    });
  }
  const mlpWidth = first.fc1?.rows ?? 1;
  blocks.forEach(({ qkv, proj, fc1, fc2, norms: own, scales }, at) => {
    const name = `blocks.${at}.`;
    const [norm1, norm2 = norm1] = own as [Layer, Layer?];
    model.putNorm(`${name}norm1`, norm1);
    model.putNorm(`${name}norm2`, norm2!);
    const scaled = (make: Make): Make => (read) => make(read).map((value, index, { length }) => value * (index < length / 3 ? ofQueries : index < (2 * length) / 3 ? 1 : ofValues!));
    model.putMatrix(`${name}attn.qkv`, { ...qkv, weight: scaled(qkv.weight), bias: qkv.bias && scaled(qkv.bias) }, true);
    model.putMatrix(`${name}attn.proj`, proj, true);
    const none = (rowCount: number, columns: number): Matrix => ({ rows: rowCount, columns, from: [], bias: undefined, weight: zeros(rowCount * columns) });
    model.putMatrix(`${name}mlp.fc1`, fc1 ?? none(1, width), true);
    model.putMatrix(`${name}mlp.fc2`, fc2 ?? none(width, 1), true);
    scales.forEach((tensor, index) => model.put(`${name}ls${index + 1}.gamma`, [width], [tensor], (read) => read(tensor)));
  });
  const called = norm && isDead(norm) ? model.ask("final_norm", [true, false], `${shown(norm.weight)} was never trained: its bias is zero`) : given.final_norm;
  const final = called === false ? undefined : norm;
  // A mean's norm is before it, or after it, as in a Sequential of norm and head. For the class token both are one.
  const inHead = norm !== undefined && parent(norm) !== "" && parent(norm) === parent(headLayer);
  const isAfter = final && pool === "mean" ? model.assume("fc_norm", inHead) : false;
  const pool_prefix = token && pool === "mean" ? model.assume("pool_prefix", false) : false;
  if (final) model.putNorm(isAfter ? "fc_norm" : "norm", final);
  if (hidden) model.putMatrix("pre_logits", hidden.layer, true);
  if (head) model.putMatrix("head", head, true);

  exchange(model.parameters, tensors, (given.map ?? {}) as Mapping);
  const mapping = Object.fromEntries([...model.parameters].map(([name, { from }]) => [name, from.map((tensor) => tensor.name)]));
  const used = new Set([...model.parameters.values()].flatMap(({ from }) => from));
  if (final !== norm && norm) leave(norm);
  const left = tensors.find((tensor) => !used.has(tensor) && !skipped.includes(tensor) && tensor !== position && tensor !== patchLayer.weight && !patches.from.includes(tensor));
  if (left && count) throw unused(left);
  if (model.questions.length > 0) throw openQuestions(model.questions, mapping, blocks.length);
  const { attention_scale: _scale, head_activation: _head, patch_order: _order, fc_norm: _after, map: _map, ...keys } = given;
  const config: Json = {
    prepare: null,
    position: position ? "learned" : given.position,
    ...keys,
    image_size: image, patch_size: patch, ...(stride && { patch_stride: stride }), channels, width, depth: blocks.length, heads,
    ...(d * (heads as number) !== width && { head_width: d }),
    mlp_width: mlpWidth, classes: head?.rows ?? 0, norm: place, norm_eps, final_norm: final !== undefined, activation, pool, pool_prefix, mlp_norm_after,
    ...(hidden && { head_hidden: hidden.layer.rows, head_activation: hidden.activation }),
    prefix: token ? ["class"] : [], layer_scale: first.scales.length > 0, qkv_bias: true,
  };
  return { config, assumed: model.assumed, skipped: skipped.map(({ name }) => name), mapping, write: (read) => written(model.parameters, read) };
}

/** Takes other tensors of the same shapes for some parameters, as the caller's map says. */
function exchange(parameters: Map<string, Parameter>, tensors: readonly Tensor[], map: Mapping): void {
  const named = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const none: Parameter = { shape: [], from: [], make: zeros(0) };
  for (const [name, wanted] of Object.entries(map)) {
    const { shape, from, make } = parameters.get(name) ?? none;
    const to = [wanted].flat().map((one) => named.get(String(one)));
    if (to.length !== from.length || !to.every((tensor, at) => tensor?.shape.join() === from[at]!.shape.join())) {
      throw new Refusal(`config: map: ${quoted(name)}: expected tensors like ${listed(from) || "none: the model has no such parameter"}, got ${quoted(String(wanted))}`);
    }
    const other = new Map(from.map((tensor, at) => [tensor, to[at]!]));
    parameters.set(name, { shape, from: to as Tensor[], make: (read) => make((tensor) => read(other.get(tensor) ?? tensor)) });
  }
}

/** One error with everything that is open, and what the tensors were taken for. */
function openQuestions(questions: readonly Question[], mapping: Mapping, depth: number): Refusal {
  const asked = questions.map(({ key: name, text, why }) => `config: ${name}: set ${name} to ${text}: ${why}`).join("; ");
  const table = Object.entries(mapping).filter(([name, from]) => from.length > 0 && !/^blocks\.[1-9]|\.bias$/.test(name))
    .map(([name, from]) => `${name} ← ${from.join(" + ")}`).join("\n  ");
  const refusal = new Refusal(`${asked}\nThe tensors were taken for (${depth} blocks):\n  ${table}`);
  return Object.assign(refusal, { questions: questions.map(({ key: name, values }) => ({ key: name, values })), mapping });
}

function written(parameters: ReadonlyMap<string, Parameter>, read: Read): Uint8Array[] {
  const header = headerBytes(headerOf([...parameters].map(([name, { shape }]) =>
    [name, { dtype: "F32", shape, size: 4 * shape.reduce((product, length) => product * length, 1) }])));
  return [header, ...[...parameters.values()].map(({ make }) => {
    const { buffer, byteOffset, byteLength } = make(read);
    return new Uint8Array(buffer, byteOffset, byteLength);
  })];
}

/** A part of web/load/incoming.ts. */
export interface Bytes {
  peek(count: number): Promise<Uint8Array>;
  cancel(): void;
}

/** Reads the whole file and writes it anew under our names. */
export async function openStructure(tensors: readonly Tensor[], header: Header, given: Json, file: Bytes): Promise<Foreign> {
  const places = new Map(Object.keys(header.tensors ?? {}).map((name, at) => [name, at]));
  const placed = ([...tensors] as Placed[]).sort((a, b) => places.get(a.name)! - places.get(b.name)!);
  const everyAnswer = () => true;
  try {
    structureOf(placed, given, everyAnswer); // refuses another model before it is downloaded
  } catch (error) {
    if (!(error as Refusal).questions) throw error;
  }
  if (header.size > MOST_BYTES) throw refuse(`expected at most ${MOST_BYTES} bytes, got ${header.size}`);
  const data = (await file.peek(header.size)).subarray(header.bytes);
  const read = readNumbers(data);
  const { config, assumed, skipped, mapping, write } = structureOf(placed, given, (tensor) => read(tensor).every((value) => value === 0));
  const pieces = write(read);
  file.cancel();
  const written = new Blob(pieces as Uint8Array<ArrayBuffer>[]);
  return { config, map: undefined, written, origin: { family: "a model of its own", assumed, skipped, projection: null, mapping } };
}
