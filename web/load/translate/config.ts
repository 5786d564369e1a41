/**
 * Translates `config.json` of transformers and timm, and open_clip_config.json, into our config.
 * src/file/complete.c infers keys from the tensors' shapes. processor.ts translates how pixels are
 * prepared.
 */
import type { VitConfig } from "../../config.js";
import { show } from "../../errors.js";
import { expectFamily, headsOf } from "./families.js";
import { isObject, type Json } from "../../base/json.js";
import { ofOpenClipsPixels, ofTimmsPixels } from "./processor.js";
import { Refusal } from "../refusal.js";
import { meaning, objectOr, wordOf } from "./words.js";

type Config = Partial<VitConfig>;

/**
 * Translates any config into ours. Keys may be missing.
 *
 * @param asks whether its `prepare` is wanted. Otherwise a bad one is not refused.
 */
export function ourConfig(config: Json, asks = true): Json {
  expectFamily(config, Object.keys(TYPES));
  if (config.model_type) return ofTransformers(config);
  if (config.architecture) return ofTimm(config, asks);
  return config.model_cfg ? ofOpenClip(config, asks) : config;
}

// ---- transformers ------------------------------------------------------------

const ACTIVATIONS = {
  gelu: "gelu",
  gelu_python: "gelu",
  gelu_new: "gelu_tanh",
  gelu_fast: "gelu_tanh",
  gelu_accurate: "gelu_tanh",
  gelu_python_tanh: "gelu_tanh",
  gelu_pytorch_tanh: "gelu_tanh",
  quick_gelu: "quick_gelu",
  relu: "relu",
} as const;

/**
 * For each type: the default of layer_norm_eps, the default of hidden_act, the prefix, and whether
 * branches are scaled. Tensors that disagree are another model's.
 */
const CLASS = ["class"] as const;
const TYPES = {
  vit: [1e-12, "gelu", CLASS, false],
  deit: [1e-12, "gelu", ["class", "distillation"], false],
  vit_mae: [1e-12, "gelu", CLASS, false],
  vit_msn: [1e-6, "gelu", CLASS, false],
  dinov2: [1e-6, "gelu", CLASS, true],
  dinov2_with_registers: [1e-6, "gelu", CLASS, true],
  clip: [1e-5, "quick_gelu", CLASS, false],
  siglip: [1e-6, "gelu_pytorch_tanh", [], false],
} as const;

/** The registers of a DINOv2 with registers whose config does not say how many. */
const REGISTERS = 4;
const MOST_REGISTERS = 1024;

function ofTransformers(config: Json): Config {
  const type = wordOf(config.model_type).replace("_vision_model", "");
  const [eps, act, prefix, layer_scale] = meaning("model_type", type, TYPES);
  const c = { ...objectOr(config.vision_config, config), ...objectOr(config.vision_config_dict, {}) } as Json;
  if (c.use_swiglu_ffn) {
    throw new Refusal("config: use_swiglu_ffn: expected false: SwiGLU is not known here");
  }
  if (wordOf(config.architectures).includes("SiglipForImage") && isBefore(config.transformers_version, 43)) {
    const why = "before 4.43 SiglipForImageClassification left the first patch out of its mean";
    throw new Refusal(`config: transformers_version: ${why}; expected a newer one`);
  }
  const registers = type === "dinov2_with_registers";
  const classifies = wordOf(config.architectures).includes("Classif");
  return known({
    image_size: pair(c.image_size),
    patch_size: pair(c.patch_size),
    prefix: registers ? [...prefix, ...registersOf(c)] : prefix,
    layer_scale,
    pool_prefix: classifies && registers ? poolsRegisters(config.transformers_version) : undefined,
    channels: c.num_channels,
    width: c.hidden_size,
    depth: c.num_hidden_layers,
    heads: c.num_attention_heads ?? 12,
    mlp_width: c.intermediate_size,
    qkv_bias: c.qkv_bias === false ? false : undefined,
    norm_eps: c.layer_norm_eps ?? eps,
    activation: meaning("hidden_act", c.hidden_act ?? act, ACTIVATIONS),
    labels: labelsOf(config),
    problem_type: config.problem_type ?? undefined,
  });
}

