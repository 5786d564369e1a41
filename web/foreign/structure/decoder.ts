/**
 * Reads a decoder beside the encoder: a stack whose blocks attend twice, to the text and to the image. This is a
 * bundle of its own, loaded when a file has such a stack; it shares code with structure.js.
 */
import type { Json } from "../../base/json.js";
import type { Tensor } from "../family.js";
import { type Block, readBlock, widthOf } from "./block.js";
import { type Part, type Stack, tensorsIn } from "./blocks.js";
import { byName, isPosition, isVector, type Layer, layersOf, type Living, parent, roleOf, signatures, sized, take, takeAll, uncomputed } from "./layers.js";
import type { Model } from "./model.js";
import { identity, type Matrix, rowsOf, stacked } from "./numbers.js";

export interface DecoderPart {
  /** Our keys, but for the caller's. */
  readonly config: Json;
  /** The tensors that it has taken. */
  readonly used: ReadonlySet<Tensor>;
  /** Adds its parameters. */
  put(): void;
}

/** Words in names of what belongs to the text, and to the image. */
export const TEXT = /dec|tgt|target|text|word|tok|seq|cap|label|voc|out|wte|wpe|lm_/i;
const IMAGE = /enc(?!.*dec)|src|patch|im(g|age)|vis|pixel|cls/i;

/**
 * @param modules how the names of a block's two attentions begin: the text's, and the image's
 * @param all the file's tensors, in its order
 * @param outside those that the encoder's stack has not
 * @throws {Refusal} for a decoder that is not computed here.
 */
