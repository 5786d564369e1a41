/** Reads a decoder beside the encoder: a stack whose blocks attend twice, to the text and to the image. */
import type { Json } from "../../base/json.js";
import type { Tensor } from "../family.js";
import type { Refusal } from "../refusal.js";
import { type Block, readBlock, widthOf } from "./block.js";
import { type Part, type Stack, tensorsIn } from "./blocks.js";
import { byName, isPosition, isVector, type Layer, layersOf, type Living, take, uncomputed } from "./layers.js";
import type { Model } from "./model.js";
import { rowsOf } from "./numbers.js";
import { isDecoder, isOf, modulesOf } from "./several.js";

interface Found {
  /** Our keys, but for the caller's. */
  readonly config: Json;
  /** The tensors that it has taken. */
  readonly used: ReadonlySet<Tensor>;
  /** Adds its parameters. */
  put(): void;
}

/** The only decoder beside an encoder. Another than can be computed here is left out. @param outside the tensors that the encoder's stack has not. */
export function decoderIn(stacks: readonly Stack[], encoder: Stack, outside: readonly Tensor[], living: Living, model: Model): Found | undefined {
  const [decoder, ...more] = stacks.filter(isDecoder);
  if (!decoder || more.length > 0 || decoder === encoder) return undefined;
  const inside = tensorsIn(decoder.blocks);
  try {
    return readDecoder(decoder, encoder, outside.filter((tensor) => !inside.has(tensor)), living, model);
  } catch (error) {
    if ((error as Refusal).code === "bad_tensor") return undefined;
    throw error;
  }
}

/** @param outside the tensors that no stack has. */
function readDecoder(stack: Stack, encoder: Stack, outside: readonly Tensor[], living: Living, model: Model): Found {
  const { blocks } = stack, width = widthOf(blocks[0]!);
  const { layers, alone } = layersOf(byName(outside));
  const isOther = isOf(stack.name, encoder.name), isNamed = (tensor: Pick<Tensor, "name">) => isOther(tensor) || /dec|tgt|target|text|word|tok|seq/i.test(tensor.name);
  const used = new Set(tensorsIn(blocks));
  const use = <One extends Layer>(layer: One | undefined) => {
    for (const tensor of layer?.from.flat() ?? []) used.add(tensor);
    return layer;
  };
  const isAlone = ({ from }: Layer) => from[1]!.length === 0, first = ({ from }: Layer) => from[0]![0]!;
  const tables = layers.filter((layer) => !isVector(layer) && layer.shape.length === 2 && layer.columns === width);
  const takeTable = (test: (layer: Layer) => boolean) => take(tables, (layer) => isAlone(layer) && !isPosition(layer.path) && test(layer));
  const embed = use(takeTable(isNamed) ?? takeTable(({ path }) => /emb/.test(path)));
  if (!embed) throw uncomputed("such a decoder"); // decoderIn leaves it out
  const head = use(take(tables, ({ rows, path }) => rows === embed.rows && !isPosition(path)));
  const positions = [...tables.filter(({ path }) => isPosition(path)).map(first), ...alone.map(([, tensor]) => tensor)
    .filter((tensor) => isPosition(tensor.name) && tensor.shape.at(-1) === width)];
  const table = positions.find(isOther) ?? (positions.length > 1 ? positions.find(isNamed) : undefined);
  if (table) used.add(table);
  const norm = use(layers.find((layer) => isVector(layer) && layer.count === width && isOther(layer)));

  const given = (model.given.decoder ?? {}) as Json;
  const place = given.norm ?? model.ask("decoder_norm", ["pre", "post"]);
  const guesses: Json = { heads: model.given.heads, activation: model.given.activation, embedding_scale: 1, norm_eps: 1e-5, ...!table && { max_tokens: 256 } };
  const guessed = Object.entries(guesses).map(([key, value]) => [key, given[key] ?? model.assume(`decoder_${key}`, value)] as const);
  const read = blocks.map((block) => readDecoderBlock(block, width, living));
  const put = () => {
    model.put("decoder.token_embed.weight", [embed.rows, width], embed.from[0]!, (read) => embed.make(read, 0));
    if (table) model.put("decoder.pos_embed", [1, table.count / width, width], [table], (values) => values(table));
    read.forEach((block, at) => putDecoderBlock(model, `decoder.blocks.${at}.`, block));
    model.putLayers({ norm, head }, "decoder.");
  };
  const config = {
    depth: blocks.length, width, mlp_width: read[0]!.own.fc1!.rows, vocabulary: embed.rows, ...table && { max_tokens: table.count / width },
    norm: place, final_norm: norm !== undefined, ...Object.fromEntries(guessed), position: table ? "learned" : "sincos1d", tied_head: !head,
    head_bias: head !== undefined && !isAlone(head), ...given,
  };
  return { config, used, put };
}

interface DecoderBlock {
  /** Self-attention and MLP, with the first norm and the last. */
  readonly own: Block;
  readonly cross: Block;
  readonly norm: Layer;
}

function readDecoderBlock(block: Part, width: number, living: Living): DecoderBlock {
  const [, cross] = modulesOf(block)!;
  const norms = layersOf(block).layers.filter((layer) => isVector(layer) && layer.count === width);
  const [, norm] = norms;
  if (norms.length !== 3 || !norm) throw uncomputed("such a decoder");
  const all = new Set(norms.flatMap(({ from }) => from.flat())), middle = new Set(norm.from.flat());
  const part = (test: (name: string, tensor: Tensor) => boolean) => new Map([...block].filter(([name, tensor]) => test(name, tensor)));
  const own = readBlock(part((name, tensor) => (!name.startsWith(cross) || all.has(tensor)) && !middle.has(tensor)), width, living);
  const seen = readBlock(part((name, tensor) => name.startsWith(cross) && !all.has(tensor)), width, living);
  if (!own.fc1 || seen.fc1 || own.qkv.rows !== 3 * width || seen.qkv.rows !== 3 * width) throw uncomputed("such a decoder");
  return { own, cross: seen, norm };
}

function putDecoderBlock(model: Model, name: string, { own, cross, norm }: DecoderBlock): void {
  const { rows } = cross.proj;
  model.putLayers({
    norm1: own.norms[0]!, "attn.qkv": own.qkv, "attn.proj": own.proj,
    cross_norm: norm, "cross.q": rowsOf(cross.qkv, 0, rows), "cross.kv": rowsOf(cross.qkv, rows, 2 * rows), "cross.proj": cross.proj,
    norm2: own.norms[1]!, "mlp.fc1": own.fc1!, "mlp.fc2": own.fc2!,
  }, name);
}
