/**
 * A stack of torch.nn.TransformerEncoderLayer. PyTorch names only the layers; other tensors have
 * timm's names or names that people often choose.
 */
import type { Family } from "./family.js";

export const TORCH_ENCODER: readonly Family[] = [{
  name: "torch.nn.TransformerEncoder",
  anchors: ["layers.0.self_attn.in_proj_weight"],
  names: `
    cls_token cls_token
    cls_token class_token
    pos_embed pos_embed
    pos_embed pos_embedding
    patch_embed.proj patch_embed.proj
    patch_embed.proj patch_embed
    patch_embed.proj conv_proj
    blocks.*.norm1 layers.*.norm1
    blocks.*.attn.qkv.weight layers.*.self_attn.in_proj_weight
    blocks.*.attn.qkv.bias layers.*.self_attn.in_proj_bias
    blocks.*.attn.proj layers.*.self_attn.out_proj
    blocks.*.norm2 layers.*.norm2
    blocks.*.mlp.fc1 layers.*.linear1
    blocks.*.mlp.fc2 layers.*.linear2
    head head
    head classifier`,
  fixed: { norm_eps: 1e-5 },
  open: { norm: "pre or post", activation: "relu or gelu" },
  assumed: ["image_size", "norm_eps", "pool"],
  patchOrder: "channels_first",
  resize: "antialias",
}];
