/** transformers' ViT, DeiT, ViT-MAE, ViT-MSN, I-JEPA and DINOv2, as versions up to 4 and from 5 on name them. */
import { type Family, type ModelType, USUAL_HEADS } from "./family.js";

export const VIT = { norm_eps: 1e-12, hidden_act: "gelu", prefix: ["class"], layer_scale: false, processor: "ViT" } as const;
const DINOV2 = { norm_eps: 1e-6, hidden_act: "gelu", prefix: ["class"], layer_scale: true, processor: "Bit" } as const;

export const VIT_TYPES = {
  vit: VIT,
  deit: { ...VIT, prefix: ["class", "distillation"], processor: "DeiT" },
  vit_mae: VIT,
  vit_msn: { ...VIT, norm_eps: 1e-6 },
  ijepa: { ...VIT, prefix: [] },
  dinov2: DINOV2,
  dinov2_with_registers: { ...DINOV2, registers: 4 },
} as const satisfies Record<string, ModelType>;

const plain: Family = {
  name: "transformers' ViT, DeiT, ViT-MAE, ViT-MSN and I-JEPA",
  anchors: [
    "encoder.layer.0.attention.attention.query.weight",
    "encoder.layer.0.attention.q_proj.weight", "layers.0.attention.q_proj.weight", // of 5
  ],
  names: `
    cls_token embeddings.cls_token
    dist_token embeddings.distillation_token
    reg_token embeddings.register_tokens
    pos_embed embeddings.position_embeddings
    patch_embed.proj embeddings.patch_embeddings.projection
    blocks.*.norm1 encoder.layer.*.layernorm_before
    blocks.*.norm1 encoder.layer.*.norm1
    blocks.*.attn.qkv encoder.layer.*.attention.attention.{query,key,value}
    blocks.*.attn.proj encoder.layer.*.attention.output.dense
    blocks.*.ls1.gamma encoder.layer.*.layer_scale1.lambda1
    blocks.*.norm2 encoder.layer.*.layernorm_after
    blocks.*.norm2 encoder.layer.*.norm2
    blocks.*.mlp.fc1 encoder.layer.*.intermediate.dense
    blocks.*.mlp.fc1 encoder.layer.*.mlp.fc1
    blocks.*.mlp.fc1 encoder.layer.*.mlp.weights_in
    blocks.*.mlp.fc2 encoder.layer.*.output.dense
    blocks.*.mlp.fc2 encoder.layer.*.mlp.fc2
    blocks.*.mlp.fc2 encoder.layer.*.mlp.weights_out
    blocks.*.ls2.gamma encoder.layer.*.layer_scale2.lambda1
    blocks.*.norm1 layers.*.layernorm_before
    blocks.*.attn.qkv encoder.layer.*.attention.{q_proj,k_proj,v_proj}
    blocks.*.attn.qkv layers.*.attention.{q_proj,k_proj,v_proj}
    blocks.*.attn.proj encoder.layer.*.attention.o_proj
    blocks.*.attn.proj layers.*.attention.o_proj
    blocks.*.norm2 layers.*.layernorm_after
    blocks.*.mlp.fc1 layers.*.mlp.fc1
    blocks.*.mlp.fc2 layers.*.mlp.fc2
    norm layernorm
    head classifier
    head cls_classifier
    head_dist distillation_classifier`,
  ignored: ["pooler.", "embeddings.mask_token", "decoder."],
  fixed: { norm: "pre", norm_eps: 1e-12, activation: "gelu" },
  assumed: ["image_size", "norm_eps", "activation"],
  heads: USUAL_HEADS,
  resize: "plain",
};

export const TRANSFORMERS_VIT: readonly Family[] = [
  {
    ...plain,
    name: "transformers' DINOv2",
    needs: ["encoder.layer.0.norm1.weight"],
    variant: true,
    fixed: { ...plain.fixed, norm_eps: 1e-6 },
    squares: true,
  },
  plain,
];
