import { configOf, type VitConfig } from "./config.js";
import { guarded, isReasonOf, reason, show, takeOptions, VitError } from "./errors.js";
import { listOf, type LoadOptions, nameOf } from "./calls.js";
import { type Bytes, type ImageInput, type ImageShape, type Picture, toPicture } from "./images.js";
import type { Foreign } from "./foreign/checkpoint.js";
import type { Header } from "./load/header.js";
import type { Folder } from "./load/location.js";
import type { WeightsSource } from "./load/read-config.js";
import type { LoadSource } from "./load/resolve-source.js";
import type { Source } from "./load/source.js";
import { isArray, MAX_FILE_BYTES, type Piece, viewOf } from "./base/bytes.js";
import { type Json, parseObject } from "./base/json.js";
import { isA } from "./base/kind.js";
import { checkEnvironment } from "./base/needs.js";
import { keepSelf, throughProxies } from "./base/proxy.js";
import { yieldToTasks } from "./base/yield.js";
import { withKeys } from "./base/safetensors.mjs";
import type { Variant } from "./engine/module.js";
import { type CheckpointState, stateOf } from "./engine/checkpoint.js";
import type { Caller } from "./engine/call.js";
import { buildPlan } from "./engine/choose.js";
import { noMemory } from "./engine/instance.js";
import type { Running } from "./engine/running.js";
import { TRAINERS } from "./engine/trainers.js";
import type { Log, Measured, Part } from "./train/log.js";
import { fineTuning, type Freeze, type Recipe, recipeJson, seedOf, takeLabels, takeRecipe, takeTokens } from "./train/recipe.js";
import { holdBack, interpolate, type Lesson, lessonOf } from "./train/lesson.js";
import { openModel, startTrainer } from "./engine/start-trainer.js";
import { PARTS, type Progress, type TrainingSession } from "./engine/training-session.js";
import { Vit } from "./vit.js";

export type { Bytes } from "./images.js";
export type { Log, Measured, Part } from "./train/log.js";
export type { Freeze, Recipe } from "./train/recipe.js";

/** A recipe to train from scratch, or weights to fine-tune. */
export type TrainerSource =
  | { readonly recipe: Recipe }
  | {
      /** Any source that {@link Vit.load} takes. */
      readonly from: Source | Folder | WeightsSource;
      /**
       * The new classes. Those that the weights have too keep their rows of the head; the others start
       * from scratch. If no name is shared but the number of classes is the same, the whole head is kept.
       * A model with a decoder has none: [].
       */
      readonly labels: readonly string[];
      /** What stays unchanged: that many blocks with everything before them, or all but the head. */
      readonly freeze?: Freeze;
      /** Keys of a recipe's `training`, which override the defaults of fine-tuning. */
      readonly training?: Readonly<Record<string, unknown>>;
    };

export interface TrainerOptions extends Pick<LoadOptions, "wasm" | "variant" | "worker" | "threads" | "fetch" | "signal" | "onProgress"> {
  /** The seed of all random numbers; the recipe's by default. */
  seed?: number;
}

export interface Step {
  /** Counted from 1. */
  readonly epoch: number;
  readonly epochs: number;
  /** Steps of this epoch that are done, and their total. */
  readonly step: number;
  readonly steps: number;
  /** Means over this epoch so far. */
  readonly loss: number;
  readonly accuracy: number;
  readonly imagesPerSecond: number;
  /** Until the run ends, at this speed. */
  readonly secondsLeft: number;
}

export interface Epoch extends Measured {
  /** Counted from 1. */
  readonly epoch: number;
  readonly epochs: number;
  /** The loss and accuracy on the validation examples, if there are any. */
  readonly validation?: Measured;
  readonly imagesPerSecond: number;
  readonly secondsLeft: number;
}

export interface RunOptions {
  epochs: number;
  /** Stops the run after a step. The iteration then rejects with the signal's reason. */
  signal?: AbortSignal;
  onStep?: (step: Step) => void;
}

/** How long training holds up the other tasks of its thread. */
const MOST_MILLISECONDS = 40;

const OPTIONS = ["wasm", "variant", "worker", "threads", "fetch", "signal", "onProgress", "seed"] as const;

