/**
 * The decoders of transformers' VisionEncoderDecoder: what their configs say, and what their tensors are here.
 * This is a bundle of its own, loaded only for such a model. Its encoder is read as a model of its own family.
 */
import type { Piece } from "../base/bytes.js";
import type { Json } from "../base/json.js";
import type { Settings } from "../config.js";
import { hasOwn, show } from "../errors.js";
import { MOST_DEPTH } from "../generated/config.js";
import type { Checkpoint } from "./checkpoint.js";
import type { Appended, Tensor } from "./family.js";
import { Refusal } from "./refusal.js";
import { readNumbers } from "./structure/types.js";
import { ACTIVATIONS, definedMembers, meaning, unknownName, wordOf } from "./words.js";

/** A decoder, as foreign.ts joins it to its encoder. */
export interface Decoder {
  readonly config: Json;
  readonly family: string;
  /** Our names, and the tensors that make each. */
  readonly tensors: readonly (readonly [ours: string, names: readonly string[]])[];
  readonly added: readonly Appended[];
  readonly ignores: (tensor: Tensor) => boolean;
  readonly generation: Settings;
}

type Default = readonly [key: string, value: unknown];

/** A family of decoders: its config's keys with their defaults, and what its code fixes. */
interface DecoderFamily {
  readonly name: string;
  readonly depth: string;
  readonly heads: Default;
  readonly activation: Default;
  readonly norm_eps: Default;
  readonly norm: "pre" | "post";
  /** As a family's, without `before`, which is in front of all but those with a ^; those with two are outside the decoder. */
  readonly names: string;
  readonly before: string;
  /** Beginnings of the names of buffers and copies; * is any number. */
  readonly ignored: readonly string[];
  /** Whether its matrices are (in,out). */
  readonly transposed?: boolean;
  /** How many rows of positions stand before the first token's; "padding": all up to the padding's. */
  readonly offset: number | "padding";
}

/** fairseq's modules: BART, mBART and TrOCR. */
const FAIRSEQ = {
  depth: "decoder_layers",
  heads: ["decoder_attention_heads", 16],
  activation: ["activation_function", "gelu"],
  norm_eps: ["", 1e-5],
  norm: "post",
  names: `
    token_embed.weight embed_tokens.weight
    pos_embed embed_positions.weight
    embed_norm layernorm_embedding
    blocks.*.attn.qkv layers.*.self_attn.{q_proj,k_proj,v_proj}
    blocks.*.attn.proj layers.*.self_attn.out_proj
    blocks.*.norm1 layers.*.self_attn_layer_norm
    blocks.*.cross.q layers.*.encoder_attn.q_proj
    blocks.*.cross.kv layers.*.encoder_attn.{k_proj,v_proj}
    blocks.*.cross.proj layers.*.encoder_attn.out_proj
    blocks.*.cross_norm layers.*.encoder_attn_layer_norm
    blocks.*.mlp.fc1 layers.*.fc1
    blocks.*.mlp.fc2 layers.*.fc2
    blocks.*.norm2 layers.*.final_layer_norm
    norm layer_norm
    head.weight ^output_projection.weight
    head.weight ^lm_head.weight`,
  before: "model.decoder.",
  ignored: ["embed_positions._float_tensor", "^output_projection.weight", "^lm_head.weight"],
  offset: 2,
} as const;

const BERT = {
  depth: "num_hidden_layers",
  heads: ["num_attention_heads", 12],
  activation: ["hidden_act", "gelu"],
  norm_eps: ["layer_norm_eps", 1e-12],
  norm: "post",
  names: `
    token_embed.weight embeddings.word_embeddings.weight
    pos_embed embeddings.position_embeddings.weight
    type_embed.weight embeddings.token_type_embeddings.weight
    embed_norm embeddings.LayerNorm
    blocks.*.attn.qkv encoder.layer.*.attention.self.{query,key,value}
    blocks.*.attn.proj encoder.layer.*.attention.output.dense
    blocks.*.norm1 encoder.layer.*.attention.output.LayerNorm
    blocks.*.cross.q encoder.layer.*.crossattention.self.query
    blocks.*.cross.kv encoder.layer.*.crossattention.self.{key,value}
    blocks.*.cross.proj encoder.layer.*.crossattention.output.dense
    blocks.*.cross_norm encoder.layer.*.crossattention.output.LayerNorm
    blocks.*.mlp.fc1 encoder.layer.*.intermediate.dense
    blocks.*.mlp.fc2 encoder.layer.*.output.dense
    blocks.*.norm2 encoder.layer.*.output.LayerNorm
    pre_logits ^cls.predictions.transform.dense
    pre_logits ^lm_head.dense
    pre_logits.norm ^cls.predictions.transform.LayerNorm
    pre_logits.norm ^lm_head.layer_norm
    head.weight ^cls.predictions.decoder.weight
    head.weight ^lm_head.decoder.weight
    head.bias ^cls.predictions.bias
    head.bias ^lm_head.bias
    head.bias ^cls.predictions.decoder.bias
    head.bias ^lm_head.decoder.bias`,
  before: "bert.",
  ignored: ["embeddings.position_ids", "embeddings.token_type_ids", "^cls.predictions.decoder.", "^lm_head.decoder."],
  offset: 0,
} as const;

