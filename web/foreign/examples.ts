/**
 * Settles what a file leaves open by images whose logits are known. Images whose labels alone are known rank
 * the answers. This is a bundle of its own, loaded only when load is given examples.
 */
import type { Question } from "./refusal.js";

/** An image, and the logits that the model's own code gives for it, or its label. */
export interface Example<Image> {
  readonly image: Image;
  readonly logits?: ArrayLike<number>;
  readonly label?: string | number;
}

/** Answers to what a file leaves open, and how many of the examples they read rightly. */
export interface Ranked {
  readonly config: Answers;
  readonly right: number;
}

type Answers = Readonly<Record<string, unknown>>;

interface Model<Image> {
  readonly assumed: readonly string[];
  readonly config: { readonly width: number };
  readonly mapping: object;
  classify(image: Image): Promise<{ readonly logits: Float32Array; readonly classes: readonly { readonly label: string; readonly index: number }[] }>;
  dispose(): void;
}

/** Values that are tried last. */
const RARE: readonly unknown[] = ["gelu_tanh", "quick_gelu", "silu", "max"];

/** Keys whose other values few models have, tried with the last combinations. */
const LATE = ["class_position", "pool"];

const MOST_TRIALS = 200;
/** After so many combinations the late keys' turn comes, and then that of all keys beside those which got nearer. */
const EARLY = 140;
const MOST_RANKS = 5;
/** How many answers by labels have their guesses changed: labels tell too little for more. */
const MOST_VARIED = 3;
const NEAR = 1e-3;
/** Rounding alone moves logits less far, another activation further. */
const SURE = 2e-5;

/**
 * Tries all answers to what loading asks, and gives the model that is nearest to the examples.
 *
 * @param load loads with these keys laid over the caller's config.
 * @param fail makes the error for examples that no answer fits, and for labels, with what was found as its cause.
 */
export async function settle<Image, Loaded extends Model<Image>>(
  examples: readonly Example<Image>[],
  load: (config: Answers) => Promise<Loaded>,
  fail: (message: string, details?: { readonly ranking: readonly Ranked[] }) => Error,
): Promise<Loaded> {
  const every = (test: (example: Example<Image>) => unknown) => Array.isArray(examples) && examples.length > 0 && examples.every(test);
  const labelled = every(({ logits, label }) => !logits && label !== undefined);
  if (!labelled && !every(({ logits }) => logits)) {
    throw fail("examples: expected a list of { image, logits }, or of { image, label }");
  }
  const trials: { readonly answers: Answers; readonly far: number; readonly open: readonly Question[] }[] = [];
  const sorted = () => [...trials].sort((a, b) => a.far - b.far);
  const waiting: Answers[] = [{}];
  const guesses: Answers[] = [];
  const varied = [new Set<Answers>(), new Set<Answers>()] as const;
  const texts = new Set<string>();
  /** Questions whose rare values wait. */
  const rare: Question[] = [];
  let last: Answers[] | undefined;
  /** Nothing fits, so what loading guessed is tried too: one key of the nearest answers after the other, and in the end another order of the norms. */
  const guess = () => {
    if (!labelled && trials.some(({ far }) => far <= SURE)) return undefined;
    last ??= sorted().filter(({ answers }) => answers.norm !== "post").slice(0, MOST_TRIALS - trials.length)
      .map(({ answers }) => ({ ...answers, norm_order: "norm(x) + f(norm(x))" }));
    const isFull = trials.length + last.length >= MOST_TRIALS;
    while (isFull || guesses.length === 0) {
      const isLate = trials.length > EARLY, done = varied[Number(isLate)]!;
      const next = sorted().find(({ answers }) => !done.has(answers));
      if (!next || isFull || (labelled && done.size >= MOST_VARIED)) return last.shift();
      done.add(next.answers);
      const others = next.open.filter(({ key }) => trials.indexOf(next) > EARLY || LATE.includes(key) === isLate).flatMap(({ key, values }) => values.map((value) => ({ ...next.answers, [key]: value })));
      guesses.push(...others.filter((one) => !texts.has(textOf(one)) && texts.add(textOf(one))));
    }
    return guesses.shift();
  };
  for (let next; (next = waiting.shift() ?? guess()); ) {
    const answers = next;
    texts.add(textOf(answers));
    const model = await load(answers).catch((error: Error & { readonly questions?: readonly Question[] }) => {
      const questions = error.questions?.map((question) => (question.key === "image_size" ? { ...question, values: sizesOf(examples[0]!.image) } : question));
      if (!questions?.length) {
        if (trials.length > 0 || waiting.length > 0) return undefined; // such an answer does not fit the tensors
        throw error;
      }
      if (questions.some(({ values }) => values.length === 0)) throw error; // sizes have too many values
      rare.push(...questions.filter(({ values }) => values.some((value) => RARE.includes(value))));
      const usual = questions.map(({ key, values }) => ({ key, values: values.filter((value) => !RARE.includes(value)) }));
      waiting.push(...combinations(usual).map((some) => ({ ...answers, ...some })));
      return undefined;
    });
    if (waiting.length > MOST_TRIALS) throw fail(`examples: more than ${MOST_TRIALS} combinations are open; set some`);
    if (!model) continue;
    let far = 0;
    for (const { image, logits, label } of examples) {
      const answer = await model.classify(image);
      const [best] = answer.classes;
      const apart = logits ? farthest(answer.logits, logits) : far + Number(![best!.label, best!.index].includes(label!));
      if (!(apart <= far)) far = apart; // NaN counts
    }
    trials.push({ answers, far, open: [...guessed(model), ...rare] });
    model.dispose();
  }
  if (labelled) {
    const ranking = sorted().map(({ answers, far }) => ({ config: answers, right: examples.length - far }));
    const best = ranking.slice(0, MOST_RANKS).map(({ config, right }) => `${right} of ${examples.length} right with ${JSON.stringify(config)}`);
    throw fail(`examples: labels only rank: ${best.join(", ")}; logits settle it`, { ranking });
  }
  const [{ answers, far } = { answers: {}, far: Infinity }] = sorted();
  if (far <= NEAR) return load(answers);
  throw fail(
    `examples: none of ${trials.length} combinations fits to ${NEAR}; the nearest, ` +
      `${JSON.stringify(answers)}, is ${far.toPrecision(2)} apart`,
  );
}

