/** lucidrains' vit-pytorch. */
import type { Family } from "./family.js";

export const VIT_PYTORCH: readonly Family[] = [{
  name: "vit-pytorch",
  anchors: ["transformer.layers.0.0.to_qkv.weight", "transformer.layers.0.0.fn.to_qkv.weight"],
  // Of two lines for one tensor, the first is of 1.0 and later. fc_norm: if a mean is pooled.
  names: `
    pos_embed pos_embedding
    patch_embed.proj to_patch_embedding.2
    patch_embed.proj to_patch_embedding.1
    patch_embed.norm_in to_patch_embedding.1
    patch_embed.norm to_patch_embedding.3
    blocks.*.norm1 transformer.layers.*.0.norm
    blocks.*.attn.qkv transformer.layers.*.0.to_qkv
    blocks.*.attn.qkv transformer.layers.*.0.fn.to_qkv
    blocks.*.attn.proj transformer.layers.*.0.to_out.0
    blocks.*.attn.proj transformer.layers.*.0.fn.to_out.0
    blocks.*.norm2 transformer.layers.*.1.net.0
    blocks.*.norm2 transformer.layers.*.1.norm
    blocks.*.mlp.fc1 transformer.layers.*.1.net.1
    blocks.*.mlp.fc1 transformer.layers.*.1.fn.net.0
    blocks.*.mlp.fc2 transformer.layers.*.1.net.4
    blocks.*.mlp.fc2 transformer.layers.*.1.fn.net.3
    norm transformer.norm
    norm mlp_head.0
    fc_norm mlp_head.0
    head mlp_head
    head mlp_head.1`,
  fixed: { norm: "pre", norm_eps: 1e-5, activation: "gelu" },
  assumed: ["image_size", "norm_eps", "activation"],
  heads: { 64: 0, 128: 0 }, // small models are mostly copies of its code, whose heads are narrower
  patchOrder: "channels_last",
  bare: true,
  resize: "antialias",
}];
