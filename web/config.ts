import { parseJson } from "./base/json.js";

/** How pixels become the model's image. */
export type Prepare =
  | { readonly kind: "digit" }
  | {
      readonly kind: "photo";
      /** One number: the shorter side's pixels. Two: rows and columns. null: no resizing. */
      readonly resize: number | readonly [number, number] | null;
      /**
       * How two numbers in `resize` are used. `stretch` (the default) makes exactly this size.
       * `cover` and `contain` keep the photo's shape: no side is shorter, or no side is longer.
       */
      readonly fit?: "stretch" | "cover" | "contain";
      /** Then cut from the middle: a square's side, or rows and columns. Default: `resize`. */
      readonly crop?: number | readonly [number, number];
      /** Rounding of half an odd margin: to the even number (the default), or down. */
      readonly crop_at?: "even" | "floor";
      /** The colour around a photo smaller than the crop: 0 to 255, one number a channel. */
      readonly fill?: readonly number[] | null;
      /** One number a channel: `(value / 255 - mean) / std`. */
      readonly mean: readonly number[];
      readonly std: readonly number[];
      readonly interpolation?: "bilinear" | "bicubic" | "lanczos" | "nearest";
    };

/**
 * The model's shape and options, as in the file's `__metadata__.vitrine`. Missing keys are filled
 * in. Further keys of the file (recipe, seed, accuracy) are kept.
 */
export interface VitConfig {
  /** Rows and columns, in pixels. */
  readonly image_size: readonly [number, number];
  readonly patch_size: readonly [number, number];
  readonly channels: number;
  /** The 3×3 convolutions before the patches: `channels` (stride 2) or `[channels, stride]`. */
  readonly stem: readonly (number | readonly [number, number])[];
  readonly width: number;
  readonly depth: number;
  readonly heads: number;
  /** The width of a head's queries, keys and values; width / heads by default. */
  readonly head_width?: number;
  readonly mlp_width: number;
  /** 0 in a model without a head. */
  readonly classes: number;
  readonly norm: "pre" | "post";
  readonly norm_eps: number;
  readonly final_norm: boolean;
  readonly activation: "gelu" | "gelu_tanh" | "quick_gelu" | "relu";
  readonly position: "none" | "learned" | "sincos1d" | "sincos2d" | "relative";
  /** The image size that the learned positions fit; `image_size` by default. */
  readonly position_size?: readonly [number, number];
  /** How learned positions are resized: as timm, transformers, DINO or torchvision does it. */
  readonly position_resize?: "by_family" | "antialias" | "plain" | "offset" | "align_corners";
  readonly pool: "class" | "mean" | "attention" | "max" | "mean_max" | "class_mean" | "prr";
  /** The prefix is pooled with the patches; false by default. */
  readonly pool_prefix?: boolean;
  /** The order of a patch's pixels where its projection is a matrix: (C,P,Q) or (P,Q,C). */
  readonly patch_order?: "channels_first" | "channels_last";
  readonly qkv_bias: boolean;
  /** False in CLIP's models, where the patches' projection has no bias; true by default. */
  readonly patch_bias?: boolean;
  readonly head_bias?: boolean;
  readonly qk_norm: boolean;
  readonly layer_scale: boolean;
  /** False in a model without residual connections: a branch's output takes the place of its input. True by default. */
  readonly residual?: boolean;
  /** The tokens before the patches. */
  readonly prefix: readonly ("class" | "distillation" | "register")[];
  readonly attention: "standard" | "per_head";
  /** One name a class; the class's number where the file has no name. */
  readonly labels: readonly string[];
  /**
   * `null` where nothing says it, as in most files of other families: pixels are then refused.
   * Without it, in a file of the package's own, pixels of the image's size become 0 to 1.
   */
  readonly prepare?: Prepare | null;
  /**
   * What the logits are, in transformers' words. Single label: a softmax gives probabilities that
   * sum to 1. Multi-label: each class has a probability of its own. Regression: they are the values.
   */
  readonly problem_type: "single_label_classification" | "multi_label_classification" | "regression";
  /** Divides the logits before the softmax or the sigmoid; above 0; found by a calibration. */
  readonly temperature: number;
  /** An answer whose probability is below this is `uncertain`: 0 (never) to 1. */
  readonly uncertain_below: number;
  /** An `unfinished` drawing is multiplied by this, so that the model can tell: above 0 and up to 1; 1 by default. */
  readonly unfinished_ink?: number;
  readonly [extra: string]: unknown;
}

/** @internal The values of keys that a config leaves out, as in src/file/config.c. */
export const DEFAULTS = {
  norm: "pre",
  norm_eps: 1e-6,
  final_norm: true,
  activation: "gelu",
  position: "learned",
  pool: "class",
  qkv_bias: true,
  qk_norm: false,
  layer_scale: false,
  stem: [],
  prefix: ["class"],
  attention: "standard",
  problem_type: "single_label_classification",
  temperature: 1,
  uncertain_below: 0,
} as const;

/** @internal The keys of a config, as in src/file/config.c. */
export const CONFIG_KEYS = [
  "image_size", "patch_size", "channels", "stem", "width", "depth", "heads", "head_width", "mlp_width", "classes",
  "norm", "norm_eps", "final_norm", "activation", "position", "position_size", "position_resize", "pool",
  "pool_prefix", "patch_order", "qkv_bias", "patch_bias", "head_bias", "qk_norm", "layer_scale", "residual", "prefix",
  "attention", "labels", "prepare", "problem_type", "temperature", "uncertain_below", "unfinished_ink",
] as const;

/** @internal The full config of JSON text that the module has already checked. */
export function fullConfig(json: string): VitConfig {
  const given = parseJson(json, "config") as Pick<VitConfig, "classes">;
  const labels = Array.from({ length: given.classes }, (_, index) => String(index));
  const one = given.classes === 1 && { problem_type: "multi_label_classification" }; // as in config.c
  return freeze({ ...DEFAULTS, ...one, labels, ...given } as unknown as VitConfig);
}

/** @internal Where a model comes from. */
export interface Origin {
  readonly family: string;
  readonly assumed: readonly string[];
  readonly skipped: readonly string[];
  /** What places an image among texts. */
  readonly projection: "head" | "pooled" | null;
}

function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