/** The sizes of images that a list of so many numbers can be, in one channel or three. */
function sizesOf(image: unknown): readonly (readonly [number, number])[] {
  const length = image instanceof Float32Array ? image.length : NaN;
  return [1, 3].map((channels) => Math.sqrt(length / channels)).filter(Number.isInteger).map((side) => [side, side]);
}

const textOf = (answers: Answers) => JSON.stringify(Object.entries(answers).sort());

/** The keys that were guessed, and their other values. */
function guessed({ assumed, config, mapping }: Model<never>): Question[] {
  const heads = Array.from({ length: Math.min(64, config.width) }, (_, at) => at + 1).filter((count) => config.width % count === 0);
  const values: Readonly<Record<string, readonly unknown[]>> = {
    heads, activation: ["gelu", "relu", ...RARE.slice(0, 3)], norm: ["pre", "post"], pool: ["mean", "max"], depth: [2, 3, 4, 5, 6, 8, 12], class_position: ["first", "last", "none"], mlp_norm_after: [false, true], fc_norm: [false, true], pool_prefix: [false, true], attention_scale: ["head", "width", "none", "after_softmax"],
    qkv_order: ["qkv h d", "h qkv d", "h d qkv"],
  };
  const now: Answers = { ...config, fc_norm: "fc_norm.weight" in mapping };
  return Object.entries(values).filter(([key]) => assumed.includes(key))
    .map(([key, all]) => ({ key, values: all.filter((value) => value !== (now[key] ?? all[0])) }));
}

function combinations(questions: readonly Question[]): Answers[] {
  let all: Answers[] = [{}];
  for (const { key, values } of questions) {
    all = all.flatMap((answers) => values.map((value) => ({ ...answers, [key]: value })));
    if (all.length > 2 * MOST_TRIALS) break;
  }
  return all;
}

/** How far logits are from those of an example, which may have gone through softmax or its logarithm. */
function farthest(logits: Float32Array, expected: ArrayLike<number>): number {
  if (logits.length !== expected.length) return Infinity;
  const most = Math.max(...logits);
  const log = most + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - most), 0));
  const apart = (transform: (logit: number) => number) =>
    logits.reduce((far, logit, at) => Math.max(far, Math.abs(transform(logit) - expected[at]!)), 0);
  return Math.min(apart((logit) => logit), apart((logit) => logit - log), apart((logit) => Math.exp(logit - log)));
}
