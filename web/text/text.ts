/**
 * Texts beside images: what runs the text tower of a model whose images are compared with texts. It is a bundle
 * of its own, which is loaded for the first text, with what else few models need: decoders and objects.
 */
import { yieldToTasks } from "../base/yield.js";
import type { Classification, ClassifyOptions, TextEmbedding, TextInput } from "../calls.js";
import type { Origin } from "../config.js";
import { rank } from "../classes.js";
import type { Caller } from "../engine/call.js";
import type { LoadPlan } from "../engine/start.js";
import type { ModelSession } from "../engine/model-session.js";
import { guarded, isReasonOf, show, takeOptions, VitError } from "../errors.js";
import type { TextConfig, VitConfig } from "../generated/config.js";
import { TEXT_WORDS } from "../generated/text-words.js";
import { abortable } from "../load/source.js";
import type { Turn } from "./read.js";
import { type Encode, encoderOf } from "./tokenizer.js";
import { configOf, joinTower, objectIn } from "./towers.js";

export { detected } from "../objects.js";
export { write, type Writing } from "./read.js";
export { encoderOf } from "./tokenizer.js";
export { joinTower } from "./towers.js";

/** The plan to load a model with its texts, if it has some; the same if it is such a plan already. */
const withTexts = (plan: LoadPlan): LoadPlan =>
  plan.tower ? plan : { ...plan, tower: (model, header) => joinTower(model, header, plan) };

/** An image's answer from its vector. */
export type Judge = (logits: Float32Array, pooled: Float32Array, topK: number | undefined) => Pick<Classification, "classes" | "problemType" | "uncertain" | "logits">;

/** Texts' vectors of length 1, and how their cosines with images become logits. */
interface Vectors extends TextEmbedding {
  /** What cosines are multiplied by, as a logarithm, and what is then added. */
  readonly scale: number;
  readonly bias: number;
  /** Whether the texts do not exclude each other, as in SigLIP. */
  readonly sigmoid: boolean;
}

const [EMBEDS, POOLED, SCALES] = (["embeds", "pooled", "scales"] as const).map((name) => TEXT_WORDS.indexOf(name)) as [number, number, number];

/** The most tokens that run together. */
const MOST_TOKENS = 2048;

/** What a model's next calls use again. */
interface ModelCache {
  encode?: Promise<Encode> | undefined;
  /** The vectors of the last labels, because they are compared with image after image. */
  labels?: { readonly key: string; readonly vectors: Vectors };
}

const caches = new WeakMap<object, ModelCache>();

/** What a call of {@link Texts} gives. */
export type Returned<Call> = Call extends "embed" ? TextEmbedding : Judge;

/**
 * Runs a call of {@link Texts}.
 *
 * @param vit stands for the model
 * @param projection what places its images among texts
 */
export async function run<Call extends "embed" | "judge">(
  call: Call,
  texts: readonly TextInput[],
  options: ClassifyOptions,
  vit: { readonly config: Readonly<VitConfig> },
  plan: LoadPlan,
  projection: Origin["projection"],
  turn: Turn,
): Promise<Returned<Call>> {
  const own = call === "embed" ? takeOptions("embedText", options, ["signal"]) : options, { signal } = own;
  return guarded("embedText", isReasonOf(signal), async () => {
    signal?.throwIfAborted();
    if (!projection) throw new VitError("unsupported", "texts: expected a model whose images are compared with texts, such as CLIP, got another");
    const cache = caches.get(vit) ?? {};
    caches.set(vit, cache);
    const changed = vit.config.text ? undefined : withTexts; // a file of our own has them already
    const all = new Texts(plan, projection, cache, (work) => abortable(turn(signal, ({ session }, { config }) => work(session, config), changed), signal));
    return (await all[call](texts, own)) as Returned<Call>;
  });
}

/** A {@link Turn} of the model with its texts. */
type TextTurn = <Value>(work: (session: Caller<ModelSession>, config: string) => Value | Promise<Value>) => Promise<Value>;

export class Texts {
  readonly #plan: LoadPlan;
  readonly #projection: Origin["projection"];
  readonly #cache: ModelCache;
  readonly #turn: TextTurn;

  constructor(plan: LoadPlan, projection: Origin["projection"], cache: ModelCache, turn: TextTurn) {
    this.#plan = plan;
    this.#projection = projection;
    this.#cache = cache;
    this.#turn = turn;
  }

  async embed(texts: readonly TextInput[]): Promise<TextEmbedding> {
    const { embeds, width } = await this.#vectors("texts", texts);
    return { embeds, width };
  }

