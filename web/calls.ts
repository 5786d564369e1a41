/** The options that the calls of vit.ts take, and the results that they give. */
import { isArray } from "./base/bytes.js";
import { type Attention, within } from "./attention.js";
import { type Class, doubtOf, rank } from "./classes.js";
import type { VitConfig } from "./config.js";
import { kindOf, show, takeOptions, VitError } from "./errors.js";
import { MOST_PATCHES, MOST_SIDE } from "./generated/config.js";
import { type ImageInput, noImage, type Placement } from "./images.js";
import type { Fetch, Source, Tokenizer } from "./load/source.js";
import type { WasmSource } from "./engine/compile.js";
import type { WasmFiles } from "./engine/files.js";
import type { Variant } from "./engine/module.js";
import type { Shape } from "./engine/shape.js";
import type { Replaced, Without } from "./engine/without.js";
import type { ReadAttention } from "./read-attention.js";
import type { Trace } from "./trace.js";

export interface LoadOptions {
  /**
   * Where the package's files are, if they are not beside this code: the address of a folder that
   * holds all `vit.*.wasm` and `worker.js`, with a slash at its end; or each file by its name; or
   * the one module to run, as its address, its bytes or a compiled module. `vit.full.*.wasm` runs
   * every model, `vit.simd128.wasm` and its like ordinary ones.
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
  /**
   * Downloads the weights and their config. It is called like the platform's own `fetch`, and can
   * send headers, for example for a private folder:
   * `(address, init) => fetch(address, { ...init, headers: { authorization } })`.
   */
  fetch?: Fetch;
  /**
   * How {@link Vit.embedText} makes ids of texts, if the model's folder does not hold that: a `tokenizer.json`, or
   * OpenAI's `bpe_simple_vocab_16e6.txt.gz`, or a tokenizer of the package @huggingface/tokenizers.
   */
  tokenizer?: Tokenizer | Source;
  /** Aborts the loading. `load` then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called while the weights arrive, with numbers of bytes. `total` is 0 while it is unknown. */
  onProgress?: (loaded: number, total: number) => void;
  /**
   * Images and the logits that the model's own code gives for them. They settle what the file leaves open: of
   * at most 200 combinations the nearest is taken, if it is within 1e-3. With labels in place of logits load
   * throws an error that ranks the combinations. The weights must be readable more than once, and a config
   * beside them must be an object.
   */
  examples?: readonly { readonly image: ImageInput; readonly logits?: ArrayLike<number>; readonly label?: string | number }[];
}

/** A text, or its ids with those that the model wants before and after it. */
export type TextInput = string | ArrayLike<number>;

export interface EmbedOptions {
  /** Keeps the attention of every layer, or of these layers, counted from 0. */
  attention?: boolean | readonly number[];
  /**
   * The size of the model's image in this call. By default it is the config's `image_size`, or in `detect` the photo's
   * own size, if `prepare` has `edges`. Sides are whole numbers of patches. Photos are resized by as much as the image is.
   */
  size?: readonly [rows: number, columns: number];
  /** `false` leaves `input` out of the results, which for 200 photos of 224×224 pixels is 115 MB. */
  keepInput?: boolean;
  /** Aborts the call. It then rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface ClassifyOptions extends EmbedOptions {
  /** How many classes are returned; all by default. */
  topK?: number;
  /** Keeps the run's intermediate results. Images then run one by one. */
  trace?: boolean;
  /**
   * The classes, by number or by label, for which `attention.relevance` has maps; `true`: the ten most
   * probable. All attention is kept, unless the option `attention` says otherwise. Each image
   * runs alone, twice, and back once for each class.
   */
  relevance?: boolean | readonly (number | string)[];
  /**
   * Texts that take the place of the classes, such as "a photo of a cat": of CLIP and SigLIP, whose probabilities are
   * those of the model's own code. SigLIP's do not exclude each other.
   */
  labels?: readonly TextInput[];
  /** Leaves parts of the model out of this call. */
  ablate?: Ablation;
  /**
   * Gives heads other queries, keys or values than they would compute, in every image of this call:
   * activation patching (Zhang & Nanda, arXiv:2309.16042).
   */
  replace?: readonly Replacement[];
}

/** What one head uses instead of what it would compute. Each is (T,d), as {@link Trace} gives it. */
export interface Replacement {
  layer: number;
  head: number;
  queries?: Float32Array;
  keys?: Float32Array;
  values?: Float32Array;
}

/** Parts to leave out. Layers and heads count from 0. */
export interface Ablation {
  /** These heads' values are 0. */
  heads?: readonly (readonly [layer: number, head: number])[];
  /** The MLPs of these layers add nothing. */
  mlps?: readonly number[];
  /** The two norms of these layers pass their input on. */
  norms?: readonly number[];
  /** No positions are added, neither to the tokens nor to the scores. */
  positions?: boolean;
}