const ROBERTA = { ...BERT, name: "RoBERTa", before: "roberta.", offset: "padding" } as const;

const DECODERS: Readonly<Record<string, DecoderFamily>> = {
  trocr: { ...FAIRSEQ, name: "TrOCR" },
  bart: { ...FAIRSEQ, name: "BART" },
  mbart: { ...FAIRSEQ, name: "mBART", norm: "pre" },
  gpt2: {
    name: "GPT-2",
    depth: "n_layer",
    heads: ["n_head", 12],
    activation: ["activation_function", "gelu_new"],
    norm_eps: ["layer_norm_epsilon", 1e-5],
    norm: "pre",
    names: `
      token_embed.weight wte.weight
      pos_embed wpe.weight
      blocks.*.norm1 h.*.ln_1
      blocks.*.attn.qkv h.*.attn.c_attn
      blocks.*.attn.proj h.*.attn.c_proj
      blocks.*.cross_norm h.*.ln_cross_attn
      blocks.*.cross.q h.*.crossattention.q_attn
      blocks.*.cross.kv h.*.crossattention.c_attn
      blocks.*.cross.proj h.*.crossattention.c_proj
      blocks.*.norm2 h.*.ln_2
      blocks.*.mlp.fc1 h.*.mlp.c_fc
      blocks.*.mlp.fc2 h.*.mlp.c_proj
      norm ln_f
      head.weight ^lm_head.weight`,
    before: "transformer.",
    ignored: ["h.*.attn.bias", "h.*.attn.masked_bias", "h.*.crossattention.bias", "h.*.crossattention.masked_bias", "^lm_head.weight"],
    transposed: true,
    offset: 0,
  },
  bert: { ...BERT, name: "BERT" },
  roberta: ROBERTA,
  camembert: { ...ROBERTA, name: "CamemBERT" },
  "xlm-roberta": { ...ROBERTA, name: "XLM-RoBERTa" },
};

/** Encoders whose tokens after their last norm, if they have one, are what a decoder reads. */
const ENCODERS = ["vit", "deit", "vit_msn", "ijepa", "dinov2", "dinov2_with_registers", "beit", "data2vec-vision"];

/** How text is generated in other ways, with the values that change nothing. */
const USUAL: Json = {
  do_sample: false, early_stopping: false, length_penalty: 1, repetition_penalty: 1, encoder_repetition_penalty: 1, diversity_penalty: 0, num_beam_groups: 1,
  no_repeat_ngram_size: 0, encoder_no_repeat_ngram_size: 0, min_length: 0, min_new_tokens: 0, forced_bos_token_id: null, forced_eos_token_id: null,
  suppress_tokens: null, begin_suppress_tokens: null, bad_words_ids: null, sequence_bias: null, exponential_decay_length_penalty: null,
  forced_decoder_ids: null, penalty_alpha: 0,
};
/** The length of generate() unless a config says otherwise. */
const LENGTH = 20;

/** The core's keys of what generate() reads: generation_config.json alone, or without it both configs. */
function generationOf(theirs: Json, whole: Json, generation: Json | undefined): { readonly config: Json; readonly settings: Settings } {
  const setting = (key: string) => (generation ? generation[key] : whole[key] ?? theirs[key]) ?? undefined;
  const [end, ...ends] = [setting("eos_token_id")].flat();
  const most = setting("max_new_tokens");
  const length = Number(most === undefined ? setting("max_length") ?? LENGTH : Number(most) + 1);
  const beams = Number(setting("num_beams") ?? 1);
  const changes = (key: string) => setting(key) !== USUAL[key] && String(setting(key) ?? ""); // an empty list changes nothing
  const unknown = Object.keys(USUAL).filter((key) => changes(key) && (beams > 1 || !/^(early|length)_/.test(key)));
  const config = { start: setting("decoder_start_token_id") ?? setting("bos_token_id"), end: ends.length > 0 ? [end, ...ends] : end, padding: setting("pad_token_id") ?? end };
  return { config: definedMembers(config), settings: { length, beams, unknown } };
}

