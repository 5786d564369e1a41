import { Attention } from "./attention.js";
import {
  relevanceClasses, resized, CLASSIFY_OPTIONS, type Classification, type ClassifyOptions, DETECT_OPTIONS, type DetectOptions, type Detection,
  EMBED_OPTIONS, type Embedding, type EmbedOptions, type Reading, type ReadOptions, judge, attentionLayers, ablationMasks, listOf, LOAD_OPTIONS, type LoadOptions, nameOf,
  type TextEmbedding, type TextInput,
} from "./calls.js";
import { isPlain } from "./base/json.js";
import { checkEnvironment } from "./base/needs.js";
import { keepSelf, throughProxies } from "./base/proxy.js";
import { yieldToTasks } from "./base/yield.js";
import { configOf, type Mapping, type Origin, type VitConfig } from "./config.js";
import { batchSize } from "./engine/batch.js";
import { guarded, isReasonOf, show, takeOptions, VitError } from "./errors.js";
import { abortable, type Source } from "./load/source.js";
import type { Folder } from "./load/location.js";
import { type ImageInput, memoryOf, type Picture, toPicture } from "./images.js";
import type { WeightsSource } from "./load/read-config.js";
import { buildPlan } from "./engine/choose.js";
import { MODELS } from "./engine/models.js";
import { type LoadPlan, start, type Started } from "./engine/start.js";
import { bundle, missing } from "./load/bundles.js";
import { provided } from "./load/provided.js";
import { isWeightsSource, resolveSource } from "./load/resolve-source.js";
import type { Variant } from "./engine/module.js";
import type { Model, Result, Wants } from "./engine/model.js";
import type { Shape } from "./engine/shape.js";
import type * as TextBundle from "./text/text.js";
import { Trace } from "./trace.js";

export { Attention, type AttentionShape, type Head, type RolloutOptions } from "./attention.js";
export type {
  Ablation, Classification, ClassifyOptions, DetectedObject, Detection, DetectOptions, Embedding, EmbedOptions, LoadOptions, ReadOptions, ReadResult, ReadToken, Reading, Replacement, TextEmbedding, TextInput,
} from "./calls.js";
export type { Class } from "./classes.js";
export type { Mapping, Prepare, TextConfig, VitConfig } from "./config.js";
export { VitError, type VitErrorCode } from "./errors.js";
export type { WeightsSource } from "./load/read-config.js";
export type { Folder } from "./load/location.js";
export type { Fetch, Source, Tokenizer } from "./load/source.js";
export type { Drawing, ImageInput, PenPoint, Pixels, Placement } from "./images.js";
export { drawOverlay, type OverlayOptions } from "./overlay.js";
export type { ReadAttention } from "./read-attention.js";
export { Trace } from "./trace.js";
export type { WasmSource } from "./engine/compile.js";
export type { WasmFiles } from "./engine/files.js";
export type { Variant } from "./engine/module.js";

/**
 * A Vision Transformer, loaded and ready.
 *
 * Calls may overlap, because they queue. Results are copies. Call `dispose()` at the end, or declare
 * the variable with `using`.
 *
 * @example
 * import { Vit } from "vitrine";
 * const vit = await Vit.load(import.meta.resolve("vitrine/weights/digits.safetensors"));
 * const { classes, attention } = await vit.classify(canvas, { attention: true });
 * classes[0];              // { label: "7", index: 7, p: 0.98 }
 * attention.fromClass();   // one number for each patch: how much the model attends to it
 */
export class Vit {
  readonly config: Readonly<VitConfig>;
  /** The project whose tensor names the file uses: "timm", "transformers' CLIP"…, or "vitrine". */
  readonly family: string;
  /** Config keys that were guessed, because neither the file nor its config sets them. */
  readonly assumed: readonly string[];
  /** The names of tensors that were left out: a text tower, a decoder, another head. */
  readonly skipped: readonly string[];
  /** For each parameter the tensors of the file that make it; empty for a file of our own. */
  readonly mapping: Mapping;
  /** The build that runs. */
  readonly variant: Variant;
  /** How many threads share the work. */
  readonly threads: number;
  #model: Model;
  readonly #projection: Origin["projection"];
  readonly #generation: Origin["generation"];
  #memory: number;
  #plan: LoadPlan;
  #running: Started["running"] | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #disposed = false;
  /** How many calls are under way. The last one closes a disposed Vit. */
  #calls = 0;

