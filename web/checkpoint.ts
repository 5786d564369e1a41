/**
 * What other code writes beside its weights, in our words: `config.json` of transformers and of
 * timm. What the tensors' shapes tell, src/infer.c finds out; what becomes of pixels, processor.ts.
 */
import type { VitConfig } from "./config.js";
import { show, VitError } from "./errors.js";
import { expectFamily } from "./families.js";
import { isObject, type Json } from "./json.js";
import { ofTimmsPixels } from "./processor.js";
import { meaning, objectOr, wordOf } from "./words.js";

type Config = Partial<VitConfig>;

/**
 * A config in anybody's words → in ours, which may be one in part.
 *
 * @param asks whether its `prepare` is wanted; else none is refused.
 */
export function ourConfig(config: Json, asks = true): Json {
  expectFamily(config, Object.keys(TYPES));
  return config.model_type ? ofTransformers(config) : config.architecture ? ofTimm(config, asks) : config;
}

// ---- transformers ------------------------------------------------------------

const ACTIVATIONS = {
  gelu: "gelu",
  gelu_new: "gelu_tanh",
  gelu_pytorch_tanh: "gelu_tanh",
  quick_gelu: "quick_gelu",
  relu: "relu",
} as const;

/** Their layer_norm_eps and hidden_act where a config leaves them out, which no shape tells. */
const TYPES = {
  vit: [1e-12, "gelu"],
  deit: [1e-12, "gelu"],
  vit_mae: [1e-12, "gelu"],
  dinov2: [1e-6, "gelu"],
  dinov2_with_registers: [1e-6, "gelu"],
  clip: [1e-5, "quick_gelu"],
  siglip: [1e-6, "gelu_pytorch_tanh"],
} as const;

function ofTransformers(config: Json): Config {
  const [eps, act] = meaning("model_type", wordOf(config.model_type).replace("_vision_model", ""), TYPES);
  const c = objectOr(config.vision_config, config);
  if (c.use_swiglu_ffn) {
    throw new VitError("bad_config", "config: use_swiglu_ffn: expected false: SwiGLU is not known here");
  }
  return known({
    image_size: pair(c.image_size),
    patch_size: pair(c.patch_size),
    channels: c.num_channels,
    width: c.hidden_size,
    depth: c.num_hidden_layers,
    heads: c.num_attention_heads ?? 12,
    mlp_width: c.intermediate_size,
    norm_eps: c.layer_norm_eps ?? eps,
    activation: meaning("hidden_act", c.hidden_act ?? act, ACTIVATIONS),
    labels: labelsOf(config),
  });
}

/** Those of a classifier: every config has some, if only LABEL_0 and LABEL_1. */
function labelsOf({ architectures, id2label }: Json): string[] | undefined {
  if (!wordOf(architectures).includes("Classif") || !id2label) return undefined;
  // whole numbers as keys come in their order
  const labels = isObject(id2label) ? Object.values(id2label) : [id2label];
  return labels.map((label) => {
    if (typeof label === "string" || typeof label === "number") return String(label);
    const got = show(JSON.stringify(label));
    throw new VitError("bad_config", `config: id2label: expected an object of strings, got ${got}`);
  });
}

// ---- timm --------------------------------------------------------------------

/** What timm's pooling is here. Others it has are known to be others. */
const POOLS = { token: "class", avg: "mean", map: "attention", max: "max", avgmax: "mean_max" } as const;

/** timm's `act_layer`, a word or a class. */
const TIMM_ACTIVATIONS = {
  gelu: "gelu",
  gelu_tanh: "gelu_tanh",
  quick_gelu: "quick_gelu",
  quickgelu: "quick_gelu",
  relu: "relu",
} as const;

/** Those of `model_args` that change what is computed, and that no tensor tells. */
const UNKNOWN_ARGS = ["norm_layer", "block_fn", "mlp_layer", "attn_layer", "embed_layer", "pool_include_prefix"];

function ofTimm(config: Json, asks: boolean): Config {
  const { architecture, global_pool, pretrained_cfg, label_names, model_args } = config;
  const name = wordOf(architecture);
  const args = objectOr(model_args, {});
  const unknown = UNKNOWN_ARGS.find((key) => args[key]);
  if (unknown) throw new VitError("bad_config", `config: model_args.${unknown}: expected none; it is not known here`);
  const pool = args.global_pool ?? global_pool;
  const { input_size, label_names: labels = label_names, ...pixels } = objectOr(pretrained_cfg, {});
  const { 0: channels, 1: rows, 2: columns } = Object(input_size) as number[];
  return known({
    channels,
    image_size: rows && [rows, columns],
    pool: pool == null || pool === "" ? undefined : meaning("global_pool", pool, POOLS),
    heads: args.num_heads,
    labels,
    prepare: asks && rows ? ofTimmsPixels(pixels, [rows, columns ?? rows]) : undefined,
    norm_eps: /clip|quickgelu/.test(name) ? 1e-5 : undefined,
    activation: args.act_layer == null ? actOf(name) : meaning("act_layer", args.act_layer, TIMM_ACTIVATIONS),
  });
}

/** The few SigLIPs of timm's vision_transformer.py whose gelu is tanh's; in the others it is exact. */
const TANH = /base_patch32_siglip(_gap)?_256|large_patch16_siglip(_gap)?_512|(so400m|giantopt)_patch16_siglip/;

const actOf = (name: string) =>
  /quickgelu/.test(name) ? "quick_gelu" : TANH.test(name) ? "gelu_tanh" : undefined;

const pair = (size: unknown) => (typeof size === "number" ? [size, size] : size);

/** The members that are there. */
function known(members: Json): Config {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Config;
}