/** What foreign.ts keeps of a VisionEncoderDecoder's config; further keys are the caller's, in our words. */
export interface DecoderSource extends Json {
  readonly theirs: Json;
  readonly whole: Json;
  readonly encoder: unknown;
  readonly generation: Json | undefined;
}

/** What all families have beside the decoder. */
const PROJECTION = "\nencoder_proj ^^enc_to_dec_proj";

/**
 * Reads a decoder in its encoder's file.
 *
 * @throws {Refusal} for a decoder or an encoder that is not known here.
 */
export function decoderOf(encoder: Checkpoint, { theirs: c, whole, encoder: encoderModel, generation, ...overrides }: DecoderSource): Decoder {
  const type = wordOf(c.model_type), encoderType = wordOf(encoderModel);
  if (!hasOwn(DECODERS, type)) throw unknownName("decoder.model_type", type, Object.keys(DECODERS).join(", "));
  if (!ENCODERS.includes(encoderType)) throw unknownName("encoder.model_type", encoderType, ENCODERS.join(", "), "of an encoder with a decoder");
  const decoderFamily = DECODERS[type]!, names = namesOf(decoderFamily);
  for (const [key, usual] of [["position_embedding_type", "absolute"], ["tie_encoder_decoder", false], ...(decoderFamily.offset === "padding" ? [["hidden_act", "gelu"]] : [])] as const) {
    if (c[key!] != null && c[key!] !== usual) throw new Refusal(`config: decoder.${key}: expected ${usual}, got "${show(wordOf(c[key!]))}"`);
  }
  const outer = encoder.prefix.replace(/encoder\.$/, ""); // in front of both
  const find = (name: string) => encoder.find(name, true);
  const sourcesOf = (ours: string, block = 0) => {
    const all = names.get(ours.replace(/^blocks\.\d+/, "blocks.*"))?.map((one) => one.map((name) => name.replace("*", String(block)))) ?? [];
    return { found: all.map((one) => one.map(find)).find((one) => one.every((tensor) => tensor)) as readonly Tensor[] | undefined, all };
  };
  const shapeOf = (ours: string) => sourcesOf(ours).found?.[0]?.shape ?? [];
  let depth = 0;
  while (depth < MOST_DEPTH && sourcesOf("blocks.*.norm1.weight", depth).found) depth++;

  const [vocabulary = 0, width = 0] = shapeOf("token_embed.weight");
  const heads = c[decoderFamily.heads[0]] ?? decoderFamily.heads[1];
  const halves = type === "trocr" && c.use_learned_position_embeddings === false;
  const counted = decoderFamily.offset === "padding", padding = Number(c.pad_token_id ?? 1);
  const position_offset = halves || counted ? padding + 1 : decoderFamily.offset as number;
  const tied = c.tie_word_embeddings !== false;
  const { config, settings } = generationOf(c, whole, generation);
  const added: Appended[] = [], tensors: [string, readonly string[]][] = [];
  const put = (ours: string, block?: number) => {
    const { found, all } = sourcesOf(ours, block);
    const made = decoderFamily.transposed && found && block !== undefined ? transposed(ours, found, factorOf(c, block, width / Number(heads))) : undefined;
    if (made) added.push(made);
    tensors.push([`decoder.${ours}`, made ? [made.name] : found?.map(({ name }) => name) ?? all[0]!.map((name) => outer + name)]);
  };
  for (const ours of names.keys()) {
    if (ours.startsWith("blocks.")) for (let block = 0; block < depth; block++) put(ours.replace("*", String(block)), block);
    else if (!tied || ours !== "head.weight") put(ours);
  }
  const ignored = new RegExp(`^(?:${decoderFamily.ignored.map((name) => fullName(name, decoderFamily.before).replace(/[^\w*]/g, "\\$&").replace("*", "\\d+")).join("|")})`);
  return {
    config: {
      depth: c[decoderFamily.depth] ?? depth, heads, width, vocabulary,
      mlp_width: shapeOf("blocks.*.mlp.fc1.weight")[decoderFamily.transposed ? 1 : 0] ?? 0,
      max_tokens: halves ? c.max_position_embeddings ?? 512 : (shapeOf("pos_embed")[0] ?? 0) - position_offset,
      position: halves ? "sincos_halves" : counted ? "counted" : "learned", position_offset,
      token_types: shapeOf("type_embed.weight")[0] ?? 0,
      norm: decoderFamily.norm, norm_eps: c[decoderFamily.norm_eps[0]] ?? decoderFamily.norm_eps[1],
      final_norm: shapeOf("norm.weight").length > 0,
      activation: meaning(decoderFamily.activation[0], c[decoderFamily.activation[0]] ?? decoderFamily.activation[1], ACTIVATIONS),
      embedding_scale: c.scale_embedding === true ? Math.sqrt(width) : 1,
      embedding_norm: shapeOf("embed_norm.weight").length > 0,
      encoder_proj: shapeOf("encoder_proj.weight").length > 0,
      tied_head: tied, head_bias: names.has("head.bias"), head_hidden: names.has("pre_logits.weight"),
      ...config, ...((halves || counted) && { padding }), ...overrides,
    },
    generation: settings, family: `transformers' ${decoderFamily.name}`, added, tensors,
    ignores: ({ name }) => ignored.test(name.slice(outer.length)),
  };
}

