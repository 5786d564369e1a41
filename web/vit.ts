import { Attention } from "./attention.js";
import { fullConfig, type Origin, originOf, type VitConfig } from "./config.js";
import { closed, type Model, type Output } from "./run/engine.js";
import { guarded, isReasonOf, kindOf, show, takeOptions, VitError } from "./errors.js";
import { abortable, lasting, type Source } from "./load/source.js";
import { type Folder, isFolder, openFolder, placeOf } from "./load/folder.js";
import { type ImageInput, noImage, type Picture, toPicture } from "./images.js";
import { readConfig, takeConfig, toJson, type WeightsSource } from "./load/given.js";
import { type Plan, type Running, start } from "./load/start.js";
import { takeWasm, type WasmFiles, type WasmSource } from "./load/build.js";
import type { Variant } from "./run/module.js";
import type { Wants } from "./run/wasm.js";

export { Attention, type AttentionShape, type Head, type RolloutOptions } from "./attention.js";
export type { Prepare, VitConfig } from "./config.js";
export { VitError, type VitErrorCode } from "./errors.js";
export type { WeightsSource } from "./load/given.js";
export type { Folder } from "./load/folder.js";
export type { Source } from "./load/source.js";
export type { Drawing, ImageInput, PenPoint, Pixels } from "./images.js";
export type { WasmFiles, WasmSource } from "./load/build.js";
export type { Variant } from "./run/module.js";

export interface LoadOptions {
  /**
   * What is not beside this code: the address, which ends with a slash, of a folder that holds all
   * of the package's `vit.*.wasm` and `worker.js`; or each of them by name; or the one module to
   * run, by its address, its bytes, or compiled.
   */
  wasm?: WasmSource | WasmFiles;
  /** Which build to run. `"auto"`, the default, takes the fastest that works here. */
  variant?: Variant | "auto";
  /** Run in a worker, so that the page stays responsive. */
  worker?: boolean;
  /**
   * How many threads share the work, at most as many as there are cores; 1 by default. In a page
   * they need cross-origin isolation. Where they cannot be had one thread runs, and a warning on
   * the console says why.
   */
  threads?: number;
  /** Aborts the loading; `load` then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called while the weights arrive, in bytes; `total` is 0 while unknown. */
  onProgress?: (loaded: number, total: number) => void;
}

export interface EmbedOptions {
  /** Keep the attention: of every layer, or of those numbered here from 0. */
  attention?: boolean | readonly number[];
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface ClassifyOptions extends EmbedOptions {
  /** How many classes to return; all by default. */
  topK?: number;
}

export interface Class {
  label: string;
  index: number;
  /** Probability, 0 to 1: softmax(logits / temperature); those of all classes sum to 1. */
  p: number;
}

export interface Classification {
  /** By falling probability. */
  classes: Class[];
  /**
   * Whether the first class's `p` is below the model's `config.uncertain_below`: better ask again
   * than rely on it. `vit calibrate` sets that threshold so that of the validation images answered
   * rightly 99.2 % (or the share it was given) are not uncertain; a model without one is never so.
   */
  uncertain: boolean;
  /** (K), in the model's order, before the temperature. */
  logits: Float32Array;
  /** (C,H,W): the image as the model got it, prepared. */
  input: Float32Array;
  /** When asked for. */
  attention?: Attention;
  /** What preparing and running took, without waiting. A batch's images share it evenly. */
  milliseconds: number;
}

export interface Embedding {
  /** (D): the first token after the final norm; without prefix tokens the patches' mean. */
  cls: Float32Array;
  /** (rows·columns, D), patch by patch. */
  patches: Float32Array;
  grid: [rows: number, columns: number];
  width: number;
  /** (D): what the head reads, or would: `cls`, the patches' mean, or SigLIP's pooling. */
  pooled: Float32Array;
  /**
   * The image's place among texts, where the checkpoint gives one, before it is made of length 1:
   * CLIP's projection, or what SigLIP's pooling gives.
   */
  projected?: Float32Array;
  /** (C,H,W): the image as the model got it, prepared. */
  input: Float32Array;
  /** When asked for. */
  attention?: Attention;
}

const LOAD_OPTIONS = ["wasm", "variant", "worker", "threads", "signal", "onProgress"] as const;
const EMBED_OPTIONS = ["attention", "signal"] as const;
const CLASSIFY_OPTIONS = ["topK", ...EMBED_OPTIONS] as const;

/** A batch takes no more than this for its images and results, and no more images. */
const BATCH_BYTES = 32 * 2 ** 20;
const BATCH_IMAGES = 64;

/**
 * A Vision Transformer, loaded and ready.
 *
 * Calls may overlap: they queue. Results are copies. Call `dispose()` when done, or say `using`.
 *
 * @example
 * import { Vit } from "vitrine";
 * const vit = await Vit.load(import.meta.resolve("vitrine/weights/digits.safetensors"));
 * const { classes, attention } = await vit.classify(canvas, { attention: true });
 * classes[0];              // { label: "7", index: 7, p: 0.98 }
 * attention.fromClass();   // what the model looked at: one number a patch
 */
export class Vit {
  readonly config: Readonly<VitConfig>;
  /** Whose names the file's tensors have: "timm", "transformers' CLIP"…; "vitrine" for our own. */
  readonly family: string;
  /** Config keys that were guessed, because nothing told them; a `config` that tells them ends that. */
  readonly assumed: readonly string[];
  /** Tensors that were left out, by name: a text tower, a decoder, another head. */
  readonly skipped: readonly string[];
  /** The build that runs. */
  readonly variant: Variant;
  /** How many threads share the work. */
  readonly threads: number;
  readonly #model: Model;
  readonly #projection: Origin["projection"];
  #memory: number;
  readonly #plan: Plan;
  #running: Running | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #disposed = false;
  /** How to reject the calls under way. */
  readonly #waiting = new Set<(error: VitError) => void>();

