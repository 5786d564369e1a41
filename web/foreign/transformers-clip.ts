/** transformers' CLIP, its vision tower, and classifiers made of it. */
import { type Family, type ModelType, USUAL_HEADS } from "./family.js";

const CLIP = { norm_eps: 1e-5, hidden_act: "quick_gelu", prefix: ["class"], layer_scale: false, processor: "CLIP" } as const;

export const CLIP_TYPES = {
  metaclip_2: CLIP,
  clip: CLIP,
} as const satisfies Record<string, ModelType>;

/** What the towers of CLIP and SigLIP share. The first anchor is that of transformers up to 4. */
export const TOWER = {
  anchors: ["vision_model.encoder.layers.0.self_attn.q_proj.weight", "encoder.layers.0.self_attn.q_proj.weight"],
  names: `
    cls_token embeddings.class_embedding
    pos_embed embeddings.position_embedding.weight
    patch_embed.proj embeddings.patch_embedding
    norm_pre pre_layrnorm
    blocks.*.norm1 encoder.layers.*.layer_norm1
    blocks.*.attn.qkv encoder.layers.*.self_attn.{q_proj,k_proj,v_proj}
    blocks.*.attn.proj encoder.layers.*.self_attn.out_proj
    blocks.*.norm2 encoder.layers.*.layer_norm2
    blocks.*.mlp.fc1 encoder.layers.*.mlp.fc1
    blocks.*.mlp.fc2 encoder.layers.*.mlp.fc2`,
  ignored: ["text_model.", "text_projection.", "logit_scale", "logit_bias", "embeddings.position_ids"],
  assumed: ["image_size", "norm_eps", "activation"],
  resize: "plain",
} as const;

const classifier: Family = {
  ...TOWER,
  name: "transformers' CLIPForImageClassification",
  needs: ["classifier.weight", "pre_layrnorm.weight"],
  variant: true,
  names: `${TOWER.names}
    head classifier`,
  ignored: [...TOWER.ignored, "post_layernorm."],
  fixed: { norm: "pre", norm_eps: 1e-5, activation: "quick_gelu" },
  heads: USUAL_HEADS,
  mean: true, // of the last hidden state, before the norm
};

export const TRANSFORMERS_CLIP: readonly Family[] = [
  classifier,
  {
    ...classifier,
    name: "transformers' CLIP",
    needs: ["pre_layrnorm.weight"],
    names: `${TOWER.names}
    norm post_layernorm
    head visual_projection`,
    ignored: TOWER.ignored,
    mean: false,
    projection: "head",
  },
];