export interface Classification {
  /** The most probable class comes first; for a regression, the largest value. */
  classes: Class[];
  /** What `p` is: the model's `config.problem_type`. */
  problemType: VitConfig["problem_type"];
  /**
   * Whether the first class's `p` is below the model's `config.uncertain_below`. Do not rely on
   * such an answer. A calibration sets the threshold so that 99.2 % (or another share that you choose) of the
   * validation images with a right answer are not uncertain. Without a threshold no answer is
   * uncertain, and no value of a regression ever is.
   */
  uncertain: boolean;
  /**
   * How likely it is that no class is right, because the image shows none of them or too little of one: 0 to 1.
   * Only models whose config has `doubt` tell it; the classes' `p` then sum to 1 - doubt.
   */
  doubt?: number;
  /** (K), in the model's order, before the temperature. With `doubt` its logit follows. */
  logits: Float32Array;
  /** (C,H,W): the prepared image, as the model got it. Left out with `keepInput: false`. */
  input: Float32Array;
  /** Where `input` lies in the source, in the source's pixels. */
  placement: Placement;
  /** Only with the option `attention` or `relevance`, and only if the model has blocks. */
  attention?: Attention;
  /** Only with the option `trace`. */
  trace?: Trace;
  /** The time to prepare and run, without the queue: a batch's time divided by its number of images. */
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
   * The vector to compare with text vectors, if the checkpoint has one: CLIP's projection, or the
   * result of SigLIP's pooling. It is not normalised to length 1.
   */
  projected?: Float32Array;
  /**
   * (rows·columns, its length): the patches by CLIP's projection, which was trained for the class token alone. Their
   * cosines with a text's vector show where the photo is like the text, but only roughly.
   */
  projectedPatches?: Float32Array;
  /** (C,H,W): the prepared image, as the model got it. Left out with `keepInput: false`. */
  input: Float32Array;
  /** Where `input` lies in the source, in the source's pixels. */
  placement: Placement;
  /** Only with the option `attention`, and only if the model has blocks. */
  attention?: Attention;
}

export interface TextEmbedding {
  /** (texts, width): the vectors that images are compared with, each of length 1. */
  embeds: Float32Array;
  width: number;
}

export interface ReadOptions extends Pick<EmbedOptions, "size" | "keepInput" | "signal"> {
  /** The most tokens that are written; by default as many as the model's own settings say, or as it has positions. */
  maxTokens?: number;
  /** How many texts are followed at once, of which the most probable one is given; by default as the model's own settings say, or 1. */
  beams?: number;
  /** Above 0, tokens are drawn by chance, from softmax(logits / temperature). 0, the default: the most probable one is taken. */
  temperature?: number;
  /** Tokens are drawn from the most probable ones that have this share, 0 to 1; from all by default. */
  topP?: number;
  /** Of the chance: the same seed draws the same text. */
  seed?: number;
  /** The token that the text begins with, by its id or label; the config's `decoder.start` by default. */
  start?: number | string;
  /** Writes nothing and runs these tokens, the first one included: teacher forcing. */
  force?: ArrayLike<number>;
  /** Keeps the logits. */
  logits?: boolean;
  /** Keeps where each token looked, in the image and in the text. */
  attention?: boolean;
  /** Gets each token as soon as it is certain: with beams, all at the end. */
  onToken?: (token: ReadToken) => void;
}

/** A token that was written. */
export interface ReadToken {
  /** What it adds to the text; "" for one that only begins or ends texts, and where no tokenizer is known. */
  text: string;
  id: number;
  /** How probable it was among all tokens, after those before it, at the temperature of the model's config. */
  p: number;
}

export interface ReadResult {
  /** Without what begins and ends it. "" if neither the config has `decoder.labels` nor a tokenizer is known. */
  text: string;
  /** Those that were written, with the one that ends the text; with `force`, those that were given. */
  tokens: ReadToken[];
  /** How probable the whole text is: the product of its tokens' `p`. */
  p: number;
  /** Whether that is below the model's `config.uncertain_below`. Do not rely on such a text. */
  uncertain: boolean;
  /** (S,V): row i is what token i was chosen by. With `force`, row i is what may follow token i. Only with the option `logits`, or with `force`. */
  logits?: Float32Array;
  /** Only with the option `attention`. Its rows are those of `logits`. */
  attention?: ReadAttention;
  /** (C,H,W): the prepared image, as the model got it. Left out with `keepInput: false`. */
  input: Float32Array;
  /** Where `input` lies in the source, in the source's pixels. */
  placement: Placement;
  /** The time to prepare, read and write, without the queue. */
  milliseconds: number;
}