  /**
   * Loads a model: a file of safetensors or of torch.save with tensors named as by timm,
   * transformers, torchvision, vit-pytorch or torch.nn.TransformerEncoder, or a checkpoint's
   * {@link Folder}.
   *
   * @param source where the weights are; a failed load can be tried again with the same one,
   *   unless it is a Response, which can be read once.
   * @throws {VitError} code `network`, `bad_file`, `bad_config`, `bad_tensor`, `bad_option`,
   *   `bad_argument`, `no_wasm`, `no_simd`, `bad_wasm`, `unsupported`, `no_memory` or
   *   `worker_lost`. What `onProgress` throws comes out as it is.
   * @example
   * const vit = await Vit.load("/models/digits.safetensors", {
   *   worker: true,
   *   onProgress: (loaded, total) => (bar.value = loaded / total),
   * });
   */
  static async load(source: Source | Folder | WeightsSource, options: LoadOptions = {}): Promise<Vit> {
    const own = takeOptions("load", options, LOAD_OPTIONS);
    const thrown: unknown[] = []; // by onProgress
    const isTheirs = (error: unknown) => thrown.includes(error) || isReasonOf(own.signal)(error);
    return guarded("load", isTheirs, () => Vit.#load(source, own, thrown));
  }

  static async #load(
    source: Source | Folder | WeightsSource,
    { wasm, variant = "auto", worker = false, threads = 1, signal, onProgress }: LoadOptions,
    thrown: unknown[],
  ): Promise<Vit> {
    if (!Number.isInteger(threads) || threads < 1) {
      throw new VitError("bad_option", `threads: expected a whole number from 1, got ${show(threads)}`);
    }
    signal?.throwIfAborted();
    // Whatever may change while this waits is copied before it does.
    const parts: WeightsSource = isWeightsSource(source)
      ? takeOptions("load", source, ["weights", "config", "prepare"])
      : { weights: source };
    const place = placeOf(parts.weights);
    const apart = parts.config == null ? undefined : takeConfig(parts.config);
    const prepare = parts.prepare == null ? undefined : toJson("prepare", parts.prepare);
    const given = takeWasm(wasm);
    const direct = place === undefined ? lasting(parts.weights as Source) : undefined;
    const inFolder = place !== undefined && (await isFolder(place));
    const folder = inFolder ? await openFolder(place, signal) : undefined;
    let failed = false; // a download may go on after the load has failed: it is not told of
    const progress = (now: number, all: number) => {
      try {
        if (!failed) onProgress?.(now, all);
      } catch (error) {
        thrown.push(error);
        throw error;
      }
    };
    const plan: Plan = {
      weights: folder?.weights ?? direct ?? (place as string | URL),
      config: readConfig(apart, signal, folder, prepare !== undefined),
      prepare,
      ...given,
      variant,
      worker: Boolean(worker),
      threads,
    };
    plan.config.catch(() => {}); // start tells of it
    const opening = start(plan, { signal, onProgress: progress });
    const backend = await abortable(opening, signal).catch((error: unknown) => {
      failed = true;
      void opening.then((unwanted) => unwanted.close()).catch(() => {});
      throw error;
    });
    try {
      if (variant === "auto" || variant === backend.model.variant) return new Vit(plan, backend);
      const { variant: got } = backend.model;
      throw new VitError("bad_option", `variant: expected a ${variant} module, got a ${got} one as wasm`);
    } catch (error) {
      backend.close();
      throw error;
    }
  }

