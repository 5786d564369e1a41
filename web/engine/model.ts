/** What a run of a model is asked for, and what it returns. */
import type { Placement } from "../images.js";
import type { Maps } from "./maps.js";
import type { Variant } from "./module.js";
import type { Shape } from "./shape.js";
import type { Without } from "./without.js";

/** An open model. */
export interface Model {
  /** The config as JSON: `vit_model_json`. */
  readonly config: string;
  readonly variant: Variant;
  readonly shape: Shape;
  /** The bytes of memory after loading. */
  readonly memory: number;
}

/** What a run returns besides the logits. */
export interface Wants {
  /** The layers whose attention is returned, ascending. */
  readonly attention: readonly number[];
  /** The tokens after the last block and the final norm. */
  readonly tokens: boolean;
  /** The patches by the head's matrix, if the head is one of the class token. Only together with the tokens. */
  readonly projected?: boolean;
  /** Whether the attention is copied at once, because it will be sent or overwritten. */
  readonly copied?: boolean;
  /** Leaves the prepared image out of the results. */
  readonly bare?: boolean;
  /** The intermediate values of the run. Only for one image at a time. */
  readonly trace?: boolean;
  /** Classes whose relevance is wanted; a number: that many of the likeliest. One image at a time. */
  readonly relevance?: readonly number[] | number;
  readonly without?: Without;
  /** Of the images. */
  readonly size: readonly [rows: number, columns: number];
  /** Only of a model with detections, without tokens and without the last layer's attention. */
  readonly views?: boolean;
}

/** One image's results. All are copies except attention that is left on the heap. */
export interface Result {
  /** (C, H, W): the prepared image */
  readonly input?: Float32Array<ArrayBuffer>;
  readonly placement: Placement;
  readonly logits: Float32Array<ArrayBuffer>;
  /** (layers wanted, heads, T, T) */
  readonly attention?: Float32Array<ArrayBuffer> | Maps;
  /** (T, D) */
  readonly tokens?: Float32Array<ArrayBuffer>;
  /** (D): returned together with the tokens */
  readonly pooled?: Float32Array<ArrayBuffer>;
  /** (N, K) */
  readonly projected?: Float32Array<ArrayBuffer>;
  /** The arrays of web/trace.ts, one after the other. */
  readonly trace?: Float32Array<ArrayBuffer>;
  readonly relevance?: Relevance;
  /** (detections, N): how much each detection token attends to each patch in the last layer, by the mean of the heads. */
  readonly views?: Float32Array<ArrayBuffer>;
  /** The time of this image: a batch's time divided by its images. */
  readonly milliseconds: number;
  /** The module's bytes after the run. */
  readonly memory: number;
}

/** How much each patch speaks for some classes. */
export interface Relevance {
  readonly classes: readonly number[];
  /** (classes, N) */
  readonly values: Float32Array<ArrayBuffer>;
}

/** Whether a run stores the tokens after each block. Such a run takes one image at a time. */
export const isTraced = ({ trace, relevance }: Wants) => Boolean(trace) || relevance !== undefined;
