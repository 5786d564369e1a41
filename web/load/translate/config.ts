/**
 * What other code writes beside its weights, in our words: `config.json` of transformers and of
 * timm, open_clip_config.json. What the tensors' shapes tell, src/file/complete.c finds out; what becomes of
 * pixels, processor.ts.
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
 * A config in anybody's words → in ours, which may be one in part.
 *
 * @param asks whether its `prepare` is wanted; else none is refused.
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
 * Their layer_norm_eps and hidden_act where a config leaves them out, their prefix, and whether
 * branches are scaled: tensors that say otherwise are another model's.
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

/** Of a DINOv2 with registers, if its config leaves them out. */
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
  });
}

function registersOf({ num_register_tokens: count = REGISTERS }: Json): "register"[] {
  if (Number.isInteger(count) && (count as number) >= 0 && (count as number) <= MOST_REGISTERS) {
    return Array<"register">(count as number).fill("register");
  }
  const what = `expected a whole number up to ${MOST_REGISTERS}, got ${show(JSON.stringify(count))}`;
  throw new Refusal(`config: num_register_tokens: ${what}`);
}

/** Before 4.52 the mean beside a DINOv2's class token was of its registers too. */
const poolsRegisters = (version: unknown) => (versionOf(version) ? isBefore(version, 52) : undefined);

const versionOf = (version: unknown) => /^(\d+)\.(\d+)/.exec(wordOf(version));

/** Whether a version is older than 4.`minor`. */
function isBefore(version: unknown, minor: number): boolean {
  const [, major = "", got = ""] = versionOf(version) ?? [];
  return major === "4" && Number(got) < minor;
}

/** Those of a classifier: every config has some, if only LABEL_0 and LABEL_1. */
function labelsOf({ architectures, id2label }: Json): string[] | undefined {
  if (!wordOf(architectures).includes("Classif") || !id2label) return undefined;
  // whole numbers as keys come in their order
  const labels = isObject(id2label) ? Object.values(id2label) : [id2label];
  return labels.map((label) => {
    if (typeof label === "string" || typeof label === "number") return String(label);
    const got = show(JSON.stringify(label));
    throw new Refusal(`config: id2label: expected an object of strings, got ${got}`);
  });
}

// ---- timm --------------------------------------------------------------------

/** What timm's pooling is here. */
const POOLS = {
  token: "class", avg: "mean", map: "attention", max: "max", avgmax: "mean_max", prr: "prr",
} as const;

/** timm's `act_layer`, a word or a class. */
const TIMM_ACTIVATIONS = {
  gelu: "gelu",
  gelu_tanh: "gelu_tanh",
  quick_gelu: "quick_gelu",
  quickgelu: "quick_gelu",
  relu: "relu",
} as const;

/** Those of `model_args` that change what is computed and that no tensor tells, and their known words. */
const LAYERS: Readonly<Record<string, RegExp>> = {
  norm_layer: /^layernorm(fp32)?$/i,
  attn_layer: /^attn$/,
  block_fn: /^block$/i,
  mlp_layer: /^mlp$/i,
  embed_layer: /^patchembed$/i,
};

/** Before timm 0.8 all of `pretrained_cfg` stood beside the architecture. */
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
    position_resize: "antialias",
    pool_prefix: args.pool_include_prefix ?? (name === "test_vit3" || poolsPatches(pixels)),
    heads: args.num_heads ?? headsOf(name, num_features),
    labels: listOf(config.label_names ?? pixels.label_names ?? config.labels, num_classes),
    prepare: asks && rows ? ofTimmsPixels(pixels, size as [number, number]) : undefined,
    norm_eps: /clip|quickgelu/.test(name) ? 1e-5 : 1e-6,
    activation: args.act_layer == null ? actOf(name) : meaning("act_layer", args.act_layer, TIMM_ACTIVATIONS),
  });
}

/**
 * Before 1.0.16 the query of `map` saw the prefix too. A licence is written since 1.0.21: without
 * one nothing tells, and src/file/complete.c asks where it matters.
 */
const poolsPatches = ({ license }: Json) => (license ? false : undefined);

/** Labels as a list, or by number, which may leave some out. */
function listOf(labels: unknown, count: unknown): unknown {
  if (!isObject(labels)) return labels ?? undefined;
  const numbers = Object.keys(labels).map(Number);
  const length = Math.max(Number.isInteger(count) ? (count as number) : 0, ...numbers.map((at) => at + 1));
  if (!numbers.every((at) => Number.isInteger(at) && at >= 0) || length > MOST_LABELS) {
    throw new Refusal(`config: label_names: expected numbers below ${MOST_LABELS} as keys`);
  }
  return Array.from({ length }, (_, at) => labels[at] ?? String(at));
}

/** As src/file/config.c has it. */
const MOST_LABELS = 1_000_000;

/** The few SigLIPs of timm's vision_transformer.py whose gelu is tanh's; in the others it is exact. */
const TANH = /base_patch32_siglip(_gap)?_256|large_patch16_siglip(_gap)?_512|(so400m|giantopt)_patch16_siglip/;

const actOf = (name: string) =>
  /quickgelu/.test(name) ? "quick_gelu" : TANH.test(name) ? "gelu_tanh" : "gelu";

// ---- open_clip ---------------------------------------------------------------

/** Those of `vision_cfg` that change what is computed, and that no tensor tells. */
const UNKNOWN_VISION = ["attentional_pool", "final_ln_after_pool", "scaled_cosine_attn", "block_type"];
const OPEN_CLIP_POOLS = { tok: "class", avg: "mean" } as const;

/** open_clip_config.json. A tower of timm's has timm's ways. */
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
    norm_eps: objectOr(c.norm_kwargs, {}).eps ?? 1e-5,
    activation: model.quick_gelu ? "quick_gelu" : tanh ? "gelu_tanh" : "gelu",
    prepare,
  });
}

export const pair = (size: unknown) => (typeof size === "number" ? [size, size] : size);

/** The members that are there. */
function known(members: Json): Config {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Config;
}
