/**
 * Translates `config.json` of transformers into our config. What it does not say follows from the
 * tensors' shapes (sizes.ts). processor.ts translates how pixels are prepared.
 */
import { isObject, type Json } from "../base/json.js";
import { hasOwn, show } from "../errors.js";
import type { ModelType } from "./family.js";
import { Refusal } from "./refusal.js";
import { MOST_REGISTERS } from "./sizes.js";
import { BEIT_TYPES } from "./transformers-beit.js";
import { BLIP_TYPES } from "./transformers-blip.js";
import { CLIP_TYPES } from "./transformers-clip.js";
import { SIGLIP_TYPES } from "./transformers-siglip.js";
import { DINOV3_TYPES } from "./transformers-dinov3.js";
import { VIT_TYPES } from "./transformers-vit.js";
import { YOLOS_TYPES } from "./transformers-yolos.js";
import { ACTIVATIONS, definedMembers, meaning, objectOr, pair, unknownName, wordOf } from "./words.js";

const TYPES = { ...VIT_TYPES, ...BEIT_TYPES, ...CLIP_TYPES, ...SIGLIP_TYPES, ...DINOV3_TYPES, ...BLIP_TYPES, ...YOLOS_TYPES } as const;

const nameOf = (model_type: unknown) => wordOf(model_type).replace("_vision_model", "");

export const typeOf = (model_type: unknown): ModelType | undefined =>
  hasOwn(TYPES, nameOf(model_type)) ? TYPES[nameOf(model_type) as keyof typeof TYPES] : undefined;

/** @throws {Refusal} for a config of any other model. */
export function ofTransformers(config: Json): Json {
  const type = typeOf(config.model_type);
  if (!type) throw unknownName("model_type", wordOf(config.model_type), Object.keys(TYPES).join(", "));
  const c = { ...objectOr(config.vision_config, config), ...objectOr(config.vision_config_dict, {}) } as Json;
  if (wordOf(config.architectures).includes("SiglipForImage") && isBefore(config.transformers_version, 43)) {
    const why = "before 4.43 its mean left the first patch out";
    throw new Refusal(`config: transformers_version: ${why}; expected a newer one`);
  }
  const registers = nameOf(config.model_type) === "dinov2_with_registers";
  const classifies = wordOf(config.architectures).includes("Classif");
  return definedMembers({
    image_size: pair(c.image_size),
    patch_size: pair(c.patch_size),
    prefix: type.registers === undefined ? type.prefix : [...type.prefix, ...registersOf({ num_register_tokens: type.registers, ...c })],
    layer_scale: type.layer_scale,
    pool_prefix: classifies && registers ? poolsRegisters(config.transformers_version) : undefined,
    channels: c.num_channels,
    width: c.hidden_size,
    depth: c.num_hidden_layers,
    heads: c.num_attention_heads ?? 12,
    mlp_width: c.intermediate_size,
    qkv_bias: c.qkv_bias === false ? false : undefined,
    norm_eps: c.layer_norm_eps ?? type.norm_eps,
    ...type.position?.(c),
    mlp: c.use_swiglu_ffn || c.use_gated_mlp ? "gated" : undefined,
    activation: c.use_swiglu_ffn ? "silu" : meaning("hidden_act", c.hidden_act ?? type.hidden_act, ACTIVATIONS),
    labels: labelsOf(config),
    problem_type: config.problem_type ?? undefined,
  });
}

function registersOf({ num_register_tokens: count }: Json): "register"[] {
  if (Number.isInteger(count) && (count as number) >= 0 && (count as number) <= MOST_REGISTERS) {
    return Array<"register">(count as number).fill("register");
  }
  throw new Refusal(`config: num_register_tokens: expected a whole number up to ${MOST_REGISTERS}, got ${show(JSON.stringify(count))}`);
}

/** Before 4.52, the mean beside a DINOv2's class token included its registers. */
const poolsRegisters = (version: unknown) => (versionOf(version) ? isBefore(version, 52) : undefined);

const versionOf = (version: unknown) => /^(\d+)\.(\d+)/.exec(wordOf(version));

/** Whether a version is older than 4.`minor`. */
function isBefore(version: unknown, minor: number): boolean {
  const [, major = "", got = ""] = versionOf(version) ?? [];
  return major === "4" && Number(got) < minor;
}

/** The labels of a classifier or a detector. Every config has some, so only theirs are used. */
function labelsOf({ architectures, id2label }: Json): string[] | undefined {
  if (!/Classif|ObjectDetection/.test(wordOf(architectures)) || !id2label) return undefined;
  // Keys that are whole numbers come in ascending order.
  const labels = isObject(id2label) ? Object.values(id2label) : [id2label];
  return labels.map((label) => {
    if (typeof label === "string" || typeof label === "number") return String(label);
    const got = show(JSON.stringify(label));
    throw new Refusal(`config: id2label: expected an object of strings, got ${got}`);
  });
}
