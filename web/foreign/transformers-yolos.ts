/** transformers' YOLOS: a ViT with detection tokens, whose positions follow those of the patches. */
import type { Json } from "../base/json.js";
import type { Family, ModelType } from "./family.js";
import { TRANSFORMERS_VIT, VIT } from "./transformers-vit.js";
import { pair } from "./words.js";

/** Pixels that fill no patch are left out, as of 1333 columns. */
const position = ({ patch_size }: Json): Json => ({ patch_stride: pair(patch_size) });

export const YOLOS_TYPES = {
  yolos: { ...VIT, processor: "Yolos", position },
} as const satisfies Record<string, ModelType>;

const plain = TRANSFORMERS_VIT[TRANSFORMERS_VIT.length - 1]!;

export const TRANSFORMERS_YOLOS: readonly Family[] = [
  {
    ...plain,
    name: "transformers' YOLOS",
    needs: ["embeddings.detection_tokens"],
    variant: true,
    names: `${plain.names}
    det_token embeddings.detection_tokens
    mid_pos_embed encoder.mid_position_embeddings
    ${[0, 1, 2].flatMap((layer) => [
      `class_embed.layers.${layer} class_labels_classifier.layers.${layer}`,
      `bbox_embed.layers.${layer} bbox_predictor.layers.${layer}`,
    ]).join("\n    ")}`,
  },
];