  private constructor(plan: Plan, running: Running) {
    this.config = fullConfig(running.model.config);
    const { family, assumed, skipped, projection } = originOf(running.model.origin);
    this.family = family;
    this.assumed = assumed;
    this.skipped = skipped;
    this.#projection = projection;
    this.variant = running.model.variant;
    this.threads = running.threads;
    this.#plan = plan;
    this.#running = running;
    this.#model = running.model;
    this.#memory = running.model.memory;
  }

  /**
   * Bytes of WebAssembly memory: the weights, and room for the largest batch and the largest image
   * so far. It only grows; `dispose()` gives all of it back.
   */
  get memory(): number {
    return this.#memory;
  }

  /**
   * Says what an image shows.
   *
   * @param image any image source; see {@link ImageInput}.
   * @returns classes by falling probability; `attention` when asked for.
   * @throws {VitError} code `bad_image`, `blank_image`, `bad_option`, `unsupported`,
   *   `no_memory`, `worker_lost`, `internal` or `disposed`.
   * @example
   * (await vit.classify(image, { topK: 1 })).classes[0]; // { label: "7", index: 7, p: 0.98 }
   */
  async classify(image: ImageInput, options: ClassifyOptions = {}): Promise<Classification> {
    return (await this.classifyAll([image], options))[0]!;
  }

  /**
   * The same for many images, which is faster than one by one. They are taken batch by batch: the
   * images of a later batch are read when its turn comes. An image that fails fails the call.
   *
   * @throws {VitError} as {@link Vit.classify}, and `bad_argument` for what is no array.
   */
  async classifyAll(
    images: readonly ImageInput[],
    options: ClassifyOptions = {},
  ): Promise<Classification[]> {
    const own = takeOptions("classify", options, CLASSIFY_OPTIONS);
    return guarded("classify", isReasonOf(own.signal), () => this.#classifyAll(images, own));
  }

  async #classifyAll(images: readonly ImageInput[], options: ClassifyOptions): Promise<Classification[]> {
    const { depth, classes } = this.#model.shape;
    if (classes === 0) {
      const what = "classify: expected a model with a head, got one without";
      throw new VitError("unsupported", `${what}: it names nothing; embed gives vectors and attention`);
    }
    const topK = options.topK ?? classes;
    if (!Number.isInteger(topK) || topK < 1) {
      throw new VitError("bad_option", `topK: expected a whole number from 1, got ${show(topK)}`);
    }
    const kept = keptLayers(options.attention ?? false, depth);
    const wants = { attention: kept, tokens: false };
    const outputs = await this.#run(images, wants, options.signal);
    return outputs.map(({ input, logits, attention, milliseconds }) => ({
      ...judge(logits, this.config, topK),
      logits,
      input,
      ...(attention && { attention: this.#attention(attention, kept) }),
      milliseconds,
    }));
  }

  /**
   * The image as vectors: one for the whole, one a patch.
   *
   * @throws {VitError} as {@link Vit.classify}.
   * @example
   * const { cls } = await vit.embed(image); // compare by cosine to find images alike
   */
  async embed(image: ImageInput, options: EmbedOptions = {}): Promise<Embedding> {
    const own = takeOptions("embed", options, EMBED_OPTIONS);
    return guarded("embed", isReasonOf(own.signal), () => this.#embed(image, own));
  }

  async #embed(image: ImageInput, options: EmbedOptions): Promise<Embedding> {
    const { depth, prefix, grid, width } = this.#model.shape;
    const kept = keptLayers(options.attention ?? false, depth);
    const [output] = await this.#run([image], { attention: kept, tokens: true }, options.signal);
    const { tokens, pooled, logits, input, attention } = output!;
    const patches = tokens!.slice(prefix * width);
    const cls = prefix > 0 ? tokens!.slice(0, width) : meanRow(patches, width);
    return {
      cls,
      patches,
      grid: [...grid],
      width,
      pooled: pooled!,
      ...(this.#projection && { projected: this.#projection === "head" ? logits : pooled!.slice() }),
      input,
      ...(attention && { attention: this.#attention(attention, kept) }),
    };
  }

  /**
   * Lets the memory and the worker go; twice is fine. Calls under way, and later ones, reject.
   * Attention stays readable: without a worker the memory goes with the last of it.
   */
  dispose(): void {
    this.#disposed = true;
    this.#running?.close();
    this.#running = undefined;
    for (const reject of this.#waiting) reject(closed());
  }

  #attention(maps: NonNullable<Output["attention"]>, kept: readonly number[]): Attention {
    const { depth, heads, prefix, grid } = this.#model.shape;
    return new Attention(maps, kept, { layers: depth, heads, prefix, grid });
  }

  async #run(
    images: readonly ImageInput[],
    wants: Wants,
    signal: AbortSignal | undefined,
  ): Promise<Output[]> {
    const all = listOf(images);
    const { channels, rows, columns } = this.#model.shape;
    const size = this.#batchSize(wants);
    const outputs: Output[] = [];
    for (let first = 0; first < all.length; first += size) {
      if (first > 0) await new Promise((resolve) => setTimeout(resolve)); // let others, and aborts, in
      this.#checkUsable(signal);
      const pictures = Promise.all(
        all.slice(first, first + size).map((image, index) => {
          const name = all.length > 1 ? `image ${first + index}` : "image";
          return toPicture(image, [channels, rows, columns], name);
        }),
      );
      const copied = first + size < all.length; // the next batch takes the place of these maps
      const turn = abortable(this.#enqueue(pictures, { ...wants, copied }, signal), signal);
      outputs.push(...(await this.#untilDisposed(turn)));
    }
    this.#checkUsable(signal);
    this.#memory = outputs[outputs.length - 1]?.memory ?? this.#memory;
    outputs.forEach(({ logits }, index) => {
      if (logits.every(Number.isFinite)) return;
      const name = all.length > 1 ? `image ${index}` : "image";
      throw new VitError(
        "bad_image",
        `${name}: expected values the model can take, got ones so large that its answer is not finite`,
      );
    });
    return outputs;
  }

  /**
   * Queues once the pictures are there, so that one that never arrives holds up nobody else.
   * A turn that was aborted or disposed meanwhile does nothing.
   */
  async #enqueue(
    pictures: Promise<Picture[]>,
    wants: Wants,
    signal: AbortSignal | undefined,
  ): Promise<Output[]> {
    const ready = await pictures;
    const turn = this.#queue.then(async () => {
      this.#checkUsable(signal);
      if (!this.#running?.alive) {
        this.#running?.close();
        this.#running = await start(this.#plan);
        this.#checkUsable(signal);
      }
      return this.#running.run(ready, wants);
    });
    this.#queue = turn.then(() => {}, () => {}); // it keeps no results alive
    return turn;
  }

  #untilDisposed<Value>(promise: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      promise.then(resolve, reject).finally(() => this.#waiting.delete(reject));
    });
  }

  #checkUsable(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (!this.#disposed) return;
    this.#running?.close(); // one that was still starting
    throw closed();
  }

