/** OpenAI's CLIP and open_clip: their own towers, timm's towers inside theirs, and open_clip_config.json. */
import type { Json } from "../base/json.js";
import { type Family, USUAL_HEADS } from "./family.js";
import { CLIP, type Pair, type Photo, side } from "./processor.js";
import { Refusal } from "./refusal.js";
import { ofTimm, PE as ROTARY, PE_POOLED, TIMM_CLIP, TIMM_PE_CORE, TIMM_SIGLIP } from "./timm.js";
import { SIGLIP_HEADS } from "./transformers-siglip.js";
import { definedMembers, meaning, objectOr, pair, RESBLOCKS } from "./words.js";

const IGNORED = [
  "^transformer.", "^text.", "^token_embedding.", "^positional_embedding", "^ln_final.", "^text_projection",
  "^logit_scale", "^logit_bias", "^input_resolution", "^context_length", "^vocab_size",
];

const TIMMS_TOWER = { anchors: ["visual.trunk.blocks.0.attn.qkv.weight"], ignored: IGNORED, projection: "head" } as const;

const OWN: Family = {
  name: "OpenAI's CLIP and open_clip",
  anchors: ["visual.transformer.resblocks.0.attn.in_proj_weight"],
  needs: ["conv1.weight"],
  variant: true,
  names: `
    cls_token class_embedding
    pos_embed positional_embedding
    patch_embed.proj conv1
    norm_pre ln_pre
    ${RESBLOCKS}
    norm ln_post
    head.weight proj`,
  ignored: IGNORED,
  fixed: { norm: "pre", norm_eps: 1e-5, activation: "quick_gelu" },
  assumed: ["image_size", "norm_eps", "activation", "pool"],
  heads: USUAL_HEADS,
  headTransposed: true,
  projection: "head",
  resize: "antialias",
};

/** facebook's Perception Encoder without pooling: it lacks the projection that every CLIP has. */
const { projection: _, ...TOWER } = OWN;
const PE: Family = {
  ...TOWER,
  name: "facebook's Perception Encoder",
  fits: (tensors) => !tensors.has("head.weight"),
  fixed: { norm: "pre", norm_eps: 1e-5, activation: "gelu", position: "rotary" },
  heads: SIGLIP_HEADS,
  rotary: ROTARY,
};

/** The one that is compared with texts: it pools, with or without a projection. */
const PE_CORE: Family = {
  ...OWN,
  name: PE.name,
  needs: ["conv1.weight", "attn_pool.probe"],
  names: `${OWN.names}
    attn_pool.latent attn_pool.probe
    attn_pool.qkv.weight attn_pool.attn.in_proj_weight
    attn_pool.qkv.bias attn_pool.attn.in_proj_bias
    attn_pool.proj attn_pool.attn.out_proj
    attn_pool.norm attn_pool.layernorm
    attn_pool.mlp.fc1 attn_pool.mlp.c_fc
    attn_pool.mlp.fc2 attn_pool.mlp.c_proj`,
  fixed: PE.fixed,
  heads: SIGLIP_HEADS,
  rotary: PE_POOLED,
};

const ALONE = { anchors: ["transformer.resblocks.0.attn.in_proj_weight"], ignored: [] } as const;

export const OPEN_CLIP: readonly Family[] = [
  { ...TIMM_PE_CORE, ...TIMMS_TOWER, name: "open_clip with timm's Perception Encoder" },
  { ...TIMM_CLIP, ...TIMMS_TOWER, name: "open_clip with timm's CLIP" },
  { ...TIMM_SIGLIP, ...TIMMS_TOWER, name: "open_clip with timm's tower", needs: [] },
  PE_CORE,
  { ...PE_CORE, ...ALONE },
  PE,
  { ...PE, ...ALONE },
  OWN,
  { ...OWN, ...ALONE, name: "OpenAI's CLIP and open_clip, the vision tower alone" },
];

// ---- open_clip_config.json ---------------------------------------------------

/** Keys of `vision_cfg` that change the results but no tensor. */
const UNKNOWN_VISION = ["attentional_pool", "final_ln_after_pool", "scaled_cosine_attn", "block_type"];
const OPEN_CLIP_POOLS = { tok: "class", avg: "mean" } as const;

/** Translates open_clip_config.json. A timm model inside it is translated as timm's. */
export function ofOpenClip({ model_cfg, preprocess_cfg }: Json, wantsPrepare: boolean): Json {
  const model = objectOr(model_cfg, {});
  const c = objectOr(model.vision_cfg, {});
  const [rows, columns] = (pair(c.image_size) ?? [224, 224]) as [number, number];
  const size = [rows, columns] as const;
  const prepare = wantsPrepare ? ofOpenClipsPixels(objectOr(preprocess_cfg, {}), size) : undefined;
  if (c.timm_model_name) {
    const config = { architecture: c.timm_model_name, global_pool: c.timm_pool ?? "avg", model_args: c.timm_model_kwargs };
    return definedMembers({ ...ofTimm(config, false), image_size: size, prepare });
  }
  const unknown = UNKNOWN_VISION.find((key) => c[key]);
  if (unknown) throw new Refusal(`config: vision_cfg.${unknown}: expected none; it is not known here`);
  if (Array.isArray(c.layers)) throw new Refusal("config: vision_cfg.layers: expected a number: a ResNet is not known here");
  const tanh = objectOr(c.act_kwargs, {}).approximate === "tanh";
  return definedMembers({
    image_size: size,
    heads: Number(c.width ?? 768) / Number(c.head_width ?? 64),
    pool: meaning("vision_cfg.pool_type", c.pool_type ?? "tok", OPEN_CLIP_POOLS),
    pool_prefix: false,
    norm_eps: objectOr(c.norm_kwargs, {}).eps ?? 1e-5,
    activation: model.quick_gelu ? "quick_gelu" : tanh ? "gelu_tanh" : "gelu",
    prepare,
  });
}

/** open_clip's transform for evaluation, from its `preprocess_cfg`. */
function ofOpenClipsPixels(p: Json, size: Pair): Photo {
  const ways: Readonly<Record<string, Pick<Photo, "resize" | "fit">>> = {
    shortest: size[0] === size[1] ? { resize: size[0] } : { resize: size, fit: "cover" },
    squash: { resize: size },
  };
  return {
    kind: "photo",
    ...meaning("preprocess_cfg.resize_mode", p.resize_mode ?? "shortest", ways),
    crop: side(size),
    mean: (p.mean ?? CLIP.mean) as number[],
    std: (p.std ?? CLIP.std) as number[],
    interpolation: p.interpolation === "bilinear" ? "bilinear" : "bicubic",
  };
}