/**
 * Trains a Vision Transformer where the library runs: in a tab or in Node, by the C code
 * that trained the shipped models.
 *
 * Calls may overlap, because they queue. During a run a call waits for one step at most. Call
 * `dispose()` at the end, or declare the variable with `using`.
 *
 * @example
 * import { Trainer } from "vitrine/train";
 * const trainer = await Trainer.create({ from: "/models/digits.safetensors", labels: ["★", "♥"] });
 * await trainer.add(drawings, names);
 * for await (const { epoch, loss, accuracy } of trainer.run({ epochs: 10 })) console.log(epoch, loss, accuracy);
 * const vit = await trainer.vit();
 * (await vit.classify(another)).classes[0]; // { label: "★", index: 0, p: 0.97 }
 */
export class Trainer {
  readonly labels: readonly string[];
  /** The model that is trained. */
  readonly config: Readonly<VitConfig>;
  /** The build that runs. */
  readonly variant: Variant;
  /** How many threads share the work. */
  readonly threads: number;
  readonly #shape: ImageShape;
  readonly #options: TrainerOptions;
  readonly #engine: Running<TrainingSession>;
  readonly #recipe: Recipe;
  readonly #seed: number;
  /** Examples of each class to train on, or of all texts. */
  readonly #counts: number[];
  /** Examples to measure on. */
  #validation = 0;
  #log: Log[] = [];
  #runs = 0;
  /** The run that is not finished, and where it is. */
  #currentRun: { readonly epochs: number; at: Progress } | undefined;
  #running = false;
  #disposed = false;
  #rested = performance.now();
  #queue: Promise<unknown> = Promise.resolve();

  /**
   * @throws {VitError} code `bad_config` for a recipe that cannot be trained, and the codes of
   *   {@link Vit.load}.
   */
  static async create(source: TrainerSource, options: TrainerOptions = {}): Promise<Trainer> {
    const own = takeOptions("create", options, OPTIONS);
    return guarded("create", isReasonOf(own.signal), async () => {
      const isRecipe = typeof source === "object" && source !== null && "recipe" in source;
      if (isRecipe) {
        const recipe = takeRecipe(takeOptions("create", source, ["recipe"]).recipe);
        return Trainer.#start(own, async () => recipe);
      }
      const { from, labels, freeze = "none", training } = takeOptions("create", source, ["from", "labels", "freeze", "training"]);
      const names = takeLabels(labels);
      return Trainer.fineTune(from, () => ({ labels: names, freeze, training }), own);
    });
  }

