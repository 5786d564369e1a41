/**
 * timm's VisionTransformer, and facebook's code that uses the same names: DINO, DINOv2, MAE, DeiT and
 * DeiT III. Also timm's config.json.
 */
import { MOST_CLASSES } from "../generated/config.js";
import { isObject, type Json } from "../base/json.js";
import { hasOwn, show } from "../errors.js";
import { type Added, type Family, isGated, type Rotary, type Tensors, USUAL_HEADS, zerosLike } from "./family.js";
import { IMAGENET, isLength, type Pair, type Photo, share, side } from "./processor.js";
import { Refusal } from "./refusal.js";
import { SIGLIP_HEADS } from "./transformers-siglip.js";
import { ACTIVATIONS, definedMembers, meaning, objectOr, pair, unknownName, wordOf } from "./words.js";

/** MAE's decoder, and the projection heads of DINO and DINOv2. */
export const FACEBOOKS_IGNORED = ["mask_token", "decoder_", "head.mlp.", "head.last_layer.", "dino_head.", "ibot_head."];

/**
 * How facebook's code resizes positions. It is recognised by tensors that timm does not have: DINO and
 * DINOv2 by a head or a mask token, MAE by its decoder, DeiT III by its scales.
 */
export function resizeOfFacebook(tensors: Tensors, config: Json): "offset" | "plain" | undefined {
  const dinov2 = config.layer_scale === true && tensors.tensor("mask_token")?.shape.length === 2;
  if (dinov2 || tensors.tensor("head.mlp.0.weight")) return "offset";
  return ["decoder_pos_embed", "blocks.0.gamma_1"].some((name) => tensors.tensor(name)) ? "plain" : undefined;
}

/** The rotary positions of timm's rope, rope_ape and rope_reg models. */
const ROPE: Rotary = { rotary_places: "from_0", rotary_base: 100, rotary_first: "columns", rotary_pairs: "neighbours" };

export const TIMM: Family = {
  name: "timm",
  anchors: ["blocks.0.attn.qkv.weight"],
  // head.proj: open_clip's head after timm's tower. register_tokens, gamma_1 and w1, w2, w3: facebook's.
  names: `
    head head
    head head.proj
    attn_pool.qkv attn_pool.{q,kv}
    attn_pool.qkv attn_pool.qkv
    reg_token reg_token
    reg_token register_tokens
    blocks.*.ls1.gamma blocks.*.ls1.gamma
    blocks.*.ls1.gamma blocks.*.gamma_1
    blocks.*.ls2.gamma blocks.*.ls2.gamma
    blocks.*.ls2.gamma blocks.*.gamma_2
    blocks.*.attn.qkv.bias blocks.*.attn.qkv.bias
    blocks.*.attn.qkv.bias blocks.*.attn.{q_bias,k_bias,v_bias}
    blocks.*.mlp.fc1 blocks.*.mlp.fc1
    blocks.*.mlp.fc1 blocks.*.mlp.{fc1_g,fc1_x}
    blocks.*.mlp.fc1 blocks.*.mlp.{w1,w2}
    blocks.*.mlp.fc1 blocks.*.mlp.w12
    blocks.*.mlp.fc2 blocks.*.mlp.fc2
    blocks.*.mlp.fc2 blocks.*.mlp.w3`,
  added: [{ name: "blocks.*.attn.k_bias", from: ["blocks.*.attn.q_bias"], plan: zerosLike }],
  ignored: FACEBOOKS_IGNORED,
  strict: true,
  fixed: { norm: "pre", norm_eps: 1e-6, activation: "gelu" },
  openWithoutPrefix: { activation: "gelu or gelu_tanh" },
  assumed: ["image_size", "norm_eps", "activation", "pool", "norm"], // its ResPostBlock has norm1, too
  heads: { ...USUAL_HEADS, 64: 0 }, // its test_vit has 2, and other small models may not
  resize: resizeOfFacebook,
  rotary: ROPE,
};

const isUnplaced = (tensors: Tensors) =>
  !["pos_embed", "blocks.0.attn.relative_position_bias_table", "norm_pre.weight"].some((name) => tensors.has(name));

