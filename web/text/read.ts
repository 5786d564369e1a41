/** Writes what a model with a decoder reads in an image. */
import { yieldToTasks } from "../base/yield.js";
import type { ReadOptions, ReadResult, ReadToken } from "../calls.js";
import type { Settings } from "../config.js";
import type { Caller } from "../engine/call.js";
import type { Shape } from "../engine/shape.js";
import type { Model } from "../engine/model.js";
import type { ModelSession } from "../engine/model-session.js";
import type { LoadPlan, Started } from "../engine/start.js";
import { guarded, isReasonOf, show, takeOptions, VitError } from "../errors.js";
import type { TextConfig, VitConfig } from "../generated/config.js";
import { TEXT_WORDS } from "../generated/text-words.js";
import { memoryOf, type Picture } from "../images.js";
import { abortable } from "../load/source.js";
import { ReadAttention } from "../read-attention.js";
import { type Decode, decoderOf } from "./tokenizer.js";

/** A text under way. */
export interface Writing {
  readonly result: Promise<ReadResult>;
  /** Gives each token as soon as it is certain. Whoever leaves it ends the writing. */
  tokens(): AsyncGenerator<ReadToken, void>;
}

/** Works with a session, when it is this work's turn and the plan that it runs is `changed`. */
export type Turn = <Value>(
  signal: AbortSignal | undefined,
  work: (running: Started["running"], model: Model) => Value | Promise<Value>,
  changed?: (plan: LoadPlan) => LoadPlan,
) => Promise<Value>;

const READ_OPTIONS = [
  "maxTokens", "beams", "temperature", "topP", "seed", "start", "force", "logits", "attention", "onToken", "size", "keepInput", "signal",
] as const;

/** How each model's ids become text. */
const decoders = new WeakMap<object, Promise<Decode>>();

/**
 * Begins to write.
 *
 * @param callOptions not checked yet
 * @param shape the model's, for images of the size that the options name
 */
export function write(
  vit: { readonly config: Readonly<VitConfig> },
  plan: LoadPlan,
  settings: Settings | undefined,
  callOptions: ReadOptions,
  picture: Promise<Picture>,
  shape: Shape,
  turn: Turn,
): Writing {
  const { decoder: config } = vit.config;
  if (!config) throw new VitError("unsupported", "read: this model has no decoder, so it writes nothing; use classify or embed");
  const thrown: unknown[] = []; // by onToken
  return writingOf((pass) => guarded("read", (error) => thrown.includes(error) || isReasonOf(callOptions.signal)(error), async () => {
    const options = takeOptions("read", callOptions, READ_OPTIONS), { signal, onToken } = options;
    const order = orderOf(options, config, settings);
    const decode = await decodeOf(vit, config, plan);
    const tell = (token: ReadToken): boolean => {
      try {
        onToken?.({ ...token });
      } catch (error) {
        thrown.push(error);
        throw error;
      }
      return pass({ ...token });
    };
    const ready = await picture;
    return abortable(turn(signal, ({ session }) => read(session, ready, options, order, { ...vit.config, config, shape, decode }, tell)), signal);
  }));
}

/** By the config's labels, without the space that the text begins with, or else by a tokenizer. Without both every text is "". */
function decodeOf(vit: object, { labels }: TextConfig, plan: LoadPlan): Promise<Decode> {
  const decoder = decoders.get(vit) ?? (labels ? Promise.resolve<Decode>((ids) => ids.map((id) => labels[id]).join("").replace(/^ /, "")) : decoderOf(plan).then((decode) => decode ?? (() => "")));
  decoders.set(vit, decoder);
  decoder.catch(() => decoders.delete(vit)); // it can be tried again
  return decoder;
}

/** @param write passes on its tokens, until `pass` returns false because nobody wants more. */
function writingOf(write: (pass: (token: ReadToken) => boolean) => Promise<ReadResult>): Writing {
  const written: ReadToken[] = [], waiting = new Set<() => void>();
  let over = false, wantsMore = true;
  const wake = () => {
    for (const resume of waiting) resume();
    waiting.clear();
  };
  const result = write((token) => {
    written.push(token);
    wake();
    return wantsMore;
  });
  const end = () => {
    over = true;
    wake();
  };
  result.then(end, end);
  return {
    result,
    async *tokens() {
      try {
        for (let at = 0; ; ) {
          if (at < written.length) yield written[at++]!;
          else if (over) return void (await result);
          else await new Promise<void>((resume) => waiting.add(resume));
        }
      } finally {
        wantsMore = false; // the loop was left
      }
    },
  };
}

