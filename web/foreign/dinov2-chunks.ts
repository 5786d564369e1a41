/** facebook's DINOv2 as it is trained: the number of a chunk stands before that of the block. */
import { type Family, USUAL_HEADS } from "./family.js";
import { FACEBOOKS_IGNORED, resizeOfFacebook } from "./timm.js";

export const DINOV2_CHUNKS: readonly Family[] = [{
  name: "DINOv2 in chunks",
  anchors: ["blocks.0.0.attn.qkv.weight"],
  names: `
    reg_token register_tokens
    blocks.*.norm1 blocks.#.*.norm1
    blocks.*.attn.qkv blocks.#.*.attn.qkv
    blocks.*.attn.proj blocks.#.*.attn.proj
    blocks.*.ls1 blocks.#.*.ls1
    blocks.*.norm2 blocks.#.*.norm2
    blocks.*.mlp.fc1 blocks.#.*.mlp.fc1
    blocks.*.mlp.fc1 blocks.#.*.mlp.w12
    blocks.*.mlp.fc2 blocks.#.*.mlp.fc2
    blocks.*.mlp.fc2 blocks.#.*.mlp.w3
    blocks.*.ls2 blocks.#.*.ls2`,
  ignored: FACEBOOKS_IGNORED,
  fixed: { norm: "pre", norm_eps: 1e-6, activation: "gelu" },
  assumed: ["image_size"],
  heads: USUAL_HEADS,
  resize: (tensors, config) => resizeOfFacebook(tensors, config) ?? "antialias",
}];