  /**
   * Loads a model: a file of safetensors or of torch.save with tensors named as by timm,
   * transformers, torchvision, vit-pytorch or torch.nn.TransformerEncoder, or a checkpoint's
   * {@link Folder}.
   *
   * @param source where the weights are. After a failure the same source can be tried again, but
   *   not a Response, which can be read only once.
   * @throws {VitError} code `network`, `bad_file`, `bad_config`, `bad_tensor`, `bad_option`,
   *   `bad_argument`, `no_wasm`, `no_simd`, `bad_wasm`, `unsupported`, `no_memory` or
   *   `worker_lost`. An error that `onProgress` throws is passed on unchanged.
   * @example
   * const vit = await Vit.load("/models/digits.safetensors", {
   *   worker: true,
   *   onProgress: (loaded, total) => (bar.value = loaded / total),
   * });
   */
  static async load(source: Source | Folder | WeightsSource, options: LoadOptions = {}): Promise<Vit> {
    const { examples, ...own } = takeOptions("load", options, LOAD_OPTIONS);
    const errors: unknown[] = []; // by onProgress
    const isCallerError = (error: unknown) => errors.includes(error) || isReasonOf(own.signal)(error);
    return guarded("load", isCallerError, async () => {
      if (!examples) return Vit.#load(source, own, errors);
      const { config = {}, ...parts } = isWeightsSource(source) ? source : { weights: source };
      if (!isPlain(config)) throw new VitError("bad_argument", `examples: expected a config that is an object, got ${show(config)}`);
      return (await bundle("examples")).settle<ImageInput, Vit>(
        examples,
        (answers) => Vit.#load({ ...parts, config: { ...config, ...answers } }, own, errors),
        (message, cause) => new VitError("bad_config", message, { cause }),
      );
    });
  }