/** Models without a tensor of positions, whose scales are named as in DeiT III. */
const TIMM_ROPE: Family = {
  ...TIMM,
  name: "timm's rope",
  needs: ["blocks.0.gamma_1"],
  fits: (tensors) => isUnplaced(tensors) && !tensors.has("reg_token"),
  variant: true,
  fixed: { ...TIMM.fixed, position: "rotary" },
  openWithoutPrefix: {},
  assumed: [...TIMM.assumed!, "position"],
};

/** The rotary positions of EVA-02, counted over the grid of 224 pixels, and of the rope models with registers. */
const EVA: Rotary = { ...ROPE, rotary_base: 10000, rotary_first: "rows", rotary_grid: [16, 16] };

/** The rope models with registers, which have no class token. */
const TIMM_ROPE_REG: Family = {
  ...TIMM_ROPE,
  needs: ["blocks.0.gamma_1", "reg_token"],
  fits: (tensors) => isUnplaced(tensors) && !tensors.has("cls_token"),
  rotary: EVA,
};

const TIMM_EVA02: Family = {
  ...TIMM_ROPE,
  name: "timm's EVA-02",
  needs: ["blocks.0.attn.q_bias"],
  fits: (tensors) => isGated(tensors) && tensors.has("pos_embed"),
  rotary: EVA,
};

/** Its base and large ones. */
const TIMM_EVA02_APART: Family = {
  ...TIMM_EVA02,
  anchors: ["blocks.0.attn.q_proj.weight"],
  needs: [],
  names: `${TIMM.names}
    blocks.*.attn.qkv.weight blocks.*.attn.{q_proj,k_proj,v_proj}.weight
    blocks.*.attn.qkv.bias blocks.*.attn.{q_proj,k_proj,v_proj}.bias`,
  added: [{ name: "blocks.*.attn.k_proj.bias", from: ["blocks.*.attn.q_proj.bias"], plan: zerosLike }],
};

/** timm's and naver's rope_mixed: a block's part of all learned frequencies (2,L,h,d/2). */
const ofBlock: Added["plan"] = ([all], _grid, _prefix, block) => {
  const [two, depth = 0] = all!.shape, each = all!.count / 2 / depth;
  if (two !== 2 || block >= depth || all!.shape.length < 3) return undefined;
  const make = ([bytes]: readonly Uint8Array[]) => {
    const made = new Uint8Array(bytes!.length / depth), size = made.length / 2;
    for (const at of [0, 1]) made.set(bytes!.subarray((at * depth + block) * size).subarray(0, size), at * size);
    return made;
  };
  return { shape: [2, each], make };
};

const MIXED: Rotary = { ...ROPE, rotary_frequencies: "learned" };

const mixed = (library: string, freqs: string): Family => ({
  ...TIMM,
  name: `${library}'s rope_mixed`,
  needs: [freqs],
  variant: true,
  names: `${TIMM.names}
    rope.freqs ${freqs}`,
  added: [{ name: "blocks.*.attn.rope.freqs", from: [freqs], plan: ofBlock, replaces: true }],
  ignored: [...FACEBOOKS_IGNORED, "freqs_t_"],
  fixed: { ...TIMM.fixed, position: "rotary" },
  openWithoutPrefix: {},
  rotary: MIXED,
});

/** ViT-H+ and ViT-7B of DINOv3. */
export const DINOV3_HEADS = { 1280: 20, 4096: 32 };

const TIMM_DINOV3: Family = {
  ...TIMM_ROPE,
  name: "timm's DINOv3",
  needs: ["blocks.0.gamma_1", "cls_token", "reg_token"],
  fixed: { norm: "pre", norm_eps: 1e-5, activation: "gelu", position: "rotary" },
  fits: isUnplaced,
  heads: DINOV3_HEADS,
  mean: true,
  rotary: {},
};

/** Its CLIPs, whose activation may be OpenAI's. */
export const TIMM_CLIP: Family = {
  ...TIMM,
  name: "timm's CLIP",
  needs: ["norm_pre.weight"],
  variant: true,
  fixed: { norm: "pre", norm_eps: 1e-5 },
  open: { activation: "gelu or quick_gelu" },
  assumed: TIMM_ROPE.assumed!, // a Perception Encoder without its pool looks like a CLIP
  openWithoutPrefix: {},
  heads: USUAL_HEADS,
  resize: (tensors, config) => resizeOfFacebook(tensors, config) ?? "antialias",
};

