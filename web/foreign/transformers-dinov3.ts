/** transformers' DINOv3, whose positions are rotary and whose keys have no bias. */
import type { Json } from "../base/json.js";
import { type Family, type ModelType, zerosLike } from "./family.js";
import { DINOV3_HEADS } from "./timm.js";
import { objectOr } from "./words.js";

const position = (config: Json): Json =>
  ({ position: "rotary", rotary_base: config.rope_theta ?? objectOr(config.rope_parameters, {}).rope_theta });

export const DINOV3_TYPES = {
  dinov3_vit: { norm_eps: 1e-5, hidden_act: "gelu", prefix: ["class"], layer_scale: true, processor: "DINOv3ViT", registers: 0, position },
} as const satisfies Record<string, ModelType>;

export const TRANSFORMERS_DINOV3: readonly Family[] = [{
  name: "transformers' DINOv3",
  anchors: ["layer.0.attention.q_proj.weight"],
  needs: ["embeddings.patch_embeddings.weight"],
  variant: true,
  names: `
    cls_token embeddings.cls_token
    reg_token embeddings.register_tokens
    patch_embed.proj embeddings.patch_embeddings
    blocks.*.norm1 layer.*.norm1
    blocks.*.attn.qkv layer.*.attention.{q_proj,k_proj,v_proj}
    blocks.*.attn.proj layer.*.attention.o_proj
    blocks.*.ls1.gamma layer.*.layer_scale1.lambda1
    blocks.*.norm2 layer.*.norm2
    blocks.*.mlp.fc1 layer.*.mlp.{gate_proj,up_proj}
    blocks.*.mlp.fc1 layer.*.mlp.up_proj
    blocks.*.mlp.fc2 layer.*.mlp.down_proj
    blocks.*.ls2.gamma layer.*.layer_scale2.lambda1`,
  ignored: ["embeddings.mask_token"],
  added: [{ name: "layer.*.attention.k_proj.bias", from: ["layer.*.attention.q_proj.bias"], plan: zerosLike }],
  fixed: { norm: "pre", norm_eps: 1e-5, activation: "gelu", position: "rotary" },
  assumed: ["norm_eps", "activation"],
  heads: DINOV3_HEADS,
  resize: "plain", // it has no positions to resize
}];