/** By our names, the ways to make each: of a family's tensors. */
function namesOf({ names, before }: DecoderFamily): ReadonlyMap<string, readonly (readonly string[])[]> {
  const all = new Map<string, (readonly string[])[]>();
  for (const line of (names + PROJECTION).trim().split("\n")) {
    const [ours, theirs] = line.trim().split(" ") as [string, string];
    const [, front = theirs, parts = "", back = ""] = /^(.*)\{(.*)\}(.*)$/.exec(theirs) ?? [];
    for (const end of /\.(weight|bias)$|^pos_embed$/.test(ours) ? [""] : [".weight", ".bias"]) {
      all.set(ours + end, [...(all.get(ours + end) ?? []), parts.split(",").map((part) => fullName(front + part + back + end, before))]);
    }
  }
  return all;
}

const fullName = (name: string, before: string) =>
  name.startsWith("^^") ? name.slice(2) : name.startsWith("^") ? `decoder.${name.slice(1)}` : `decoder.${before}${name}`;

// ---- GPT-2's matrices ------------------------------------------------------------

/** By what GPT-2 multiplies a block's queries, beside 1 / the root of a head's width. */
const factorOf = (c: Json, block: number, d: number) =>
  (c.scale_attn_weights === false ? Math.sqrt(d) : 1) / (c.scale_attn_by_inverse_layer_idx === true ? block + 1 : 1);

const FLOATS = ["F32", "F64", "F16", "BF16"];
/** The most numbers of a matrix that is transposed. A larger one is refused, because it has the wrong shape. */
const MOST_NUMBERS = 2 ** 26;

/** A matrix (in,out) as (out,in), and queries times a factor; undefined if nothing changes. */
function transposed(ours: string, [tensor]: readonly Tensor[], factor: number): Appended | undefined {
  const { dtype, shape, count } = tensor!, isMatrix = shape.length === 2;
  const queries = factor !== 1 ? (/\.cross\.q\./.test(ours) ? count : /\.attn\.qkv\./.test(ours) ? count / 3 : 0) : 0;
  if ((!isMatrix && !queries) || !FLOATS.includes(dtype) || count > MOST_NUMBERS) return undefined;
  const [rows, columns] = isMatrix ? shape as [number, number] : [1, count];
  const make = ([bytes]: readonly Piece[]) => {
    const { buffer, byteOffset } = bytes!, out = new Float32Array(count);
    const read = dtype === "F32" ? new Float32Array(buffer, byteOffset, count) : readNumbers(bytes!)({ ...tensor!, begin: 0, end: bytes!.length });
    for (let row = 0, at = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++, at++) {
        const to = column * rows + row;
        out[to] = to < queries ? read[at]! * factor : read[at]!;
      }
    }
    return new Uint8Array(out.buffer);
  };
  return { ...tensor!, begin: tensor!.end, name: `${tensor!.name}.transposed`, dtype: "F32", shape: isMatrix ? [columns, rows] : shape, from: [tensor!], replaces: true, make };
}