export function readDecoder(
  stack: Stack, modules: readonly [string, string], encoder: Stack, heads: number | undefined, all: readonly Tensor[], outside: readonly Tensor[], living: Living, model: Model,
): DecoderPart {
  const { blocks } = stack, width = widthOf(blocks[0]!), encoderWidth = widthOf(encoder.blocks[0]!), used = new Set(tensorsIn(blocks));
  const { layers, alone } = layersOf(byName(outside.filter((tensor) => !used.has(tensor))));
  const [mine, theirs] = [stack, encoder].map(({ name }) => name.split(/[._]/)) as [string[], string[]];
  /** The stack's name up to the first word that differs from the encoder's. */
  const own = mine.slice(0, mine.findIndex((word, at) => word !== theirs[at]) + 1);
  /** Files of safetensors are sorted, so their order says nothing. */
  const hasOrder = all.some(({ name }, at) => at > 0 && name < all[at - 1]!.name);
  const follows = (tensor: Tensor, { blocks: [block] }: Stack) => hasOrder && all.indexOf(tensor) > all.indexOf(block!.values().next().value!);
  const first = ({ from }: Layer) => from[0]![0]!;
  /** How likely a tensor outside the stacks is the decoder's. */
  const likeness = (tensor: Tensor) => {
    const { name, shape } = tensor, isOwn = own.length > 0 && name.split(/[._]/, own.length).join() === own.join();
    return (isOwn ? 8 : 0) + (TEXT.test(name) ? 2 : 0) - (IMAGE.test(name) && !isOwn ? 8 : 0) + Number(follows(tensor, encoder)) + 2 * Number(follows(tensor, stack)) +
      (shape.at(-1) !== encoderWidth ? 8 : 0);
  };
  const likeliest = <One>(some: readonly One[], tensorOf: (one: One) => Tensor, least: number): One | undefined =>
    some.map((one) => [likeness(tensorOf(one)), one] as const).filter(([score]) => score >= least).sort(([a], [b]) => b - a)[0]?.[1];
  const use = <One extends Layer>(layer: One | undefined) => {
    for (const tensor of layer?.from.flat() ?? []) used.add(tensor);
    return layer;
  };
  const isAlone = ({ from }: Layer) => from[1]!.length === 0;
  const matrices = layers.filter((layer) => !isVector(layer) && layer.shape.length === 2 && !isPosition(layer.path)), ofWidth = matrices.filter(({ columns }) => columns === width);
  const lone = ofWidth.filter(isAlone), embeddings = lone.filter(({ path }) => /emb|wte|tok|lut|lookup/.test(path));
  const embed = use(likeliest(embeddings.length > 0 ? embeddings : lone, first, -4));
  if (!embed) throw uncomputed("a decoder without a table of tokens");
  const head = use(likeliest(ofWidth.filter((layer) => layer !== embed && layer.rows === embed.rows), first, -4));
  const positions = [...layers.filter((layer) => isAlone(layer) && isPosition(layer.path)).map(first), ...alone.map(([, tensor]) => tensor).filter(({ name }) => isPosition(name))]
    .filter((tensor) => tensor.shape.at(-1) === width);
  const isGrid = (tensor: Tensor) => [0, 1].some((prefix) => Number.isInteger(Math.sqrt(tensor.count / width - prefix)));
  const likely = likeliest(positions, (tensor) => tensor, positions.length > 1 ? -9 : 2);
  const table = positions.length > 1 && likeness(likely!) < 2 ? positions.find((tensor) => !isGrid(tensor)) ?? likely : likely;
  if (table) used.add(table);
  const isBridge = (layer: Layer) => layer !== embed && layer !== head && layer.rows === width && layer.columns === encoderWidth && (encoderWidth !== width || /enc.*dec|bridge|mem/i.test(layer.path) ||
    (follows(first(layer), encoder) && !follows(first(layer), stack) && likeness(first(layer)) > -4));
  const bridge = use(matrices.find(isBridge));
  const norms = layers.filter((layer) => isVector(layer) && layer.count === width && (likeness(first(layer)) > 2 || (head && parent(layer) && parent(layer) === parent(head))));
  const after = norms.find((layer) => bridge && parent(layer) && parent(layer) === parent(bridge));
  const embedNorm = norms.find(({ path }) => /emb/.test(path)), [norm, ...more] = norms.filter((layer) => layer !== embedNorm).map(use);
  use(embedNorm);
  if (after || more.length > 0) throw uncomputed(`${signatures(first(after ?? more[0]!))} of a decoder`);

  const answers = (model.config.decoder ?? {}) as Json;
  const decoderBlocks = blocks.map((block) => readDecoderBlock(block, modules, width, encoderWidth, living, bridge !== undefined));
  const place = answers.norm ?? model.ask("decoder_norm", ["pre", "post"]);
  const position = table ? "learned" : answers.position ?? model.ask("decoder_position", ["sincos1d", "sincos_halves"], "the file has none; sincos_halves has all sines first");
  const guesses: Json = {
    heads: decoderBlocks[0]!.own.heads ?? model.config.heads ?? heads, activation: model.config.activation, embedding_scale: 1, norm_eps: 1e-5, ...!table && { max_tokens: 256 },
  };
  const guessed = Object.entries(guesses).map(([key, value]) => [key, answers[key] ?? model.assume(`decoder_${key}`, value)] as const);
  const put = () => {
    model.put("decoder.token_embed.weight", [embed.rows, width], embed.from[0]!, (read) => embed.make(read, 0));
    if (table) model.put("decoder.pos_embed", [1, table.count / width, width], [table], (values) => values(table));
    decoderBlocks.forEach((block, at) => putDecoderBlock(model, `decoder.blocks.${at}.`, block));
    model.putLayers({ norm, embed_norm: embedNorm, head, encoder_proj: bridge }, "decoder.");
  };
  const config = {
    depth: blocks.length, width, mlp_width: decoderBlocks[0]!.own.fc1!.rows, vocabulary: embed.rows, ...table && { max_tokens: table.count / width },
    position, norm: place, final_norm: norm !== undefined, embedding_norm: embedNorm !== undefined, encoder_proj: bridge !== undefined, ...Object.fromEntries(guessed), tied_head: !head,
    head_bias: head !== undefined, ...answers,
  };
  return { config, used, put };
}

interface DecoderBlock {
  /** Self-attention and MLP, with the first norm and the last. */
  readonly own: Block;
  readonly cross: readonly [q: Matrix, kv: Matrix, proj: Matrix];
  readonly norm: Layer;
}