  /** How an image's vector is judged: the labels' probabilities as the model's own code computes them. */
  async judge(labels: readonly TextInput[], { relevance, trace }: ClassifyOptions): Promise<Judge> {
    if (relevance || trace) throw new VitError("unsupported", "labels: expected no relevance and no trace, which are of the model's own classes");
    const key = JSON.stringify(labels);
    if (this.#cache.labels?.key !== key) this.#cache.labels = { key, vectors: await this.#vectors("labels", labels) };
    const { embeds, width, scale, bias, sigmoid } = this.#cache.labels.vectors;
    if (labels.length === 0) throw new VitError("bad_option", "labels: expected at least one, got none");
    const names = labels.map((label) => (typeof label === "string" ? label : Array.from(label).join(" ")));
    return (projected, pooled, topK) => {
      const vector = this.#projection === "head" ? projected : pooled;
      if (vector.length !== width) throw new VitError("bad_tensor", `labels: expected images and texts to have vectors of one width, got ${vector.length} and ${width}`);
      const length = Math.hypot(...vector);
      const logits = Float32Array.from(names, (_, at) => {
        const dot = vector.reduce((sum, value, column) => sum + value * embeds[at * width + column]!, 0);
        return (Math.exp(scale) * dot) / length + bias;
      });
      const problemType = sigmoid ? "multi_label_classification" : "single_label_classification";
      const classes = rank(logits, { labels: names, classes: names.length, problem_type: problemType, temperature: 1, doubt: false });
      return { classes: classes.slice(0, topK), problemType, uncertain: false, logits };
    };
  }

  async #vectors(name: string, inputs: readonly TextInput[]): Promise<Vectors> {
    if (!Array.isArray(inputs)) throw new VitError("bad_argument", `${name}: expected an array, got ${show(inputs)}`);
    const texts = Array.from(inputs as readonly TextInput[], (text) => (typeof text === "string" ? text : Array.from(text)));
    const { text: config } = await this.#turn((_, json) => JSON.parse(json) as VitConfig);
    if (!config) throw new VitError("unsupported", `${name}: expected a text tower, got none`);
    const rows = await this.#rows(name, texts, config);
    const byLength = new Map<number, number[]>();
    rows.forEach(({ length }, at) => byLength.set(length, [...(byLength.get(length) ?? []), at]));
    const width = config.projection || config.width, embeds = new Float32Array(rows.length * width);
    let scales: readonly [number, number] = [0, 0], later = false;
    for (const [length, places] of byLength) {
      const most = Math.max(1, Math.floor(MOST_TOKENS / length));
      for (let first = 0; first < places.length; first += most) {
        if (later) await yieldToTasks();
        later = true;
        const some = places.slice(first, first + most);
        const ids = Uint32Array.from(some.flatMap((at) => rows[at]!));
        const outputs = [[config.projection ? EMBEDS : POOLED, some.length * width], [SCALES, 2]] as const;
        const [vectors, both] = (await this.#turn((session) => session.call("text", ["vitw_embed", [some.length, length], ids, outputs], [ids.buffer])))
          .map((numbers) => new Float32Array(numbers.buffer)) as [Float32Array, Float32Array];
        for (const [at, place] of some.entries()) embeds.set(unit(vectors.subarray(at * width, (at + 1) * width)), place * width);
        scales = [both[0]!, both[1]!];
      }
    }
    return { embeds, width, scale: scales[0], bias: scales[1], sigmoid: config.logit_bias };
  }

  /** The ids of the texts. Given ones are used as they are. */
  #rows(name: string, texts: readonly (string | number[])[], config: TextConfig): Promise<readonly number[][]> {
    const { vocabulary, max_tokens } = config;
    return Promise.all(texts.map(async (text, at) => {
      const ids = typeof text === "string" ? await this.#ids(text, config) : text;
      const wrong = ids.find((id) => !(Number.isInteger(id) && id >= 0 && id < vocabulary));
      const refusal = (what: string, got: unknown) => new VitError("bad_argument", `${name}[${at}]: expected ${what}, got ${show(got)}`);
      if (wrong !== undefined) throw refusal(`ids from 0 to ${vocabulary - 1}`, wrong);
      if (ids.length === 0 || ids.length > max_tokens) throw refusal(`a text, or 1 to ${max_tokens} ids`, ids.length);
      return ids;
    }));
  }

  async #ids(text: string, { max_tokens, mask, padding }: TextConfig): Promise<number[]> {
    const encode = (this.#cache.encode ??= configOf(this.#plan).then(({ model_cfg }) =>
      encoderOf(this.#plan, objectIn(objectIn(objectIn(model_cfg).text_cfg).tokenizer_kwargs))));
    encode.catch(() => (this.#cache.encode = undefined)); // it can be tried again
    const { ids, filler } = await (await encode)(text, max_tokens);
    if (mask === "causal") return [...ids]; // what follows the end changes nothing
    return [...ids, ...Array<number>(max_tokens - ids.length).fill(filler ?? padding ?? 0)];
  }
}

/** A vector of the same direction and length 1. */
const unit = (vector: Float32Array) => {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
};