  #batchSize(wants: Wants): number {
    const { channels, rows, columns, classes, heads, tokens, width } = this.#model.shape;
    const attention = wants.attention.length * heads * tokens * tokens;
    const floats =
      channels * rows * columns + classes + attention + Number(wants.tokens) * tokens * width;
    const fitting = Math.floor(BATCH_BYTES / (floats * Float32Array.BYTES_PER_ELEMENT));
    return Math.min(Math.max(fitting, 1), BATCH_IMAGES);
  }
}

declare global {
  // TypeScript's own, which it has since 5.2 and where a program's `lib` names esnext.disposable.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
  interface Disposable {
    [Symbol.dispose](): void;
  }
}
export interface Vit extends Disposable {}
if (Symbol.dispose) {
  Object.defineProperty(Vit.prototype, Symbol.dispose, { value: Vit.prototype.dispose });
}

function isWeightsSource(source: Source | Folder | WeightsSource): source is WeightsSource {
  return typeof source === "object" && source !== null && "weights" in source;
}

/** The list of a call's images: later changes of it do not matter. */
function listOf(images: readonly ImageInput[]): ImageInput[] {
  if (!Array.isArray(images)) {
    throw new VitError("bad_argument", `images: expected an array, got ${kindOf(images)}`);
  }
  const all: ImageInput[] = [];
  for (let index = 0, { length } = images; index < length; index++) {
    const image = images[index] as ImageInput;
    if (image === undefined) throw noImage(length > 1 ? `image ${index}` : "image", image);
    all.push(image);
  }
  return all;
}

function keptLayers(attention: boolean | readonly number[], depth: number): number[] {
  if (typeof attention === "boolean") {
    return attention ? Array.from({ length: depth }, (_, layer) => layer) : [];
  }
  const none = (got: unknown) => {
    const what = `attention: expected true or an array of layers from 0 to ${depth - 1}`;
    return new VitError("bad_option", `${what}, got ${show(got)}`);
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

function judge(
  logits: Float32Array,
  { labels, temperature, uncertain_below }: VitConfig,
  topK: number,
): Pick<Classification, "classes" | "uncertain"> {
  const classes = rank(logits, labels, temperature);
  return { classes: classes.slice(0, topK), uncertain: classes[0]!.p < uncertain_below };
}

/** softmax(logits / temperature) in double precision, named and sorted; as src/stages/logits.c does it. */
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

function meanRow(matrix: Float32Array, width: number): Float32Array {
  const rows = matrix.length / width;
  return Float32Array.from({ length: width }, (_, column) => {
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += matrix[row * width + column]!;
    return sum / rows;
  });
}