/** The rotary positions of Perception Encoders. */
export const PE: Rotary = { ...ROPE, rotary_places: "from_1", rotary_base: 10000 };
/** Their pool has eight heads, and reads the class token too. */
export const PE_POOLED: Rotary = { ...PE, pool_heads: 8, pool_prefix: true };
/** It has CLIP's norm before the blocks, and also what no CLIP has, or no last norm. */
const TIMM_PE: Family = {
  ...TIMM_ROPE,
  name: "timm's Perception Encoder",
  needs: ["norm_pre.weight"],
  fits: (tensors) => tensors.has("blocks.0.gamma_1") || !["norm.weight", "fc_norm.weight"].some((name) => tensors.has(name)),
  fixed: { norm: "pre", norm_eps: 1e-5, activation: "gelu", position: "rotary" },
  assumed: [...TIMM_ROPE.assumed!, "rotary_grid"],
  heads: SIGLIP_HEADS, // the largest is 1536 wide
  rotary: PE,
};

export const TIMM_PE_CORE: Family = {
  ...TIMM_PE,
  needs: ["norm_pre.weight", "attn_pool.latent"],
  fits: () => true,
  rotary: PE_POOLED,
  projection: "pooled",
};

export const TIMM_SIGLIP: Family = {
  ...TIMM_CLIP,
  name: "timm's SigLIP",
  needs: ["attn_pool.latent"],
  fixed: { norm: "pre", norm_eps: 1e-6 },
  open: { activation: "gelu or gelu_tanh" },
  heads: SIGLIP_HEADS,
  projection: "pooled",
};

export const TIMMS: readonly Family[] = [mixed("timm", "rope.freqs"), mixed("naver", "freqs"), TIMM_DINOV3, TIMM_ROPE, TIMM_ROPE_REG, TIMM_EVA02, TIMM_EVA02_APART, TIMM_PE_CORE, TIMM_PE, TIMM_CLIP, TIMM_SIGLIP, TIMM];

// ---- config.json -------------------------------------------------------------

/** timm's architectures of its class VisionTransformer, and of BEiT. */
const ARCHITECTURES = /^(vit|deit3?|flexivit|beit(v2)?|test_vit\d?)(_|$)|^eva_(large|giant)_patch14_|^eva02_(tiny|small|base|large)_/;
const ARCHITECTURE_NAMES = "timm's vit_*, deit_*, deit3_*, flexivit_*, beit_*, beitv2_*, eva_* and eva02_*";

/** Architectures with such a name that are not a plain ViT. */
const OTHERS: readonly [RegExp, string][] = [
  [/_r\d*_s\d+_|_resnet\d+|_mci_/, "convolutions make its patches"],
  [/_dlittle_|_dp?wee_/, "its attention is differential"],
  [/_xp_|_pwee_|_\d+x2_/, "its branches are parallel"],
  [/_rpn_/, "its norms follow the branches"],
  [/^test_vit4/, "it has RMSNorm"],
];

/** @throws {Refusal} for an architecture that is no plain ViT. */
function expectPlain(name: string): void {
  const why = ARCHITECTURES.test(name) ? OTHERS.find(([pattern]) => pattern.test(name))?.[1] : "";
  if (why !== undefined) throw unknownName("architecture", name, ARCHITECTURE_NAMES, why);
}

/** The published width, by the whole of timm's name, or by a part of it. */
const PUBLISHED: Readonly<Record<string, number>> = {
  test_vit: 64, test_vit2: 64, test_vit3: 96, tiny: 192, wee: 256, xsmall: 256, little: 320, small: 384, medium: 512,
  mediumd: 512, betwixt: 640, base: 768, plus: 896, so150m2: 832, so150m: 896, large: 1024, intern300m: 1024,
  so400m: 1152, huge: 1280, giant: 1408, giantopt: 1536, gigantic: 1664,
};
/** The heads that are neither 64 wide nor those of {@link SIGLIP_HEADS}. */
const UNUSUAL: Readonly<Record<string, number>> = { vit_base_patch16_gap_224: 16, test_vit: 2, test_vit2: 2, test_vit3: 3 };