  /** @internal A trainer of weights whose config decides how they are trained. */
  static fineTune(
    from: Source | Folder | WeightsSource,
    plan: (config: Json) => { labels: readonly string[]; freeze: Freeze; training: Readonly<Record<string, unknown>> | undefined },
    options: TrainerOptions,
  ): Promise<Trainer> {
    return Trainer.#start(options, async (engine) => {
      const config = await openModel(engine, from, options);
      const { labels, freeze, training } = plan(parseObject(config, "config"));
      return fineTuning(config, labels, freeze, training);
    });
  }

  /**
   * Restores a trainer and its examples from a checkpoint. A call of `run` with the same number of
   * epochs continues an unfinished run. With the same build and number of threads, the result is the
   * same as without a break, bit for bit.
   *
   * @throws {VitError} code `bad_file` if this is not a checkpoint of this version, or is damaged.
   */
  static async resume(
    checkpoint: ArrayBuffer | ArrayBufferView,
    options: Omit<TrainerOptions, "seed"> = {},
  ): Promise<Trainer> {
    const own = takeOptions("resume", options, OPTIONS.filter((name) => name !== "seed"));
    return guarded("resume", isReasonOf(own.signal), async () => {
      const bytes = viewOf(checkpoint).slice();
      const state = stateOf(bytes);
      const trainer = await Trainer.#start({ ...own, seed: state.seed }, async (engine) => {
        await engine.session.call("openCheckpoint", [bytes]);
        return state.recipe;
      });
      try {
        await trainer.#restore(state);
        return trainer;
      } catch (error) {
        trainer.dispose();
        throw error;
      }
    });
  }

  static async #start(options: TrainerOptions, recipeOf: (engine: Running<TrainingSession>) => Promise<Recipe>): Promise<Trainer> {
    const { signal, seed } = options;
    if (seed !== undefined && !(Number.isSafeInteger(seed) && seed >= 0)) {
      throw new VitError("bad_option", `seed: expected a whole number from 0, got ${show(seed)}`);
    }
    const engine = await startModule(options);
    try {
      const recipe = await recipeOf(engine);
      const all = seed ?? seedOf(recipe);
      const variant = await engine.session.call("variant", []);
      const { config, shape } = await engine.session.call("recipe", [recipeJson(recipe, all)]);
      signal?.throwIfAborted();
      return new Trainer(options, engine, variant, recipe, config, shape, all);
    } catch (error) {
      engine.close();
      throw error;
    }
  }

  private constructor(
    options: TrainerOptions,
    engine: Running<TrainingSession>,
    variant: Variant,
    recipe: Recipe,
    config: string,
    shape: ImageShape,
    seed: number,
  ) {
    this.config = configOf(config);
    this.labels = this.config.labels;
    this.variant = variant;
    this.threads = engine.threads;
    this.#options = options;
    this.#engine = engine;
    this.#recipe = recipe;
    this.#shape = shape;
    this.#seed = seed;
    this.#counts = this.config.decoder ? [0] : Array.from(this.labels, () => 0);
    keepSelf(this);
  }

  async #restore({ validation, epochs, runs, log }: CheckpointState): Promise<void> {
    this.#runs = runs;
    this.#log = [...log];
    this.#validation = validation;
    const { labels, progress } = await this.#turn((session) => session.call("restore", [validation, epochs, this.#seedOfRun()]));
    this.#count(labels);
    this.#currentRun = progress && { epochs, at: progress };
  }

  /**
   * Continues from a checkpoint's run, whichever program wrote it, if this trainer has the same recipe,
   * first weights, examples, seed and number of threads. The next call of `run` with the same number
   * of epochs continues that run. If the checkpoint has no run, nothing changes.
   *
   * @throws {VitError} code `bad_file`: it names what differs, or says that the checkpoint is damaged
   *   or of another version. This trainer's own unfinished run, if there was one, has then ended.
   */
  async continueFrom(checkpoint: ArrayBuffer | ArrayBufferView): Promise<void> {
    return guarded("continueFrom", () => false, async () => {
      const bytes = viewOf(checkpoint).slice();
      const { epochs, runs, log } = stateOf(bytes);
      if (epochs === 0) return;
      this.#currentRun = undefined;
      const at = await this.#turn(async (session) => {
        await session.call("run", [epochs, this.#seedOfRun(runs)]);
        return session.call("resume", [bytes]);
      });
      this.#runs = runs;
      this.#log = [...log];
      this.#currentRun = { epochs, at };
    });
  }

  /**
   * Adds examples: all of them, or none if one fails. The current run does not see them; the next
   * one does. Images are kept as bytes, prepared as the config's `prepare` says.
   *
   * @param labels one for each image: a class's name, or its number; of a model with a decoder the text's tokens, from
   *   the first, which is given, to the end, which is learnt.
   * @param options `part`: whether they are trained on (the default) or measured on, at each epoch's
   *   end.
   * @throws {VitError} code `bad_image`, `blank_image`, `bad_argument` or `no_memory`.
   */
  async add(
    images: readonly ImageInput[],
    labels: readonly (string | number)[] | readonly ArrayLike<number>[],
    options: { part?: Part } = {},
  ): Promise<void> {
    const { part = "train" } = takeOptions("add", options, ["part"]);
    return guarded("add", () => false, async () => {
      if (!PARTS.includes(part)) throw new VitError("bad_option", `part: expected "train" or "validation", got ${show(part)}`);
      const all = listOf(images);
      const labelBytes = this.#labelBytes(labels, all.length);
      const pictures: Picture[] = [];
      for (const [index, image] of all.entries()) {
        pictures.push(await toPicture(image, this.#shape, nameOf(index, all.length)));
      }
      await this.#turn((session) => session.call("add", [pictures, labelBytes, part]));
      if (part === "train") this.#count(labelBytes.map(([label]) => label!));
      else this.#validation += labelBytes.length;
      if (all.length > 0) this.#currentRun = undefined; // what comes next is another run
    });
  }

  #count(labels: Iterable<number>): void {
    for (const label of labels) this.#counts[this.config.decoder ? 0 : label]!++;
  }

  /** The classes' numbers, or the texts' tokens. */
  #labelBytes(labels: readonly (string | number)[] | readonly ArrayLike<number>[], count: number): Piece[] {
    if (!Array.isArray(labels) || labels.length !== count) {
      const got = Array.isArray(labels) ? labels.length : show(labels);
      throw new VitError("bad_argument", `labels: expected one for each of ${count} images, got ${got}`);
    }
    const { decoder } = this.config;
    return Array.from(labels as readonly unknown[], (label, index) => {
      if (decoder) return takeTokens(label, decoder, nameOf(index, count));
      const at = typeof label === "number" ? label : this.labels.indexOf(label as string);
      if (Number.isInteger(at) && at >= 0 && at < this.labels.length) return Uint8Array.of(at);
      throw new VitError("bad_argument", `labels: expected a class's name or number, got ${show(label)}`);
    });
  }

  /**
   * Trains, and yields what was measured after each epoch. A break out of the loop stops the run, and
   * so does the signal, after a step. The next call with the same number of epochs continues it, unless
   * examples were added meanwhile. Any other call starts a new run from the current weights.
   *
   * @throws {VitError} code `bad_argument` if a class has no example, or the loss is no longer
   *   finite; the trainer stays usable, with the weights before that step.
   */
  run(options: RunOptions): AsyncIterableIterator<Epoch> {
    const own = takeOptions("run", options, ["epochs", "signal", "onStep"]);
    const { epochs } = own;
    if (!(Number.isInteger(epochs) && epochs >= 1 && epochs <= 100_000)) {
      throw new VitError("bad_option", `epochs: expected a whole number from 1 to 100000, got ${show(epochs)}`);
    }
    if (own.onStep !== undefined && typeof own.onStep !== "function") {
      throw new VitError("bad_option", `onStep: expected a function, got ${show(own.onStep)}`);
    }
    return this.#epochs(own);
  }

  async *#epochs({ epochs, signal, onStep }: RunOptions): AsyncGenerator<Epoch, void> {
    if (this.#running) throw new VitError("bad_argument", "run: expected one run at a time, got another");
    this.#running = true;
    try {
      signal?.throwIfAborted();
      const run = (this.#currentRun = await this.#begin(epochs));
      const clock = new Clock(run.at, epochs);
      while (run.at.epoch < epochs) {
        signal?.throwIfAborted();
        if (run.at.step < run.at.steps) {
          const at = (run.at = await this.#turn((session) => session.call("step", [])));
          const { step, steps, loss, accuracy } = at;
          onStep?.({ epoch: at.epoch + 1, epochs, step, steps, loss, accuracy, ...clock.at(at) });
          continue;
        }
        const speed = clock.at(run.at);
        const { validation, ...at } = await this.#turn((session) => session.call("endEpoch", []));
        run.at = at;
        const measured = { loss: at.loss, accuracy: at.accuracy, ...(validation && { validation }) };
        this.#log.push({ epoch: this.#log.length + 1, ...measured });
        if (at.epoch === epochs) this.#currentRun = undefined;
        yield { epoch: at.epoch, epochs, ...measured, ...speed };
      }
    } finally {
      this.#running = false;
    }
  }

  async #begin(epochs: number): Promise<{ readonly epochs: number; at: Progress }> {
    if (this.#currentRun?.epochs === epochs) return this.#currentRun;
    const missing = this.#counts.indexOf(0);
    if (missing >= 0) {
      const of = this.config.decoder ? "images with their texts to train on, got none" : `an example of each class to train on, got none of "${this.labels[missing]}"`;
      throw new VitError("bad_argument", `run: expected ${of}; add some`);
    }
    this.#currentRun = undefined;
    this.#runs++;
    return { epochs, at: await this.#turn((session) => session.call("run", [epochs, this.#seedOfRun()])) };
  }

  /** Each run has a seed of its own. */
  #seedOfRun(runs = this.#runs): number {
    return this.#seed + runs - 1;
  }

  /** A Vit with the current weights. Further training does not change it. */
  async vit(options: LoadOptions = {}): Promise<Vit> {
    return Vit.load(await this.save(), { ...loadOptions(this.#options), ...options });
  }

  /** The current weights as a safetensors file with timm's names, the recipe, the labels and the log. */
  save(): Promise<Bytes> {
    return guarded("save", () => false, async () =>
      withKeys(await this.#turn((session) => session.call("model", [])), { log: this.#log }));
  }

  /** The trainer's whole state, with its examples, for {@link Trainer.resume}. */
  checkpoint(): Promise<Bytes> {
    return guarded("checkpoint", () => false, async () =>
      this.#turn(async (session) => {
        const { epochs = 0, at } = this.#currentRun ?? {};
        const state: CheckpointState = {
          recipe: this.#recipe,
          seed: this.#seed,
          runs: this.#runs,
          threads: this.threads,
          variant: this.variant,
          validation: this.#validation,
          epochs,
          epoch: at?.epoch ?? 0,
          step: at?.step ?? 0,
          log: this.#log,
        };
        return session.call("checkpoint", [JSON.stringify(state), epochs > 0]);
      }));
  }

  /** Frees the memory and ends the threads. Calls under way and later calls reject. */
  dispose(): void {
    this.#disposed = true;
    this.#engine.close();
  }

  /** Lets the other tasks of this thread run, if they have waited for long. */
  async #rest(): Promise<void> {
    if (performance.now() - this.#rested < MOST_MILLISECONDS) return;
    await yieldToTasks();
    this.#rested = performance.now();
  }

  /** A module that trapped, or a thread that ended, cannot continue. */
  #checkUsable(cause?: unknown): void {
    if (this.#disposed) {
      throw new VitError("disposed", "this Trainer was disposed; create another, or resume from a checkpoint");
    }
    if (this.#engine.alive) return;
    const why = cause === undefined ? "" : ` (${reason(cause)})`;
    throw new VitError("internal", `this Trainer has failed${why}; create another, or resume from a checkpoint`, { cause });
  }

  /** Calls the module when the calls before are done. */
  #turn<Value>(work: (session: Caller<TrainingSession>) => Promise<Value>): Promise<Value> {
    const turn = this.#queue.then(async () => {
      this.#checkUsable();
      try {
        await this.#rest();
        return await work(this.#engine.session);
      } catch (cause) {
        this.#checkUsable(cause);
        throw cause;
      }
    });
    this.#queue = turn.then(() => {}, () => {});
    return turn;
  }
}

/**
 * Turns the matrices of a model's stem and blocks into int8, with a scale for each row: a file of
 * about a quarter of the size, for {@link Vit.load}. A decoder, and CLIP's and SigLIP's text tower, stay floats.
 *
 * @param source any source that {@link Vit.load} takes.
 * @returns a file of safetensors.
 * @throws {VitError} code `bad_argument` for a model that is int8 already, and the codes of
 *   {@link Vit.load}.
 * @example
 * const small = await quantize("/models/digits.safetensors");
 */
export async function quantize(
  source: Source | Folder | WeightsSource,
  options: Omit<TrainerOptions, "threads" | "seed"> = {},
): Promise<Bytes> {
  const own = takeOptions("quantize", options, OPTIONS.filter((name) => name !== "threads" && name !== "seed"));
  return guarded("quantize", isReasonOf(own.signal), async () => {
    const engine = await startModule(own);
    try {
      await openModel(engine, source, own, "quantize", withTexts);
      return await engine.session.call("int8", []);
    } finally {
      engine.close();
    }
  });
}

/** Leaves to text.js what only CLIP and SigLIP have. */
const withTexts = async (model: Foreign, header: Header, source: LoadSource): Promise<Foreign> =>
  model.origin.projection ? (await import("./text/text.js")).joinTower(model, header, source) : model;

/** A model's answers to images whose classes are known. */
export interface Answers {
  /** (count,K): the logits of each image, one after the other. */
  readonly logits: Float32Array;
  /** (count): each image's class, as its number. */
  readonly labels: readonly number[];
  /** (count): each answer's `doubt`, of a model that tells it. */
  readonly doubt?: Float32Array;
}

export interface ScoreOptions extends Pick<TrainerOptions, "wasm" | "variant" | "worker"> {
  /** Above 0 and up to 100. By default the temperature of the least loss, to four places. */
  temperature?: number;
  /** The share of the right answers that count as certain; 0.995 by default. */
  accept?: number;
}

export interface Score extends Measured {
  /** The temperature at which all of this is measured. */
  readonly temperature: number;
  /** The expected calibration error: Guo et al., arXiv:1706.04599, equation 3. */
  readonly calibrationError: number;
  /** The probability that the share `accept` of the right answers reaches, rounded down to four places. */
  readonly uncertainBelow: number;
  /** How many answers are right, and how many of those have a smaller probability than `uncertainBelow`. */
  readonly right: { readonly count: number; readonly below: number };
  readonly wrong: { readonly count: number; readonly below: number };
}

/**
 * Scores a model's answers, and finds the `temperature` and `uncertain_below` that its config should have.
 *
 * @throws {VitError} code `bad_argument` or `no_memory`.
 * @example
 * const answers = await vit.classifyAll(images);
 * const logits = Float32Array.from(answers.flatMap(({ logits }) => [...logits]));
 * const { temperature, uncertainBelow } = await score({ logits, labels });
 */
export async function score(answers: Answers, options: ScoreOptions = {}): Promise<Score> {
  const own = takeOptions("score", options, ["wasm", "variant", "worker", "temperature", "accept"]);
  const { temperature, accept = 0.995 } = own;
  if (temperature !== undefined && !(isNumberTo(temperature, 100) && temperature > 0)) {
    throw new VitError("bad_option", `temperature: expected a number above 0 and up to 100, got ${show(temperature)}`);
  }
  if (!isNumberTo(accept, 1)) throw new VitError("bad_option", `accept: expected a number from 0 to 1, got ${show(accept)}`);
  return guarded("score", () => false, async () => {
    const { bytes, count } = takeAnswers(answers);
    const engine = await startModule(own);
    try {
      const score = await engine.session.call("score", [bytes, count, temperature ?? 0, accept, (answers.doubt?.length ?? 0) > 0], [bytes.buffer]);
      return {
        loss: score.loss,
        accuracy: score.accuracy,
        temperature: score.temperature,
        calibrationError: score.calibration_error,
        uncertainBelow: score.uncertain_below,
        right: { count: score.right, below: score.right_below },
        wrong: { count: count - score.right, below: score.wrong_below },
      };
    } finally {
      engine.close();
    }
  });
}

const isNumberTo = (value: unknown, most: number): boolean => typeof value === "number" && value >= 0 && value <= most;

/** A copy of the answers: the logits, then the labels as words, then the doubt. */
function takeAnswers({ logits, labels, doubt = new Float32Array() }: Answers): { readonly bytes: Piece; readonly count: number } {
  const all = Array.from(labels), words = Uint32Array.from(all), count = all.length;
  const wrong = all.findIndex((label, n) => label !== words[n]);
  if (wrong >= 0) throw new VitError("bad_argument", `labels: expected whole numbers from 0, got ${show(all[wrong])}`);
  if (!isArray(logits, "Float32Array") || !(logits.length > 0) || logits.length % count !== 0) {
    const got = isArray(logits, "Float32Array") ? logits.length : show(logits);
    throw new VitError("bad_argument", `logits: expected a Float32Array with as many for each of ${count} labels, got ${got}`);
  }
  if (!isArray(doubt, "Float32Array") || (doubt.length !== count && doubt.length !== 0)) {
    const got = isArray(doubt, "Float32Array") ? doubt.length : show(doubt);
    throw new VitError("bad_argument", `doubt: expected a Float32Array with one for each of ${count} labels, got ${got}`);
  }
  const size = (logits.length + count + doubt.length) * 4;
  if (size > MAX_FILE_BYTES) throw noMemory(size, "the answers");
  const bytes = new Uint8Array(size), values = viewOf(logits);
  bytes.set(values);
  bytes.set(viewOf(words), values.length);
  bytes.set(viewOf(doubt), values.length + words.byteLength);
  return { bytes, count };
}

/** A drawing or photo, and what it is. */
export interface Example {
  /** A class of the model, which is corrected, or a new one's name. */
  readonly label: string;
  readonly image: ImageInput;
}

export interface TeachOptions extends TrainerOptions {
  onStep?: (step: Step) => void;
}

/**
 * Teaches a model new signs from a few drawings of each, in seconds: three are enough. A taught model
 * of digits keeps its digits, and what it does not know, it calls `uncertain`.
 *
 * @param source any source that {@link Vit.load} takes, but int8.
 * @returns a file of safetensors, for {@link Vit.load} or to teach on.
 * @throws {VitError} code `bad_argument` for examples that are none, and the codes of
 *   {@link Trainer.create} and of `add`.
 * @example
 * const taught = await teach("/models/digits.safetensors", [{ label: "★", image: drawing }, …]);
 * using vit = await Vit.load(taught);
 */
export async function teach(
  source: Source | Folder | WeightsSource,
  examples: readonly Example[],
  options: TeachOptions = {},
): Promise<Bytes> {
  const { onStep, ...own } = takeOptions("teach", options, [...OPTIONS, "onStep"]);
  return guarded("teach", isReasonOf(own.signal), async () => {
    const all = takeExamples(examples);
    let lesson!: Lesson;
    const trainer = await Trainer.fineTune(source, (config) => (lesson = lessonOf(config, all.map(({ label }) => label))), own);
    try {
      const drawings = [...all.flatMap((one) => Array<Example>(lesson.times(one.label)).fill(one)), ...lesson.rehearsal];
      await trainer.add(drawings.map(({ image }) => image), drawings.map(({ label }) => label));
      const before = await trainer.save();
      const run = trainer.run({ epochs: lesson.epochs, ...(own.signal && { signal: own.signal }), ...(onStep && { onStep }) });
      for await (const _ of run); // onStep reports
      const after = await trainer.save();
      interpolate(after, before, lesson);
      const file = withKeys(after, lesson.calibration);
      const vit = await Vit.load(file, loadOptions(own));
      const answers = await vit.classifyAll(all.map(({ image }) => image), { keepInput: false }).finally(() => vit.dispose());
      holdBack(file, lesson, all.map(({ label }, n) => ({ label, logits: answers[n]!.logits })));
      return file;
    } finally {
      trainer.dispose();
    }
  });
}

/** What runs a model as the trainer runs. */
function loadOptions({ worker, wasm }: TrainerOptions): LoadOptions {
  const inFolder = (typeof wasm === "string" || isA(wasm, "URL")) && String(wasm).endsWith("/");
  return { ...(worker && { worker }), ...(inFolder && { wasm }) };
}

function takeExamples(examples: readonly Example[]): Example[] {
  const all = Array.isArray(examples) ? Array.from(examples as readonly Example[]) : [];
  const wrong = all.findIndex((one) => typeof one?.label !== "string");
  if (all.length > 0 && wrong < 0) return all;
  const got = wrong < 0 ? show(examples) : `${show(all[wrong])} at ${wrong}`;
  throw new VitError("bad_argument", `examples: expected an array of { label, image }, got ${got}`);
}

async function startModule(options: TrainerOptions): Promise<Running<TrainingSession>> {
  checkEnvironment();
  const build = buildPlan(TRAINERS, options);
  options.signal?.throwIfAborted();
  return startTrainer(build);
}

/** The speed of a run since it started or was resumed. */
class Clock {
  readonly #start = performance.now();
  readonly #first: number;
  readonly #epochs: number;

  constructor(at: Progress, epochs: number) {
    this.#epochs = epochs;
    this.#first = imagesDone(at);
  }

  at(place: Progress): { imagesPerSecond: number; secondsLeft: number } {
    const seconds = (performance.now() - this.#start) / 1000;
    const done = imagesDone(place);
    const imagesPerSecond = seconds > 0 ? (done - this.#first) / seconds : 0;
    const rest = this.#epochs * place.images - done;
    return { imagesPerSecond, secondsLeft: imagesPerSecond > 0 ? rest / imagesPerSecond : 0 };
  }
}

/** The last step of an epoch may have fewer images than the others. For a speed it counts as a whole one. */
const imagesDone = ({ epoch, step, steps, images }: Progress): number => images * (epoch + step / steps);

export interface Trainer extends Disposable {}
if (Symbol.dispose) {
  Object.defineProperty(Trainer.prototype, Symbol.dispose, { value: Trainer.prototype.dispose, configurable: true });
}
throughProxies(Trainer);
