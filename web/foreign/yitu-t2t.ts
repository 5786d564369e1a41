/** yitu's T2T-ViT: overlapping squares become narrow tokens by a transformer or a performer, in two steps, before patches are cut. */
import type { Family } from "./family.js";

const module = (name: string) => [1, 2].map((at) => `tokens_to_token.attention${at}.${name}`);
/** A performer has the other names. */
const linesOf = (ours: string, theirs: string) => module(ours).map((name, at) => `${name} ${name}\n${name} ${module(theirs)[at]}`).join("\n");

export const YITU_T2T: readonly Family[] = [{
  name: "yitu's T2T-ViT",
  anchors: ["blocks.0.attn.qkv.weight"],
  needs: ["tokens_to_token.project.weight", ...module("norm1.weight")],
  names: `
    patch_embed.proj tokens_to_token.project
    ${linesOf("attn.qkv", "kqv")}
    ${linesOf("attn.proj", "proj")}
    ${linesOf("mlp.fc1", "mlp.0")}
    ${linesOf("mlp.fc2", "mlp.2")}`,
  strict: true,
  // pretrained=True sets other scales, but there is no address of weights for it: the released files are run without.
  fixed: { norm: "pre", norm_eps: 1e-5, activation: "gelu" },
  heads: {}, // 64 wide
  patchOrder: "channels_first",
  patches: (tensors) => ({
    channels: Math.floor((tensors.tensor(module("norm1.weight")[0]!)?.count ?? 0) / 49),
    patch_size: [16, 16],
    tokens_to_token: tensors.has(module("w")[0]!) ? "performer" : "transformer",
    token_width: tensors.rows(module("attn.proj.weight")[0]!),
  }),
  resize: "plain",
}];