interface ReadPlan extends Readonly<Pick<VitConfig, "temperature" | "uncertain_below">> {
  readonly config: TextConfig;
  /** Of the image. */
  readonly shape: Shape;
  readonly decode: Decode;
}

/** How long tokens are written before other tasks run. */
const MOST_MILLISECONDS = 8;

/** What the options ask for, checked. */
interface Order {
  readonly first: number;
  readonly most: number;
  readonly beams: number;
  readonly temperature: number;
  readonly topP: number;
  readonly seed: number;
  readonly force: Uint32Array<ArrayBuffer> | undefined;
}

/** @throws {VitError} code `bad_option` or `unsupported`. */
function orderOf(options: ReadOptions, config: TextConfig, settings: Settings | undefined): Order {
  const { vocabulary, max_tokens } = config;
  const number = (name: "maxTokens" | "beams" | "seed" | "temperature" | "topP", value: number, least: number, most: number) => {
    const whole = name !== "temperature" && name !== "topP";
    if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
    throw new VitError("bad_option", `${name}: expected a ${whole ? "whole number" : "number"} from ${least} to ${most}, got ${show(value)}`);
  };
  const { temperature = 0, topP = 1, seed = 0 } = options;
  const most = number("maxTokens", options.maxTokens ?? Math.min((settings?.length ?? Infinity) - 1, max_tokens - 1), 1, max_tokens - 1);
  const beams = number("beams", options.beams ?? (temperature > 0 ? 1 : settings?.beams ?? 1), 1, Math.min(MOST_BEAMS, vocabulary));
  number("temperature", temperature, 0, MOST_TEMPERATURE);
  if (beams > 1 && temperature > 0) throw new VitError("bad_option", "temperature: expected 0 with beams, which follow the most probable texts");
  const [unknown] = settings?.unknown ?? [];
  if (unknown && options.beams === undefined && options.force === undefined) {
    throw new VitError("unsupported", `read: the model's own settings have ${settings!.unknown.join(", ")}, which is not computed here; pass beams to write without (${settings!.beams} there)`);
  }
  const force = options.force === undefined ? undefined : idsOf(options.force, config);
  const first = options.force ? 0 : startOf(options.start, config);
  return { first, most, beams, temperature, topP: number("topP", topP, 0, 1), seed: number("seed", seed, 0, 2 ** 32 - 1), force };
}

const MOST_BEAMS = 64;
const MOST_TEMPERATURE = 1000;

function idsOf(force: unknown, { vocabulary, max_tokens }: TextConfig): Uint32Array<ArrayBuffer> {
  const ids = typeof force === "object" && force !== null ? Array.from(force as ArrayLike<unknown>) : [];
  if (ids.length < 1 || ids.length > max_tokens) throw new VitError("bad_option", `force: expected 1 to ${max_tokens} ids, got ${ids.length || show(force)}`);
  for (const id of ids) expectId("force", id, vocabulary);
  return Uint32Array.from(ids as number[]);
}

function startOf(start: unknown, { start: usual, labels, vocabulary }: TextConfig): number {
  if (typeof start === "string") {
    const id = labels?.indexOf(start) ?? -1;
    if (id >= 0) return id;
    throw new VitError("bad_option", `start: expected ${labels ? "one of the config's decoder.labels" : "an id, because the config has no decoder.labels"}, got "${show(start)}"`);
  }
  const id = start ?? usual;
  if (id === null) throw new VitError("bad_option", "start: expected an id, because the config has no decoder.start, got none");
  return expectId("start", id, vocabulary);
}

function expectId(name: string, id: unknown, vocabulary: number): number {
  if (Number.isInteger(id) && (id as number) >= 0 && (id as number) < vocabulary) return id as number;
  throw new VitError("bad_option", `${name}: expected ids from 0 to ${vocabulary - 1}, got ${show(id)}`);
}

/**
 * Reads one image in its turn.
 *
 * @param pass is called with each token as soon as it is certain; false: nobody wants more.
 */
