/** Knows plain ViTs by their names. Other models are refused before their weights are read. */
import { hasOwn, show } from "../../errors.js";
import type { Json } from "../../base/json.js";
import { Refusal } from "../refusal.js";
import { wordOf } from "./words.js";

/** timm's architectures of its class VisionTransformer. */
const TIMMS = /^(vit|deit3?|flexivit|test_vit\d?)(_|$)|^eva_large_patch14_/;
const TIMMS_NAMES = "timm's vit_*, deit_*, deit3_*, flexivit_* and eva_large_patch14_*";

/** Architectures with such a name that are of other classes or have parts that no plain ViT has. */
const OTHERS: readonly [RegExp, string][] = [
  [/^vit_s?relpos_/, "it has relative positions"],
  [/_rope_|_pe_|_dinov3/, "it has rotary positions"],
  [/_r\d*_s\d+_|_resnet\d+|_mci_/, "convolutions make its patches"],
  [/_dlittle_|_dp?wee_/, "its attention is differential"],
  [/_xp_|_pwee_|_\d+x2_/, "its branches are parallel"],
  [/_rpn_/, "its norms follow the branches"],
  [/_giant_patch14_(reg\d_)?(dinov2|tipsv2)/, "it has SwiGLU"],
  [/^test_vit4/, "it has RMSNorm"],
];

/**
 * @param types the `model_type`s of transformers that are known here.
 * @throws {Refusal} for a config of any other model.
 */
export function expectFamily({ model_type, architecture }: Json, types: readonly string[]): void {
  if (model_type) {
    const type = wordOf(model_type);
    if (types.includes(type.replace("_vision_model", ""))) return;
    throw unknown("model_type", type, types.join(", "));
  }
  if (!architecture) return;
  const name = wordOf(architecture);
  const why = TIMMS.test(name) ? OTHERS.find(([pattern]) => pattern.test(name))?.[1] : "";
  if (why !== undefined) throw unknown("architecture", name, TIMMS_NAMES, why);
}

/** The published width and heads, by the whole of timm's name, or by a part of it. */
const PUBLISHED: Readonly<Record<string, readonly [number, number]>> = {
  vit_base_patch16_gap_224: [768, 16], test_vit: [64, 2], test_vit2: [64, 2], test_vit3: [96, 3],
  tiny: [192, 3], wee: [256, 4], xsmall: [256, 4], little: [320, 5], small: [384, 6], medium: [512, 8],
  mediumd: [512, 8], betwixt: [640, 10], base: [768, 12], plus: [896, 14], so150m2: [832, 13], so150m: [896, 14],
  large: [1024, 16], intern300m: [1024, 16], so400m: [1152, 16], huge: [1280, 16], giant: [1408, 16],
  giantopt: [1536, 16], gigantic: [1664, 16],
};

/** The heads of timm's architecture; undefined if its width is not the published one. */
export function headsOf(architecture: string, width: unknown): number | undefined {
  const words = [architecture, ...architecture.split("_")].filter((word) => hasOwn(PUBLISHED, word));
  return words.map((word) => PUBLISHED[word]!).find(([published]) => published === width)?.[1];
}

function unknown(key: string, name: string, known: string, why = ""): Refusal {
  const because = why && `, because ${why}`;
  return new Refusal(`config: ${key}: ${show(name)} is not known here${because}; known are ${known}`);
}