function registersOf({ num_register_tokens: count = REGISTERS }: Json): "register"[] {
  if (Number.isInteger(count) && (count as number) >= 0 && (count as number) <= MOST_REGISTERS) {
    return Array<"register">(count as number).fill("register");
  }
  const what = `expected a whole number up to ${MOST_REGISTERS}, got ${show(JSON.stringify(count))}`;
  throw new Refusal(`config: num_register_tokens: ${what}`);
}

/** Before 4.52, the mean beside a DINOv2's class token included its registers. */
const poolsRegisters = (version: unknown) => (versionOf(version) ? isBefore(version, 52) : undefined);

const versionOf = (version: unknown) => /^(\d+)\.(\d+)/.exec(wordOf(version));

/** Whether a version is older than 4.`minor`. */
function isBefore(version: unknown, minor: number): boolean {
  const [, major = "", got = ""] = versionOf(version) ?? [];
  return major === "4" && Number(got) < minor;
}

/** A classifier's labels. Every config has some, so those of other models are not used. */
function labelsOf({ architectures, id2label }: Json): string[] | undefined {
  if (!wordOf(architectures).includes("Classif") || !id2label) return undefined;
  // Keys that are whole numbers come in ascending order.
  const labels = isObject(id2label) ? Object.values(id2label) : [id2label];
  return labels.map((label) => {
    if (typeof label === "string" || typeof label === "number") return String(label);
    const got = show(JSON.stringify(label));
    throw new Refusal(`config: id2label: expected an object of strings, got ${got}`);
  });
}

// ---- timm --------------------------------------------------------------------

/** Our values for timm's `global_pool`. */
const POOLS = {
  token: "class", avg: "mean", map: "attention", max: "max", avgmax: "mean_max", prr: "prr",
} as const;

/** Our values for timm's `act_layer`, which is a word or a class. */
const TIMM_ACTIVATIONS = {
  gelu: "gelu",
  gelu_tanh: "gelu_tanh",
  quick_gelu: "quick_gelu",
  quickgelu: "quick_gelu",
  relu: "relu",
} as const;

/** Keys of `model_args` that change the results but no tensor, and their known words. */
const LAYERS: Readonly<Record<string, RegExp>> = {
  norm_layer: /^layernorm(fp32)?$/i,
  attn_layer: /^attn$/,
  block_fn: /^block$/i,
  mlp_layer: /^mlp$/i,
  embed_layer: /^patchembed$/i,
};

/** Before timm 0.8, the keys of `pretrained_cfg` stood beside `architecture`. */
function ofTimm(config: Json, asks: boolean): Config {
  const { architecture, global_pool, pretrained_cfg, model_args, num_features, num_classes } = config;
  const name = wordOf(architecture);
  const args = objectOr(model_args, {});
  for (const [key, word] of Object.entries(LAYERS)) {
    const got = wordOf(args[key]);
    if (!args[key] || word.test(got)) continue;
    throw new Refusal(`config: model_args.${key}: ${show(got)} is not known here; expected a plain ViT's, or none`);
  }
  const pool = args.global_pool ?? global_pool;
  const pixels = objectOr(pretrained_cfg, config);
  const { 0: channels, 1: rows, 2: columns } = Object(pixels.input_size) as number[];
  const size = pair(args.img_size) ?? (rows && [rows, columns ?? rows]);
  return known({
    channels: args.in_chans ?? channels,
    image_size: size,
    pool: pool == null || pool === "" ? undefined : meaning("global_pool", pool, POOLS),
    norm: "pre", // LAYERS and families.ts refuse other blocks
    position: args.pos_embed === "none" ? "none" : undefined,
    position_resize: "antialias",
    pool_prefix: args.pool_include_prefix ?? (name === "test_vit3" || poolsPatches(pixels, pool)),
    heads: args.num_heads ?? headsOf(name, num_features),
    labels: listOf(config.label_names ?? pixels.label_names ?? config.labels, num_classes),
    prepare: asks && rows ? ofTimmsPixels(pixels, size as [number, number], args.in_chans ?? channels) : undefined,
    norm_eps: /clip|quickgelu/.test(name) ? 1e-5 : 1e-6,
    activation: args.act_layer == null ? actOf(name) : meaning("act_layer", args.act_layer, TIMM_ACTIVATIONS),
  });
}