async function read(
  session: Caller<ModelSession>,
  picture: Picture,
  options: ReadOptions,
  order: Order,
  { temperature, uncertain_below, config, shape, decode }: ReadPlan,
  pass: (token: ReadToken) => boolean,
): Promise<ReadResult> {
  const start = performance.now(), { signal } = options;
  const wants = { attention: [], tokens: true, size: [shape.rows, shape.columns], ...(options.keepInput === false && { bare: true }) } as const;
  const [output] = await session.call("run", [[picture], wants], [memoryOf(picture).buffer]);
  const { input, placement } = output!;
  const special = new Set([config.start, config.end, config.padding]);
  const tokens: ReadToken[] = [], ids: number[] = [];
  let text = "", sure = 1;
  const add = (id: number, p: number): boolean => {
    sure *= p;
    if (!special.has(id)) ids.push(id);
    const all = special.has(id) ? text : decode(ids);
    const token = { text: all.startsWith(text) ? all.slice(text.length) : "", id, p };
    if (all.startsWith(text)) text = all;
    tokens.push(token);
    return pass(token);
  };
  const { first, force } = order;
  if (!force) {
    const { most, beams, topP, seed } = order;
    await session.call("text", ["vitw_write", [0, most + 1, beams, order.temperature, topP, seed, 1], Uint32Array.of(first), []]);
    for (let wantsMore = true, paused = performance.now(), done = false; !done && wantsMore; ) {
      signal?.throwIfAborted();
      const step = await stepOf(session, most + 1);
      done = step.done;
      if (beams === 1 || done) for (let at = tokens.length; at < step.ids.length && wantsMore; at++) wantsMore = add(step.ids[at]!, step.p[at]!);
      if (performance.now() - paused < MOST_MILLISECONDS) continue;
      await yieldToTasks();
      paused = performance.now();
    }
  }
  const sequence = force ?? Uint32Array.from([first, ...tokens.map(({ id }) => id)].slice(0, tokens.length));
  const needs = force || options.logits || options.attention;
  const forced = needs && sequence.length > 0 ? await forcedOf(session, sequence, config, shape.tokens, Boolean(options.attention)) : undefined;
  if (force && forced) {
    const V = config.vocabulary;
    force.forEach((id, at) => add(id, at === 0 ? 1 : shareOf(forced.logits.subarray((at - 1) * V, at * V), id, temperature)));
  }
  const attention = options.attention && forced && new ReadAttention(forced.cross, forced.self, {
    layers: config.depth, heads: config.heads, texts: sequence.length, prefix: shape.prefix, grid: shape.grid,
  });
  return {
    text: decode(ids), tokens, p: sure, uncertain: sure < uncertain_below,
    ...(forced && (options.logits || force) && { logits: forced.logits }),
    ...(attention && { attention }),
    ...(input && { input }),
    placement,
    milliseconds: performance.now() - start,
  } as ReadResult;
}

const wordOf = (name: (typeof TEXT_WORDS)[number]) => TEXT_WORDS.indexOf(name);
const [LOGITS, SELF, CROSS, WRITTEN, P, COUNT, DONE] = (["logits", "self", "cross", "written", "p", "count", "done"] as const).map(wordOf) as [number, number, number, number, number, number, number];

/** Writes one more token. @param most how many there may be, with the first one. */
async function stepOf(session: Caller<ModelSession>, most: number): Promise<{ readonly ids: Uint32Array; readonly p: Float32Array; readonly done: boolean }> {
  const [ids, p, count, done] = (await session.call("text", ["vitw_step", [], new Uint32Array(), [[WRITTEN, most], [P, most], [COUNT, 0], [DONE, 0]]])) as
    [Uint32Array<ArrayBuffer>, Uint32Array<ArrayBuffer>, Uint32Array, Uint32Array];
  return { ids: ids.subarray(1, count[0]), p: new Float32Array(p.buffer).subarray(1, count[0]), done: done[0] !== 0 };
}

/** Runs given tokens: logits (S,V), self (L,h,S,S), cross (L,h,S,T). */
async function forcedOf(session: Caller<ModelSession>, ids: Uint32Array<ArrayBuffer>, { depth: L, heads: h, vocabulary: V }: TextConfig, T: number, attention: boolean) {
  const S = ids.length, maps = Number(attention) * L * h * S;
  const outputs = [[LOGITS, S * V], [SELF, maps * S], [CROSS, maps * T]] as const;
  const got = await session.call("text", ["vitw_force", [0, S, Number(attention)], ids, outputs.filter(([, count]) => count > 0)]);
  const [logits, self = new Float32Array(), cross = new Float32Array()] = got.map(({ buffer }) => new Float32Array(buffer));
  return { logits: logits!, self, cross };
}

/** The softmax of one logit. */
const shareOf = (logits: Float32Array, id: number, temperature: number): number =>
  1 / logits.reduce((sum, logit) => sum + Math.exp((logit - logits[id]!) / temperature), 0);
