/** transformers' BEiT and data2vec-vision: keys have no bias, and positions are relative, learned, both or neither. */
import type { Json } from "../base/json.js";
import { copyOf, type Family, type ModelType, zerosLike } from "./family.js";
import { Refusal } from "./refusal.js";
import { TRANSFORMERS_VIT, VIT } from "./transformers-vit.js";

/** The keys that say which positions it has; the tensors show these, and the scales. */
const POSITIONS = ["absolute_position_embeddings", "relative_position_bias", "shared_relative_position_bias"].map((name) => `use_${name}`);
const position = (config: Json): Json => (POSITIONS.some((key) => config[key]) ? {} : { position: "none" });
const BEIT = { ...VIT, layer_scale: undefined, processor: "Beit", position } as const;

export const BEIT_TYPES = {
  beit: BEIT,
  "data2vec-vision": BEIT,
} as const satisfies Record<string, ModelType>;

const ATTENTION = "encoder.layer.*.attention.attention";
const OWN = `${ATTENTION}.relative_position_bias.relative_position_bias_table`;
const SHARED = "encoder.relative_position_bias.relative_position_bias_table";

const plain = TRANSFORMERS_VIT[TRANSFORMERS_VIT.length - 1]!;

export const TRANSFORMERS_BEIT: readonly Family[] = [{
  ...plain,
  name: "transformers' BEiT and data2vec-vision",
  anchors: ["encoder.layer.0.attention.attention.query.weight"],
  needs: ["encoder.layer.0.attention.attention.query.bias"],
  fits: (tensors) => !tensors.has("blocks.0.attn.qkv.bias"),
  variant: true,
  names: `${plain.names}
    blocks.*.ls1.gamma encoder.layer.*.lambda_1
    blocks.*.ls2.gamma encoder.layer.*.lambda_2
    blocks.*.attn.rel_pos.relative_position_bias_table ${OWN}
    fc_norm pooler.layernorm`,
  ignored: ["embeddings.mask_token", "lm_head."],
  resize(_, { position, image_size }) {
    if (position !== "relative" || new Set([image_size].flat()).size < 2) return "plain";
    throw new Refusal("config: image_size: expected a square, as transformers' BEiT mixes up rows and columns");
  },
  added: [
    { name: `${ATTENTION}.key.bias`, from: [`${ATTENTION}.query.bias`], plan: zerosLike },
    { name: OWN, from: [SHARED], plan: copyOf, replaces: true },
  ],
}];