/**
 * Before timm 1.0.16, the query of `map` attended to the prefix, too. A config with a licence is of
 * 1.0.21 or newer. Without one the version is unknown, and src/file/complete.c asks if it matters.
 */
const poolsPatches = ({ license }: Json, pool: unknown) =>
  license || (pool != null && pool !== "map") ? false : undefined;

/** Labels as a list. They may be given by their numbers, of which some may be missing. */
function listOf(labels: unknown, count: unknown): unknown {
  if (!isObject(labels)) return labels ?? undefined;
  const numbers = Object.keys(labels).map(Number);
  const length = Math.max(Number.isInteger(count) ? (count as number) : 0, ...numbers.map((at) => at + 1));
  if (!numbers.every((at) => Number.isInteger(at) && at >= 0) || length > MOST_LABELS) {
    throw new Refusal(`config: label_names: expected numbers below ${MOST_LABELS} as keys`);
  }
  return Array.from({ length }, (_, at) => labels[at] ?? String(at));
}

/** The limit of src/file/config.c. */
const MOST_LABELS = 1_000_000;

/** timm's SigLIPs that use gelu_tanh. Its other SigLIPs use the exact gelu. */
const TANH = /base_patch32_siglip(_gap)?_256|large_patch16_siglip(_gap)?_512|(so400m|giantopt)_patch16_siglip/;

const actOf = (name: string) =>
  /quickgelu/.test(name) ? "quick_gelu" : TANH.test(name) ? "gelu_tanh" : "gelu";

// ---- open_clip ---------------------------------------------------------------

/** Keys of `vision_cfg` that change the results but no tensor. */
const UNKNOWN_VISION = ["attentional_pool", "final_ln_after_pool", "scaled_cosine_attn", "block_type"];
const OPEN_CLIP_POOLS = { tok: "class", avg: "mean" } as const;

/** Translates open_clip_config.json. A timm model inside it is translated as timm's. */
function ofOpenClip({ model_cfg, preprocess_cfg }: Json, asks: boolean): Config {
  const model = objectOr(model_cfg, {});
  const c = objectOr(model.vision_cfg, {});
  const [rows, columns] = (pair(c.image_size) ?? [224, 224]) as [number, number];
  const size = [rows, columns] as const;
  const prepare = asks ? ofOpenClipsPixels(objectOr(preprocess_cfg, {}), size) : undefined;
  if (c.timm_model_name) {
    const config = { architecture: c.timm_model_name, global_pool: c.timm_pool ?? "avg", model_args: c.timm_model_kwargs };
    return known({ ...ourConfig(config, false), image_size: size, prepare });
  }
  const unknown = UNKNOWN_VISION.find((key) => c[key]);
  if (unknown) throw new Refusal(`config: vision_cfg.${unknown}: expected none; it is not known here`);
  if (Array.isArray(c.layers)) throw new Refusal("config: vision_cfg.layers: expected a number: a ResNet is not known here");
  const tanh = objectOr(c.act_kwargs, {}).approximate === "tanh";
  return known({
    image_size: size,
    heads: Number(c.width ?? 768) / Number(c.head_width ?? 64),
    pool: meaning("vision_cfg.pool_type", c.pool_type ?? "tok", OPEN_CLIP_POOLS),
    pool_prefix: false,
    norm_eps: objectOr(c.norm_kwargs, {}).eps ?? 1e-5,
    activation: model.quick_gelu ? "quick_gelu" : tanh ? "gelu_tanh" : "gelu",
    prepare,
  });
}

export const pair = (size: unknown) => (typeof size === "number" ? [size, size] : size);

/** The members that are not undefined. */
function known(members: Json): Config {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Config;
}
