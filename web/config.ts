import { parseJson } from "./base/json.js";

/** How pixels become the model's image. */
export type Prepare =
  | { readonly kind: "digit" }
  | {
      readonly kind: "photo";
      /** The shorter side becomes this many pixels; two: rows and columns; null: it stays as it is. */
      readonly resize: number | readonly [number, number] | null;
      /**
       * What two numbers mean: the photo is stretched to them (by default), or it keeps its shape
       * and no side is less, or none is more.
       */
      readonly fit?: "stretch" | "cover" | "contain";
      /** Then a square of this side, or rows and columns, are cut from the middle; `resize` by default. */
      readonly crop?: number | readonly [number, number];
      /** Half of an odd margin is rounded to the even number (by default), or down. */
      readonly crop_at?: "even" | "floor";
      /** What lies round a photo that is smaller than the crop: 0 to 255, one number a channel. */
      readonly fill?: readonly number[] | null;
      /** One number a channel: `(value / 255 - mean) / std`. */
      readonly mean: readonly number[];
      readonly std: readonly number[];
      readonly interpolation?: "bilinear" | "bicubic" | "lanczos" | "nearest";
    };

/**
 * The model's shape and ways, as in the file's `__metadata__.vitrine`. What the file leaves
 * out is filled in; what it says besides (recipe, seed, accuracy) is kept.
 */
export interface VitConfig {
  /** Rows and columns, in pixels. */
  readonly image_size: readonly [number, number];
  readonly patch_size: readonly [number, number];
  readonly channels: number;
  /** The 3×3 convolutions before the patches: channels, with stride 2, or channels and stride. */
  readonly stem: readonly (number | readonly [number, number])[];
  readonly width: number;
  readonly depth: number;
  readonly heads: number;
  /** Of a head's queries, keys and values; width / heads by default. */
  readonly head_width?: number;
  readonly mlp_width: number;
  /** 0: a model without a head. */
  readonly classes: number;
  readonly norm: "pre" | "post";
  readonly norm_eps: number;
  readonly final_norm: boolean;
  readonly activation: "gelu" | "gelu_tanh" | "quick_gelu" | "relu";
  readonly position: "none" | "learned" | "sincos1d" | "sincos2d" | "relative";
  /** Of the images that learned positions are for, where they are resized; `image_size` by default. */
  readonly position_size?: readonly [number, number];
  /** How they are resized: as timm, transformers, facebook's DINO or torchvision do it. */
  readonly position_resize?: "by_family" | "antialias" | "plain" | "offset" | "align_corners";
  readonly pool: "class" | "mean" | "attention" | "max" | "mean_max" | "class_mean" | "prr";
  /** Pool over the prefix tokens too, not over the patches alone; false by default. */
  readonly pool_prefix?: boolean;
  /** Of a file whose patches' projection is a matrix: whose pixels are (C,P,Q), or (P,Q,C). */
  readonly patch_order?: "channels_first" | "channels_last";
  readonly qkv_bias: boolean;
  /** False of CLIP's, whose patches and whose projection have no bias; true by default. */
  readonly patch_bias?: boolean;
  readonly head_bias?: boolean;
  readonly qk_norm: boolean;
  readonly layer_scale: boolean;
  /** The tokens before the patches. */
  readonly prefix: readonly ("class" | "distillation" | "register")[];
  readonly attention: "standard" | "per_head";
  /** One name a class; the class's number where the file has none. */
  readonly labels: readonly string[];
  readonly prepare?: Prepare | null;
  /** The logits are divided by it to make probabilities; above 0. `vit calibrate` finds it. */
  readonly temperature: number;
  /** An answer whose probability is less is `uncertain`; from 0, never, to 1. */
  readonly uncertain_below: number;
  readonly [extra: string]: unknown;
}

/** @internal What a config may leave out, as in src/file/config.c. */
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
  temperature: 1,
  uncertain_below: 0,
} as const;

/** @internal JSON text that the module has already checked → the full config. */
export function fullConfig(json: string): VitConfig {
  const given = parseJson(json, "config") as Pick<VitConfig, "classes">;
  const labels = Array.from({ length: given.classes }, (_, index) => String(index));
  return freeze({ ...DEFAULTS, labels, ...given } as unknown as VitConfig);
}

/** @internal Where a model comes from, as the module tells it: vit_model_origin in src/vit.h. */
export interface Origin {
  readonly family: string;
  readonly assumed: readonly string[];
  readonly skipped: readonly string[];
  readonly projection: "head" | "pooled" | null;
}

/** @internal */
export const originOf = (json: string): Origin => freeze(JSON.parse(json) as Origin);

function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