  static async #load(
    source: Source | Folder | WeightsSource,
    options: LoadOptions,
    errors: unknown[],
  ): Promise<Vit> {
    const { fetch, signal, onProgress } = options;
    checkEnvironment();
    const build = buildPlan(MODELS, options);
    signal?.throwIfAborted();
    const weights = await resolveSource("load", source, signal, fetch);
    let failed = false; // a download may continue after a failure; its progress is not reported
    const progress = (now: number, all: number) => {
      try {
        if (!failed) onProgress?.(now, all);
      } catch (error) {
        errors.push(error);
        throw error;
      }
    };
    const plan: LoadPlan = { ...options, ...weights, ...build };
    const opening = start(plan, { signal, onProgress: progress });
    const started = await abortable(opening, signal).catch((error: unknown) => {
      failed = true;
      void opening.then((late) => late.running.close()).catch(() => {});
      throw error;
    });
    try {
      const { variant } = build;
      const { variant: got } = started.model;
      if (variant === "auto" || variant === got) return new Vit(plan, started);
      throw new VitError("bad_option", `variant: expected a ${variant} module, got a ${got} one as wasm`);
    } catch (error) {
      started.running.close();
      throw error;
    }
  }

  private constructor(plan: LoadPlan, { running, model, origin }: Started) {
    this.config = configOf(model.config);
    const { family, assumed, skipped, mapping, projection, generation } = origin;
    this.family = family;
    this.assumed = Object.freeze(assumed);
    this.skipped = Object.freeze(skipped);
    this.mapping = mapping;
    this.#projection = projection;
    this.#generation = generation;
    this.variant = model.variant;
    this.threads = running.threads;
    this.#plan = plan;
    this.#running = running;
    this.#model = model;
    this.#memory = model.memory;
    keepSelf(this);
  }

  /**
   * Bytes of WebAssembly memory: the weights, and room for the largest batch and the largest image
   * so far. The number only grows. `dispose()` frees all of the memory.
   */
  get memory(): number {
    return this.#memory;
  }

  /**
   * Finds which class an image shows.
   *
   * @param image any image source; see {@link ImageInput}.
   * @returns classes by falling probability, and `attention` if the option asks for it.
   * @throws {VitError} code `bad_image`, `blank_image`, `bad_option`, `unsupported`,
   *   `no_memory`, `worker_lost`, `internal` or `disposed`.
   * @example
   * (await vit.classify(image, { topK: 1 })).classes[0]; // { label: "7", index: 7, p: 0.98 }
   */
  async classify(image: ImageInput, options: ClassifyOptions = {}): Promise<Classification> {
    return (await this.classifyAll([image], options))[0]!;
  }

  /**
   * Classifies many images, faster than one by one. Images are read batch by batch, each batch when
   * its turn comes. If one image fails, the call fails.
   *
   * @throws {VitError} as {@link Vit.classify}, and `bad_argument` if `images` is not an array.
   */
  async classifyAll(
    images: readonly ImageInput[],
    options: ClassifyOptions = {},
  ): Promise<Classification[]> {
    const own = takeOptions("classify", options, CLASSIFY_OPTIONS);
    return guarded("classify", isReasonOf(own.signal), () => this.#classifyAll(images, own));
  }

  async #classifyAll(images: readonly ImageInput[], options: ClassifyOptions): Promise<Classification[]> {
    const shape = resized(this.#model.shape, options.size, this.config);
    const { depth, classes, detections } = shape;
    if (detections > 0) throw new VitError("unsupported", "classify: this model finds objects; use detect");
    const { labels, signal } = options;
    if (classes === 0 && !labels) {
      throw new VitError("unsupported", `classify: this model has no head, so it cannot classify; use ${this.config.decoder ? "read" : "embed"}`);
    }
    const topK = options.topK ?? (labels?.length || classes);
    if (!Number.isInteger(topK) || topK < 1) {
      throw new VitError("bad_option", `topK: expected a whole number from 1, got ${show(topK)}`);
    }
    const relevance = relevanceClasses(options.relevance, this.config);
    const layers = attentionLayers(options.attention ?? relevance !== undefined, depth);
    const without = ablationMasks(options, shape);
    const byLabels = labels && (await this.#withTexts("judge", labels, options));
    const wants = {
      attention: layers,
      tokens: Boolean(labels),
      trace: Boolean(options.trace),
      ...(options.keepInput === false && { bare: true }),
      ...(relevance !== undefined && { relevance }),
      ...(without && { without }),
    };
    const outputs = await this.#run(images, shape, wants, signal);
    return outputs.map(({ input, placement, logits, pooled, attention, trace, relevance, milliseconds }) => ({
      ...(byLabels ? byLabels(logits, pooled!, topK) : { ...judge(logits, this.config, topK), logits }),
      ...(input && { input }),
      placement,
      ...((attention ?? relevance) && { attention: this.#attention(attention, layers, shape, relevance) }),
      ...(trace && { trace: new Trace(trace, shape, this.config) }),
      milliseconds,
    }) as Classification);
  }

  /**
   * Turns an image into vectors: one for the whole image, and one for each patch.
   *
   * @throws {VitError} as {@link Vit.classify}.
   * @example
   * const { cls } = await vit.embed(image); // similar images have vectors with a cosine near 1
   */
  async embed(image: ImageInput, options: EmbedOptions = {}): Promise<Embedding> {
    const own = takeOptions("embed", options, EMBED_OPTIONS);
    return guarded("embed", isReasonOf(own.signal), () => this.#embed(image, own));
  }

  async #embed(image: ImageInput, options: EmbedOptions): Promise<Embedding> {
    const shape = resized(this.#model.shape, options.size, this.config);
    const { depth, prefix, grid, width } = shape;
    const layers = attentionLayers(options.attention ?? false, depth);
    const wants = { attention: layers, tokens: true, projected: this.#projection === "head", ...(options.keepInput === false && { bare: true }) };
    const [output] = await this.#run([image], shape, wants, options.signal);
    const { tokens, pooled, logits, input, placement, attention } = output!;
    const patches = tokens!.slice(prefix * width);
    const cls = prefix > 0 ? tokens!.slice(0, width) : meanRow(patches, width);
    return {
      cls,
      patches,
      grid: [...grid],
      width,
      pooled: pooled!,
      ...(this.#projection && { projected: this.#projection === "head" ? logits : pooled!.slice() }),
      ...(output!.projected && { projectedPatches: output!.projected }),
      ...(input && { input }),
      placement,
      ...(attention && { attention: this.#attention(attention, layers, shape) }),
    } as Embedding;
  }

  /**
   * Turns texts into the vectors that images are compared with, by the text tower of CLIP or SigLIP. The first call
   * reads the weights again, because `load` leaves that tower out.
   *
   * @param texts each a text, or its ids; a text that is too long loses its end.
   * @throws {VitError} as {@link Vit.load}, and code `bad_argument` for other texts, or without a tokenizer.
   * @example
   * const { embeds, width } = await vit.embedText(["a photo of a cat", "a photo of a dog"]);
   */
  async embedText(texts: readonly TextInput[], options: Pick<EmbedOptions, "signal"> = {}): Promise<TextEmbedding> {
    return this.#withTexts("embed", texts, options);
  }

  /** Leaves to text.js what it can, because few pages have texts. */
  #withTexts<Call extends "embed" | "judge">(call: Call, texts: readonly TextInput[], options: ClassifyOptions): Promise<TextBundle.Returned<Call>> {
    const all = texts?.slice?.() as readonly TextInput[]; // because the caller may change the list
    return this.#hold(undefined, async () => (await textBundle()).run(call, all, options, this, this.#plan, this.#projection, (...turn) => this.#turn(...turn)));
  }

  /**
   * Finds objects in a photo, by a model with detection tokens such as YOLOS.
   *
   * @throws {VitError} as {@link Vit.classify}.
   * @example
   * const { objects } = await vit.detect(photo);
   * objects[0]; // { label: "cat", p: 0.98, box: { left, top, width, height }, map, … }
   */
  async detect(image: ImageInput, options: DetectOptions = {}): Promise<Detection> {
    const own = takeOptions("detect", options, DETECT_OPTIONS);
    return guarded("detect", isReasonOf(own.signal), () => this.#detect(image, own));
  }

  async #detect(image: ImageInput, options: DetectOptions): Promise<Detection> {
    const { signal } = options, sized = (size = options.size) => resized(this.#model.shape, size, this.config);
    const picture = this.#picture(image, sized()), layers = attentionLayers(options.attention ?? false, this.config.depth);
    return this.#hold(signal, async () => (await textBundle()).detected(
      picture, options, layers, this.config, sized,
      (shape, wants) => this.#runAll([image], shape, wants, signal, picture),
      (maps, shape) => maps && this.#attention(maps, layers, shape),
    ));
  }

  /**
   * Writes what a model with a decoder reads in an image. What it returns is a promise of the text that can also be
   * looped over for the tokens, each as soon as it is certain. Leaving the loop ends the writing.
   *
   * @throws {VitError} as {@link Vit.classify}.
   * @example
   * const { text, tokens } = await vit.read(photo);
   * for await (const token of vit.read(photo)) console.log(token.text);
   */
  read(image: ImageInput, options: ReadOptions = {}): Reading {
    const started = guarded("read", isReasonOf(undefined), () => this.#read(image, { ...options }));
    return Object.assign(started.then(({ result }) => result), {
      async *[Symbol.asyncIterator]() {
        yield* (await started).tokens();
      },
    });
  }

  async #read(image: ImageInput, options: ReadOptions): Promise<TextBundle.Writing> {
    if (options.force) options.force = Array.from(options.force); // the caller may change it
    const shape = resized(this.#model.shape, options.size, this.config);
    const picture = this.#picture(image, shape);
    return new Promise((resolve, reject) => {
      this.#hold(undefined, async () => {
        const writing = (await textBundle()).write(this, this.#plan, this.#generation, options, picture, shape, (...turn) => this.#turn(...turn));
        resolve(writing);
        await writing.result;
      }).catch(reject);
    });
  }

  /**
   * Frees the memory and ends the worker, after the calls under way, which a `signal` ends sooner.
   * Later calls reject. A second call does nothing. Attention stays readable. Without a worker, the
   * memory is freed together with the last Attention that reads it.
   */
  dispose(): void {
    this.#disposed = true;
    this.#closeIfIdle();
  }

  #closeIfIdle(): void {
    if (!this.#disposed || this.#calls > 0) return;
    this.#running?.close();
    this.#running = undefined;
  }

  #attention(
    maps: Result["attention"],
    layers: readonly number[],
    { depth, heads, prefix, grid }: Shape,
    relevance?: Result["relevance"],
  ): Attention {
    const labelled = relevance && { ...relevance, labels: this.config.labels };
    const shape = { layers: depth, heads, prefix, grid, residual: this.config.residual };
    return new Attention(maps ?? new Float32Array(), layers, shape, labelled);
  }

  /** Begins to copy an image. */
  #picture(image: ImageInput, { channels, rows, columns }: Shape): Promise<Picture> {
    const picture = toPicture(image, [channels, rows, columns], nameOf(0, 1));
    picture.catch(() => {}); // whoever awaits it gets the error
    return picture;
  }

  async #run(
    images: readonly ImageInput[],
    shape: Shape,
    wants: Omit<Wants, "size">,
    signal: AbortSignal | undefined,
  ): Promise<Result[]> {
    const all = listOf(images);
    return this.#hold(signal, () => this.#runAll(all, shape, wants, signal));
  }

  /** Keeps the model while the work lasts. */
  async #hold<Value>(signal: AbortSignal | undefined, work: () => Promise<Value>): Promise<Value> {
    signal?.throwIfAborted();
    if (this.#disposed) throw new VitError("disposed", "this Vit was disposed; load another");
    this.#calls++;
    try {
      return await work();
    } finally {
      this.#calls--;
      this.#closeIfIdle();
    }
  }

  async #runAll(
    all: readonly ImageInput[],
    shape: Shape,
    some: Omit<Wants, "size">,
    signal: AbortSignal | undefined,
    ready?: Promise<Picture>,
  ): Promise<Result[]> {
    const { channels, rows, columns } = shape, wants: Wants = { ...some, size: [rows, columns] };
    const size = batchSize(shape, wants);
    const outputs: Result[] = [];
    for (let first = 0; first < all.length; first += size) {
      if (first > 0) await yieldToTasks(); // to other calls, and to aborts
      signal?.throwIfAborted();
      const pictures = Promise.all(
        all.slice(first, first + size).map((image, index) =>
          ready ?? toPicture(image, [channels, rows, columns], nameOf(first + index, all.length)),
        ),
      );
      const copied = first + size < all.length; // because the next batch overwrites these maps
      outputs.push(...(await abortable(this.#enqueue(pictures, { ...wants, copied }, signal), signal)));
    }
    signal?.throwIfAborted();
    this.#memory = outputs[outputs.length - 1]?.memory ?? this.#memory;
    outputs.forEach(({ logits, relevance }, index) => {
      if (logits.every(Number.isFinite) && (relevance?.values ?? []).every(Number.isFinite)) return;
      const what = "expected values that give finite scores, got an answer that is not finite; use smaller values";
      throw new VitError("bad_image", `${nameOf(index, all.length)}: ${what}`);
    });
    return outputs;
  }

  /**
   * Queues when the pictures have arrived, so that an image that never arrives blocks no other call.
   * Does nothing if the call was aborted meanwhile.
   */
  async #enqueue(
    pictures: Promise<Picture[]>,
    wants: Wants,
    signal: AbortSignal | undefined,
  ): Promise<Result[]> {
    const ready = await pictures;
    return this.#turn(signal, ({ session }) => {
      const copied = session.remote || wants.copied === true; // because maps on the heap cannot be sent
      return session.call("run", [ready, { ...wants, copied }], ready.map((picture) => memoryOf(picture).buffer));
    });
  }

  /** Works with a model that runs, when it is this call's turn. If its plan has to change, it is loaded again. */
  #turn<Value>(signal: AbortSignal | undefined, work: (running: Started["running"], model: Model) => Value | Promise<Value>, changed = (plan: LoadPlan) => plan): Promise<Value> {
    const turn = this.#queue.then(async () => {
      signal?.throwIfAborted();
      const plan = changed(this.#plan);
      if (!this.#running?.alive || plan !== this.#plan) {
        this.#running?.close();
        this.#running = undefined; // if it does not start, the next call tries again
        ({ running: this.#running, model: this.#model } = await start(plan));
        this.#plan = plan;
        this.#closeIfIdle(); // because the call may have been aborted, and the Vit disposed, meanwhile
        signal?.throwIfAborted();
      }
      return work(this.#running!, this.#model);
    });
    this.#queue = turn.then(() => {}, () => {}); // without the results, so that they can be freed
    return turn;
  }
}

/** Runs models with texts or objects. It is not in bundles.ts, because this bundle lies above. */
const textBundle = async () =>
  (provided.all?.text as typeof TextBundle | undefined) ?? import("./text/text.js").catch(missing("text.js"));

declare global {
  // Declared here for TypeScript before 5.2, and for programs whose `lib` lacks esnext.disposable.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
  interface Disposable {
    [Symbol.dispose](): void;
  }
}
export interface Vit extends Disposable {}
if (Symbol.dispose) {
  Object.defineProperty(Vit.prototype, Symbol.dispose, { value: Vit.prototype.dispose, configurable: true });
}
throughProxies(Vit);

function meanRow(matrix: Float32Array, width: number): Float32Array {
  const rows = matrix.length / width;
  return Float32Array.from({ length: width }, (_, column) => {
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += matrix[row * width + column]!;
    return sum / rows;
  });
}
