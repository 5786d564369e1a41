/** facebook's own DINOv3: a mask takes the keys' bias away. */
import { type Family, withoutKeys } from "./family.js";
import { DINOV3_HEADS, FACEBOOKS_IGNORED, TIMM } from "./timm.js";

export const FACEBOOK_DINOV3: readonly Family[] = [{
  name: "facebook's DINOv3",
  anchors: TIMM.anchors,
  needs: ["rope_embed.periods"],
  names: `
    reg_token storage_tokens
    blocks.*.attn.qkv.bias blocks.*.attn.qkv.masked_bias
    blocks.*.attn.qkv.bias blocks.*.attn.qkv.bias
    blocks.*.mlp.fc1 blocks.*.mlp.fc1
    blocks.*.mlp.fc1 blocks.*.mlp.{w1,w2}
    blocks.*.mlp.fc2 blocks.*.mlp.fc2
    blocks.*.mlp.fc2 blocks.*.mlp.w3`,
  ignored: [...FACEBOOKS_IGNORED, "rope_embed."],
  added: [{ name: "blocks.*.attn.qkv.masked_bias", from: ["blocks.*.attn.qkv.bias", "blocks.*.attn.qkv.bias_mask"], plan: withoutKeys, replaces: true }],
  fixed: { norm: "pre", norm_eps: 1e-6, activation: "gelu", position: "rotary" },
  epsilons: { 384: 1e-5, 768: 1e-5, 1024: 1e-5, 1280: 1e-5, 4096: 1e-5 },
  assumed: ["image_size", "norm_eps"],
  heads: DINOV3_HEADS,
  resize: "plain", // it has no positions to resize
}];
