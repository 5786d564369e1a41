/** torchvision's VisionTransformer. */
import { type Family, USUAL_HEADS } from "./family.js";

export const TORCHVISION: readonly Family[] = [{
  name: "torchvision",
  anchors: ["encoder.layers.encoder_layer_0.self_attention.in_proj_weight"],
  // linear_1 and linear_2: up to 0.12. heads.0 and heads: how tutorials replace the head.
  names: `
    cls_token class_token
    pos_embed encoder.pos_embedding
    patch_embed.proj conv_proj
    blocks.*.norm1 encoder.layers.encoder_layer_*.ln_1
    blocks.*.attn.qkv.weight encoder.layers.encoder_layer_*.self_attention.in_proj_weight
    blocks.*.attn.qkv.bias encoder.layers.encoder_layer_*.self_attention.in_proj_bias
    blocks.*.attn.proj encoder.layers.encoder_layer_*.self_attention.out_proj
    blocks.*.norm2 encoder.layers.encoder_layer_*.ln_2
    blocks.*.mlp.fc1 encoder.layers.encoder_layer_*.mlp.0
    blocks.*.mlp.fc1 encoder.layers.encoder_layer_*.mlp.linear_1
    blocks.*.mlp.fc2 encoder.layers.encoder_layer_*.mlp.3
    blocks.*.mlp.fc2 encoder.layers.encoder_layer_*.mlp.linear_2
    norm encoder.ln
    head heads.head
    head heads.0
    head heads`,
  fixed: { norm: "pre", norm_eps: 1e-6, activation: "gelu" },
  heads: USUAL_HEADS,
  resize: "align_corners",
}];