/** The grid of patches that a Perception Encoder was trained for. */
function gridOfPe(name: string): readonly [number, number] {
  const side = /core_base/.test(name) ? 14 : /core_(tiny|small|large)/.test(name) ? 24 : 32;
  return [side, side];
}

/** The positions of timm's architecture, unless its tensors show them. */
const positionOf = (name: string): Json =>
  /_dinov3/.test(name) ? { position: "rotary" }
    : /_pe_/.test(name) ? { position: "rotary", ...PE, rotary_grid: gridOfPe(name) }
    : /_rope_mixed_/.test(name) ? { position: "rotary", ...MIXED }
    : /_rope_reg\d|^eva02_/.test(name) ? { position: "rotary", ...EVA }
    : /_rope_/.test(name) ? { position: "rotary", ...ROPE }
    : /relpos|^beit/.test(name) ? {} : { position: "learned" };

/** The heads of timm's architecture; undefined if its width is not the published one. */
function headsOf(architecture: string, width: unknown): number | undefined {
  if (/_dinov3/.test(architecture)) return undefined; // its family knows
  const words = [architecture, ...architecture.split("_")].filter((word) => hasOwn(PUBLISHED, word) && PUBLISHED[word] === width);
  return words.length > 0 ? UNUSUAL[architecture] ?? (SIGLIP_HEADS as typeof PUBLISHED)[width as number] ?? (width as number) / 64 : undefined;
}

/** Our values for timm's `global_pool`. */
const POOLS = {
  token: "class", avg: "mean", map: "attention", max: "max", avgmax: "mean_max", prr: "prr",
} as const;

/** Keys of `model_args` that change the results but no tensor, and their known words. */
const LAYERS: Readonly<Record<string, RegExp>> = {
  norm_layer: /^layernorm(fp32)?$/i,
  attn_layer: /^attn$/,
  block_fn: /^block$/i,
  mlp_layer: /^(mlp|swiglupacked)$/i,
  embed_layer: /^patchembed$/i,
  use_post_norm: /^$/,
};

/** Before timm 0.8, the keys of `pretrained_cfg` stood beside `architecture`. */
export function ofTimm(config: Json, wantsPrepare: boolean): Json {
  const { architecture, global_pool, pretrained_cfg, model_args, num_features, num_classes } = config;
  const name = wordOf(architecture);
  expectPlain(name);
  const args = objectOr(model_args, {});
  for (const [key, word] of Object.entries(LAYERS)) {
    const got = wordOf(args[key]);
    if (!args[key] || word.test(got)) continue;
    throw new Refusal(`config: model_args.${key}: ${show(got)} is not known here; expected a plain ViT's`);
  }
  const pool = args.global_pool ?? global_pool, positions = positionOf(name);
  const poolsAll = name === "test_vit3" || (positions.position === "rotary" && pool === "map"); // timm's class Eva
  const pixels = objectOr(pretrained_cfg, config);
  const { 0: channels, 1: rows, 2: columns } = Object(pixels.input_size) as number[];
  const size = pair(args.img_size) ?? (rows && [rows, columns ?? rows]);
  return definedMembers({
    channels: args.in_chans ?? channels,
    image_size: size,
    pool: pool == null || pool === "" ? undefined : meaning("global_pool", pool, POOLS),
    norm: "pre", // LAYERS and OTHERS refuse other blocks
    ...positions,
    ...(args.pos_embed === "none" && { position: "none" }),
    position_resize: /relpos/.test(name) ? undefined : "antialias", // its family knows
    pool_prefix: args.pool_include_prefix ?? (poolsAll || poolsPatches(pixels, pool)),
    pool_heads: args.attn_pool_num_heads,
    heads: args.num_heads ?? headsOf(name, num_features),
    labels: listOf(config.label_names ?? pixels.label_names ?? config.labels, num_classes),
    prepare: wantsPrepare && rows ? ofTimmsPixels(pixels, size as [number, number], args.in_chans ?? channels) : undefined,
    norm_eps: /^vit.*clip|quickgelu|dinov3|_pe_/.test(name) ? 1e-5 : 1e-6,
    mlp: /^swiglupacked$/i.test(wordOf(args.mlp_layer)) ? "gated" : undefined,
    activation: args.act_layer == null ? actOf(name) : meaning("act_layer", args.act_layer, { ...ACTIVATIONS, gelu_tanh: "gelu_tanh", quickgelu: "quick_gelu" } as const),
  });
}