/** The text, once it is written. `for await (const token of vit.read(image))` gives each token as soon as it is certain. */
export interface Reading extends Promise<ReadResult>, AsyncIterable<ReadToken> {}

export interface DetectOptions extends EmbedOptions {
  /** The least `p` of the objects that are returned: 0 to 1, 0.9 by default. */
  threshold?: number;
}

/** Something that a detection token found. */
export interface DetectedObject {
  label: string;
  index: number;
  /** The probability, by a softmax over the classes and "no object". */
  p: number;
  /** In the source's pixels. It may reach beyond the photo. */
  box: Placement;
  /** (grid rows, grid columns): how much its token attends to each patch, in the last layer, by the mean of the heads. */
  map: Float32Array;
  /** Its token, for `attention.fromPrefix`. */
  token: number;
}

export interface Detection {
  /** The most probable object comes first. */
  objects: DetectedObject[];
  /** (detection tokens, K+1): each token's scores; the last is that of no object. */
  logits: Float32Array;
  /** (detection tokens, 4): the column and the row of each box's centre, its width and its height, as shares of `input`. */
  boxes: Float32Array;
  grid: [rows: number, columns: number];
  /** Of `input`, in pixels: the photo's own, if the config's `prepare` has `edges` and the options no size. */
  size: [rows: number, columns: number];
  /** (C,H,W): the prepared image, as the model got it. Left out with `keepInput: false`. */
  input: Float32Array;
  /** Where `input` lies in the source, in the source's pixels. */
  placement: Placement;
  /** Only with the option `attention`, and only if the model has blocks. */
  attention?: Attention;
  /** The time to prepare and run, without the queue. */
  milliseconds: number;
}

/** @internal */
export const LOAD_OPTIONS = ["wasm", "variant", "worker", "threads", "fetch", "tokenizer", "signal", "onProgress", "examples"] as const;
/** @internal */
export const EMBED_OPTIONS = ["attention", "size", "keepInput", "signal"] as const;
/** @internal */
export const DETECT_OPTIONS = ["threshold", ...EMBED_OPTIONS] as const;
/** @internal */
export const CLASSIFY_OPTIONS = ["topK", "labels", "trace", "relevance", "ablate", "replace", ...EMBED_OPTIONS] as const;

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

/** @internal The model's shape for images of the size that the option `size` names. */
export function resized(shape: Shape, size: unknown, config: Readonly<VitConfig>): Shape {
  if (size === undefined) return shape;
  const { patch_size: patch, patch_stride: stride } = config;
  const sides: number[] = Array.isArray(size) && size.length === 2 ? Array.from(size) : [];
  const got = sides.map(show).join("×") || show(size);
  const wrong = (what: string) => new VitError("bad_option", `size: expected ${what}, got ${got}`);
  if (sides.length === 0 || !sides.every((side) => Number.isInteger(side) && side > 0 && side <= MOST_SIDE)) {
    throw wrong(`[rows, columns], each from 1 to ${MOST_SIDE} pixels`);
  }
  const [rows, columns] = sides as [number, number];
  if (rows === shape.rows && columns === shape.columns) return shape;
  const overlap = String(stride) !== String(patch); // what is left over at the edge is then not read
  const near = (round: (patches: number) => number) =>
    sides.map((side, axis) => Math.max(1, round(side / patch[axis]!)) * patch[axis]!).join("×");
  if (overlap ? rows < patch[0] || columns < patch[1] : near(Math.ceil) !== sides.join("×")) {
    const nearest = `the nearest are ${near(Math.floor)} and ${near(Math.ceil)}`;
    throw wrong(overlap ? `a patch, ${patch.join("×")}, or more` : `multiples of the patch, ${patch.join("×")}: ${nearest}`);
  }
  const across = (axis: 0 | 1) => Math.floor((sides[axis]! - patch[axis]) / stride[axis]) + 1;
  const grid = [across(0), across(1)] as const, patches = grid[0] * grid[1];
  if (patches > MOST_PATCHES) throw wrong(`at most ${MOST_PATCHES} patches`);
  return { ...shape, rows, columns, grid, tokens: shape.prefix + patches };
}

/** @internal The layers that the option `attention` names, ascending. */
export function attentionLayers(attention: boolean | readonly number[], depth: number): number[] {
  if (typeof attention === "boolean") {
    return attention ? Array.from({ length: depth }, (_, layer) => layer) : [];
  }
  const none = (got: unknown) => {
    const what = depth > 0 ? `true or an array of layers from 0 to ${depth - 1}` : "none, because this model has no blocks";
    return new VitError("bad_option", `attention: expected ${what}, got ${show(got)}`);
  };
  if (!Array.isArray(attention)) throw none(attention);
  const layers = new Set<number>();
  for (let index = 0, { length } = attention; index < length; index++) {
    const layer = attention[index] as unknown;
    if (!(Number.isInteger(layer) && (layer as number) >= 0 && (layer as number) < depth)) throw none(layer);
    layers.add(layer as number);
  }
  return [...layers].sort((a, b) => a - b);
}