function readDecoderBlock(block: Part, [, cross]: readonly [string, string], width: number, encoderWidth: number, living: Living, isMapped: boolean): DecoderBlock {
  const norms = living(layersOf(block).layers.filter((layer) => isVector(layer) && layer.count === width), 3);
  const byNumber = norms.every(({ path }) => /[1-3]$/.test(path)) ? [...norms].sort((a, b) => Number(a.path.at(-1)) - Number(b.path.at(-1))) : norms;
  const norm = norms.find(({ name, path }) => name.startsWith(cross) || /cross/.test(path)) ?? byNumber[1];
  if (norms.length !== 3 || !norm) throw uncomputed("a decoder's block without three norms");
  const all = new Set(norms.flatMap(({ from }) => from.flat())), middle = new Set(norm.from.flat());
  const part = (test: (name: string, tensor: Tensor) => boolean) => new Map([...block].filter(([name, tensor]) => test(name, tensor)));
  const own = readBlock(part((name, tensor) => (!name.startsWith(cross) || all.has(tensor)) && !middle.has(tensor)), width, living);
  if (!own.fc1 || own.qkv.rows !== 3 * width) throw uncomputed("such a decoder's block");
  const inside = [...part((name, tensor) => name.startsWith(cross) && !all.has(tensor))].map(([name, tensor]) => [name.slice(cross.length), tensor] as const);
  return { own, cross: readCross(new Map(inside), width, isMapped ? width : encoderWidth), norm };
}

/** Attention to the image's tokens of `encoderWidth` numbers: queries, keys with values, what mixes the heads. */
function readCross(part: Part, width: number, encoderWidth: number): readonly [q: Matrix, kv: Matrix, proj: Matrix] {
  const { layers, alone } = layersOf(part), matrices = layers.filter((layer) => !isVector(layer));
  const bias = alone.find(([name]) => name.endsWith("in_proj_bias"))?.[1];
  /** nn.MultiheadAttention saves three weights and one bias where keys have a width of their own. */
  const projection = (tensor: Tensor, at: number): Matrix => ({
    rows: width, columns: tensor.shape.at(-1)!, from: [[tensor], bias ? [bias] : []],
    make: (read, which) => (which ? bias ? read(bias).slice(at * width, (at + 1) * width) : new Float32Array(width) : read(tensor)),
  });
  const fused = take(matrices, sized(3 * width, width)), pair = take(matrices, sized(2 * width, encoderWidth));
  const lists = ["q", "k", "v"].map((role, at) => [
    ...alone.filter(([name]) => name.endsWith(`${role}_proj_weight`)).map(([, tensor]) => projection(tensor, at)),
    ...takeAll(matrices, ({ path }) => roleOf(path) === role),
  ]);
  if (!fused) lists.forEach((list, at) => {
    const square = list.length > 0 || (at > 0 && pair) ? undefined : take(matrices, sized(width, at ? encoderWidth : width));
    if (square) list.push(square);
  });
  const [q, k, v] = lists as [Matrix[], Matrix[], Matrix[]], kv = pair ?? (k.length > 0 && stacked([...k, ...v]));
  const [proj = identity(width), ...more] = matrices;
  const made = fused ? [rowsOf(fused, 0, width), rowsOf(fused, width, 2 * width)] as const : q.length > 0 && kv ? [stacked(q), kv] as const : undefined;
  if (!made || made[0].rows !== width || made[1].rows !== 2 * width || made[1].columns !== encoderWidth || proj.columns !== width || more.length > 0) {
    throw uncomputed(`cross-attention of ${signatures(...part.values())}`);
  }
  return [...made, proj];
}

function putDecoderBlock(model: Model, name: string, { own, cross: [q, kv, proj], norm }: DecoderBlock): void {
  model.putLayers({
    norm1: own.norms[0]!, "attn.qkv": own.qkv, "attn.proj": own.proj,
    cross_norm: norm, "cross.q": q, "cross.kv": kv, "cross.proj": proj,
    norm2: own.norms[1]!, "mlp.fc1": own.fc1!, "mlp.fc2": own.fc2!,
  }, name);
}