/**
 * Before timm 1.0.16, the query of `map` attended to the prefix, too. A config with a licence is of
 * 1.0.21 or newer. Without one the version is unknown, and sizes.ts asks if it matters.
 */
const poolsPatches = ({ license }: Json, pool: unknown) =>
  license || (pool != null && pool !== "map") ? false : undefined;

/** Labels as a list. A file may have them by their numbers, some of which may be missing. */
function listOf(labels: unknown, count: unknown): unknown {
  if (!isObject(labels)) return labels ?? undefined;
  const numbers = Object.keys(labels).map(Number);
  const length = Math.max(Number.isInteger(count) ? (count as number) : 0, ...numbers.map((at) => at + 1));
  if (!numbers.every((at) => Number.isInteger(at) && at >= 0) || length > MOST_CLASSES) {
    throw new Refusal(`config: label_names: expected numbers below ${MOST_CLASSES} as keys`);
  }
  return Array.from({ length }, (_, at) => labels[at] ?? String(at));
}

/** timm's SigLIPs that use gelu_tanh. Its other SigLIPs use the exact gelu. */
const TANH = /base_patch32_siglip(_gap)?_256|large_patch16_siglip(_gap)?_512|(so400m|giantopt)_patch16_siglip/;

/** SwiGLU's, in timm's DINOv2 and DINOv3 of that kind and in EVA-02. */
const SILU = /_giant_patch14_(reg\d_)?(dinov2|tipsv2)|_(plus|7b)_patch16_dinov3|^eva02_/;

const actOf = (name: string) =>
  SILU.test(name) ? "silu" : /quickgelu/.test(name) ? "quick_gelu" : TANH.test(name) ? "gelu_tanh" : "gelu";

// ---- Its transform -----------------------------------------------------------

const TIMMS_FILTERS = {
  nearest: "nearest", lanczos: "lanczos", bilinear: "bilinear", bicubic: "bicubic",
} as const;

/** timm's transform for evaluation, from its `pretrained_cfg`, for images of this size and channels. */
function ofTimmsPixels(p: Json, size: Pair, channels: unknown = 3): Photo {
  const lengths = size.map((length) => Math.floor(length / share("config", p.crop_pct || 0.875)));
  const resize = [lengths[0]!, lengths[1]!] as const;
  const mean = forChannels(p.mean ?? IMAGENET.mean, channels);
  const ways: Readonly<Record<string, Pick<Photo, "resize" | "fit" | "fill">>> = {
    center: size[0] === size[1] ? { resize: resize[0] } : { resize, fit: "cover" },
    squash: { resize },
    border: { resize, fit: "contain", fill: greyOf(mean) },
  };
  return {
    kind: "photo",
    ...meaning("crop_mode", p.crop_mode || "center", ways),
    crop: side(size),
    mean,
    std: forChannels(p.std ?? IMAGENET.std, channels),
    interpolation: meaning("interpolation", p.interpolation || "bicubic", TIMMS_FILTERS),
  };
}

/** For another number of channels, timm's loader takes the average (adapt_to_chs). */
function forChannels(numbers: unknown, channels: unknown): number[] {
  const isValid = isLength(channels) && channels <= 4; // the limit of src/file/config.c
  if (!Array.isArray(numbers) || numbers.length === channels || !isValid) return numbers as number[];
  const sum = (numbers as number[]).reduce((all, each) => all + each, 0);
  return Array<number>(channels).fill(sum / numbers.length);
}

/** The mean in bytes. A half is rounded to the even number, as in Python. */
function greyOf(mean: unknown): number[] {
  const bytes = Array.isArray(mean) ? mean.map((value) => 255 * Number(value)) : [];
  return bytes.map((value) => (value % 1 === 0.5 ? 2 * Math.round(value / 2) : Math.round(value)));
}