/** How many classes `relevance: true` asks for. */
const LIKELIEST = 10;

/** @internal The classes that the option `relevance` names, or how many of the likeliest it asks for. */
export function relevanceClasses(
  relevance: ClassifyOptions["relevance"],
  { pool, depth, classes, labels }: Readonly<VitConfig>,
): number[] | number | undefined {
  if (relevance === undefined || relevance === false) return undefined;
  if (relevance !== true && !Array.isArray(relevance)) {
    throw new VitError("bad_option", `relevance: expected true or an array of classes, got ${show(relevance)}`);
  }
  if (depth === 0 || !["class", "mean"].includes(pool)) {
    const what = `relevance: expected a model with blocks whose pool is class or mean, got ${depth} blocks and pool ${pool}`;
    throw new VitError("unsupported", `${what}; ${depth > 0 ? "use attention.rollout" : "it has no attention"}`);
  }
  if (relevance === true) return LIKELIEST;
  const indices = Array.from(relevance as readonly unknown[], (one) => {
    const index = typeof one === "string" ? labels.indexOf(one) : one;
    if (Number.isInteger(index) && (index as number) >= 0 && (index as number) < classes) return index as number;
    const what = `relevance: expected classes from 0 to ${classes - 1} or their labels`;
    throw new VitError("bad_argument", `${what}, got ${show(one)}`);
  });
  return indices.length > 0 ? [...new Set(indices)] : undefined;
}

/** The parts of a head, in the order of src/vit.h's `vit_replacement`. */
const PARTS = ["queries", "keys", "values"] as const;

/** Copies of the rows that the option `replace` gives. */
function replacements(replace: readonly Replacement[], shape: Shape): Replaced[] {
  if (!Array.isArray(replace)) {
    throw new VitError("bad_option", `replace: expected an array, got ${show(replace)}`);
  }
  const size = shape.tokens * shape.headWidth;
  return Array.from(replace as readonly Replacement[]).flatMap((one) => {
    const own = takeOptions("replace", one, ["layer", "head", ...PARTS]);
    const layer = within("replace: layer", own.layer, shape.depth);
    const head = within("replace: head", own.head, shape.heads);
    return PARTS.flatMap((name, part) => {
      const rows = own[name];
      if (rows === undefined) return [];
      if (isArray(rows, "Float32Array") && rows.length === size && rows.every(Number.isFinite)) {
        return [{ layer, head, part, rows: rows.slice() }];
      }
      const found = isArray(rows, "Float32Array") && (rows.length === size ? "NaN or infinity" : `${rows.length}`);
      const what = `a Float32Array of ${size} finite numbers, (T,d)`, got = found || show(rows);
      throw new VitError("bad_argument", `replace.${name}: expected ${what}, got ${got}`);
    });
  });
}

/** @internal The parts that the options `ablate` and `replace` name. */
export function ablationMasks(options: ClassifyOptions, shape: Shape): Without | undefined {
  if (options.ablate === undefined && options.replace === undefined) return undefined;
  const { ablate = {}, replace = [] } = options;
  const { depth, heads } = shape;
  const replaced = replacements(replace, shape);
  const own = takeOptions("ablate", ablate, ["heads", "mlps", "norms", "positions"]);
  const list = <Item>(name: string, items: readonly Item[] | undefined): readonly Item[] => {
    if (items === undefined) return [];
    if (Array.isArray(items)) return [...(items as readonly Item[])];
    throw new VitError("bad_option", `ablate.${name}: expected an array, got ${show(items)}`);
  };
  const layers = (name: "mlps" | "norms") =>
    list(name, own[name]).map((layer) => within(`ablate.${name}`, layer, depth));
  const pairs = list("heads", own.heads).map((pair) => {
    const [layer, head] = list("heads", pair);
    return [within("ablate.heads: layer", layer!, depth), within("ablate.heads: head", head!, heads)] as const;
  });
  return { heads: pairs, mlps: layers("mlps"), norms: layers("norms"), positions: Boolean(own.positions), replaced };
}

/** @internal The names of the classes and their probabilities. */
export function judge(
  logits: Float32Array,
  config: VitConfig,
  topK: number,
): Pick<Classification, "classes" | "problemType" | "uncertain" | "doubt"> {
  const { problem_type: problemType, uncertain_below } = config;
  const classes = rank(logits, config), doubt = doubtOf(logits, config);
  const uncertain = problemType !== "regression" && classes[0]!.p < uncertain_below;
  return { classes: classes.slice(0, topK), problemType, uncertain, ...(doubt !== undefined && { doubt }) };
}
