/** transformers' BLIP: its vision tower norms the class token twice, except for retrieval. */
import { copyOf, type Family, type ModelType, USUAL_HEADS } from "./family.js";

export const BLIP_TYPES = {
  blip: { norm_eps: 1e-5, hidden_act: "gelu", prefix: ["class"], layer_scale: false, processor: "Blip" },
} as const satisfies Record<string, ModelType>;

const retrieval: Family = {
  name: "transformers' BlipForImageTextRetrieval",
  anchors: ["vision_model.encoder.layers.0.self_attn.qkv.weight", "encoder.layers.0.self_attn.qkv.weight"],
  needs: ["embeddings.class_embedding", "vision_proj.weight"],
  variant: true,
  names: `
    cls_token embeddings.class_embedding
    pos_embed embeddings.position_embedding
    patch_embed.proj embeddings.patch_embedding
    blocks.*.norm1 encoder.layers.*.layer_norm1
    blocks.*.attn.qkv encoder.layers.*.self_attn.qkv
    blocks.*.attn.proj encoder.layers.*.self_attn.projection
    blocks.*.norm2 encoder.layers.*.layer_norm2
    blocks.*.mlp.fc1 encoder.layers.*.mlp.fc1
    blocks.*.mlp.fc2 encoder.layers.*.mlp.fc2
    norm post_layernorm
    head vision_proj`,
  ignored: ["text_", "itm_head.", "logit_scale"],
  fixed: { norm: "pre", norm_eps: 1e-5, activation: "gelu" },
  assumed: ["image_size", "norm_eps", "activation"],
  heads: USUAL_HEADS,
  projection: "head",
  resize: "plain",
};

export const TRANSFORMERS_BLIP: readonly Family[] = [
  retrieval,
  {
    ...retrieval,
    name: "transformers' BLIP",
    needs: ["embeddings.class_embedding"],
    names: `${retrieval.names.replace("vision_proj", "visual_projection")}
    fc_norm pooled_layernorm`,
    added: ["weight", "bias"].map((end) => ({ name: `pooled_layernorm.${end}`, from: [`post_layernorm.${end}`], plan: copyOf })),
    normsTwice: true,
  },
];
