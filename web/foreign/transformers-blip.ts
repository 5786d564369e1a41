/** transformers' BLIP: its vision tower norms the class token twice, except for retrieval. */
import { copyOf, type Family, type ModelType, USUAL_HEADS } from "./family.js";
import { TOWER } from "./transformers-clip.js";

export const BLIP_TYPES = {
  blip: { norm_eps: 1e-5, hidden_act: "gelu", prefix: ["class"], layer_scale: false, processor: "Blip" },
} as const satisfies Record<string, ModelType>;

const retrieval: Family = {
  ...TOWER,
  name: "transformers' BlipForImageTextRetrieval",
  anchors: ["vision_model.encoder.layers.0.self_attn.qkv.weight", "encoder.layers.0.self_attn.qkv.weight"],
  needs: ["embeddings.class_embedding", "vision_proj.weight"],
  variant: true,
  names: `
    pos_embed embeddings.position_embedding
    blocks.*.attn.qkv encoder.layers.*.self_attn.qkv
    blocks.*.attn.proj encoder.layers.*.self_attn.projection${TOWER.names}
    norm post_layernorm
    head vision_proj`,
  ignored: ["text_", "itm_head.", "logit_scale"],
  fixed: { norm: "pre", norm_eps: 1e-5, activation: "gelu" },
  heads: USUAL_HEADS,
  projection: "head",
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
