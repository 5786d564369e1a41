/** The options that the calls of vit.ts take, and the results that they give. */
import type { Attention } from "./attention.js";
import type { VitConfig } from "./config.js";
import { kindOf, show, VitError } from "./errors.js";
import { type ImageInput, noImage } from "./images.js";
import type { WasmFiles, WasmSource } from "./load/build.js";
import type { Variant } from "./run/module.js";

export interface LoadOptions {
  /**
   * Where the package's files are, if they are not beside this code: the address of a folder that
   * holds all `vit.*.wasm` and `worker.js`, with a slash at its end; or each file by its name; or
   * the one module to run, as its address, its bytes or a compiled module.
   */
  wasm?: WasmSource | WasmFiles;
  /** Which build to run. `"auto"`, the default, takes the fastest that works here. */
  variant?: Variant | "auto";
  /** Run in a worker, so that the page stays responsive. */
  worker?: boolean;
  /**
   * How many threads share the work, at most as many as there are cores; 1 by default. A page
   * needs cross-origin isolation for more than one. If it lacks that, one thread runs, and a
   * warning on the console says why.
   */
  threads?: number;
  /** Aborts the loading. `load` then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Is called while the weights arrive. The numbers are bytes. `total` is 0 while it is unknown. */
  onProgress?: (loaded: number, total: number) => void;
}

export interface EmbedOptions {
  /** Keeps the attention of every layer, or of these layers, counted from 0. */
  attention?: boolean | readonly number[];
  /** Aborts the call. It then rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface ClassifyOptions extends EmbedOptions {
  /** How many classes are returned; all by default. */
  topK?: number;
}

export interface Class {
  label: string;
  index: number;
  /** The probability, softmax(logits / temperature). All classes' probabilities sum to 1. */
  p: number;
}

export interface Classification {
  /** The most probable class comes first. */
  classes: Class[];
  /**
   * Whether the first class's `p` is below the model's `config.uncertain_below`. Do not rely on
   * such an answer. `vit calibrate` sets the threshold so that 99.2 % (or another given share) of
   * the validation images with a right answer are not uncertain. Without a threshold no answer is
   * uncertain.
   */
  uncertain: boolean;
  /** (K), in the model's order, before the temperature. */
  logits: Float32Array;
  /** (C,H,W): the prepared image, as the model got it. */
  input: Float32Array;
  /** Only with the option `attention`, and only if the model has blocks. */
  attention?: Attention;
  /** The time of preparing and running, without waiting: a batch's time divided by its images. */
  milliseconds: number;
}

export interface Embedding {
  /** (D): the first token after the final norm, or the patches' mean in a model without prefix. */
  cls: Float32Array;
  /** (rows·columns, D), patch by patch. */
  patches: Float32Array;
  grid: [rows: number, columns: number];
  width: number;
  /** (D): the vector that a head reads: `cls`, the patches' mean, or SigLIP's pooling. */
  pooled: Float32Array;
  /**
   * The vector that is compared with texts' vectors, if the checkpoint has one: CLIP's projection,
   * or the result of SigLIP's pooling. Its length is not yet 1.
   */
  projected?: Float32Array;
  /** (C,H,W): the prepared image, as the model got it. */
  input: Float32Array;
  /** Only with the option `attention`, and only if the model has blocks. */
  attention?: Attention;
}

/** @internal */
export const LOAD_OPTIONS = ["wasm", "variant", "worker", "threads", "signal", "onProgress"] as const;
/** @internal */
export const EMBED_OPTIONS = ["attention", "signal"] as const;
/** @internal */
export const CLASSIFY_OPTIONS = ["topK", ...EMBED_OPTIONS] as const;

/** @internal An image's name in messages. */
export const nameOf = (index: number, count: number) => (count > 1 ? `image ${index}` : "image");

/** @internal A copy of the list of a call's images, because the caller may change the list later. */
export function listOf(images: readonly ImageInput[]): ImageInput[] {
  if (!Array.isArray(images)) {
    throw new VitError("bad_argument", `images: expected an array, got ${kindOf(images)}`);
  }
  const all: ImageInput[] = [];
  for (let index = 0, { length } = images; index < length; index++) {
    const image = images[index] as ImageInput;
    if (image === undefined) throw noImage(nameOf(index, length), image);
    all.push(image);
  }
  return all;
}

/** @internal The layers that the option `attention` names, ascending. */
export function keptLayers(attention: boolean | readonly number[], depth: number): number[] {
  if (typeof attention === "boolean") {
    return attention ? Array.from({ length: depth }, (_, layer) => layer) : [];
  }
  const none = (got: unknown) => {
    const what = depth > 0 ? `true or an array of layers from 0 to ${depth - 1}` : "none, because no block attends";
    return new VitError("bad_option", `attention: expected ${what}, got ${show(got)}`);
  };
  if (!Array.isArray(attention)) throw none(attention);
  const kept = new Set<number>();
  for (let index = 0, { length } = attention; index < length; index++) {
    const layer = attention[index] as unknown;
    if (!(Number.isInteger(layer) && (layer as number) >= 0 && (layer as number) < depth)) throw none(layer);
    kept.add(layer as number);
  }
  return [...kept].sort((a, b) => a - b);
}

/** @internal The names of the classes and their probabilities. */
export function judge(
  logits: Float32Array,
  { labels, temperature, uncertain_below }: VitConfig,
  topK: number,
): Pick<Classification, "classes" | "uncertain"> {
  const classes = rank(logits, labels, temperature);
  return { classes: classes.slice(0, topK), uncertain: classes[0]!.p < uncertain_below };
}

/** softmax(logits / temperature) in double precision, as in src/stages/logits.c; then sorted. */
function rank(logits: Float32Array, labels: readonly string[], temperature: number): Class[] {
  const classes: Class[] = [];
  let max = -Infinity;
  let sum = 0;
  for (const logit of logits) if (logit > max) max = logit;
  for (let index = 0; index < logits.length; index++) {
    const p = Math.exp((logits[index]! - max) / temperature);
    sum += p;
    classes.push({ label: labels[index]!, index, p });
  }
  for (const one of classes) one.p /= sum;
  return classes.sort((a, b) => b.p - a.p);
}
