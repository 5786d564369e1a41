/** transformers' SigLIP, its vision tower, and classifiers made of it. */
import { type Family, type ModelType, USUAL_HEADS } from "./family.js";
import { TOWER } from "./transformers-clip.js";

export const SIGLIP_TYPES = {
  siglip: { norm_eps: 1e-6, hidden_act: "gelu_pytorch_tanh", prefix: [], layer_scale: false, processor: "Siglip" },
} as const satisfies Record<string, ModelType>;

/** Width 1536 is SigLIP 2's giant. */
export const SIGLIP_HEADS = { ...USUAL_HEADS, 1536: 16 };

const classifier: Family = {
  ...TOWER,
  name: "transformers' SiglipForImageClassification",
  needs: ["classifier.weight"],
  variant: true,
  names: `${TOWER.names}
    norm post_layernorm
    head classifier`,
  ignored: [...TOWER.ignored, "head."],
  fixed: { norm: "pre", norm_eps: 1e-6, activation: "gelu_tanh" },
  heads: SIGLIP_HEADS,
  mean: true, // of the last hidden state, after the norm
};

export const TRANSFORMERS_SIGLIP: readonly Family[] = [
  classifier,
  {
    ...classifier,
    name: "transformers' SigLIP",
    needs: ["embeddings.patch_embedding.weight"],
    variant: false,
    names: `${TOWER.names}
    norm post_layernorm
    attn_pool.latent head.probe
    attn_pool.qkv.weight head.attention.in_proj_weight
    attn_pool.qkv.bias head.attention.in_proj_bias
    attn_pool.proj head.attention.out_proj
    attn_pool.norm head.layernorm
    attn_pool.mlp.fc1 head.mlp.fc1
    attn_pool.mlp.fc2 head.mlp.fc2
    head visual_projection`,
    ignored: TOWER.ignored,
    mean: false,
    projection: "pooled",
  },
];
