/**
 * Settles what a file leaves open by images whose logits are known. This is a bundle of its own, loaded only
 * when load is given examples.
 */
import type { Question } from "./refusal.js";

/** An image and the logits that the model's own code gives for it. */
export interface Example<Image> {
  readonly image: Image;
  readonly logits: ArrayLike<number>;
}

interface Model<Image> {
  readonly assumed: readonly string[];
  readonly config: { readonly width: number };
  classify(image: Image): Promise<{ readonly logits: Float32Array }>;
  dispose(): void;
}

const MOST_TRIED = 200;
const NEAR = 1e-3;

/**
 * Tries all answers to what loading asks, and gives the model that is nearest to the examples.
 *
 * @param load loads with these keys laid over the caller's config.
 * @param fail makes the error for examples that no answer fits.
 */
export async function settle<Image, Loaded extends Model<Image>>(
  examples: readonly Example<Image>[],
  load: (config: Readonly<Record<string, unknown>>) => Promise<Loaded>,
  fail: (message: string) => Error,
): Promise<Loaded> {
  if (!Array.isArray(examples) || examples.length === 0) throw fail("examples: expected a list of { image, logits }");
  let nearest: Record<string, unknown> = {};
  let distance = Infinity;
  let tried = 0;
  const waiting: Record<string, unknown>[] = [{}];
  /** What was guessed for each of the loaded models; it is tried if nothing else fits. */
  const guesses: Record<string, unknown>[] = [];
  for (let answers; (answers = waiting.shift() ?? (distance > NEAR ? guesses.shift() : undefined)); ) {
    const model = await load(answers).catch((error: Error & { readonly questions?: readonly Question[] }) => {
      const { questions } = error;
      if (!questions?.length) {
        if (tried > 0) return undefined; // such an answer does not fit the tensors
        throw error;
      }
      const open = questions.find(({ values }) => values.length === 0);
      if (open) throw error; // sizes have too many values
      waiting.push(...combinations(questions).map((some) => ({ ...answers, ...some })));
      return undefined;
    });
    if (waiting.length + tried > MOST_TRIED) throw fail(`examples: more than ${MOST_TRIED} combinations are open; set some keys in config`);
    if (!model) continue;
    tried++;
    let far = 0;
    for (const { image, logits } of examples) {
      const apart = farthest((await model.classify(image)).logits, logits);
      if (!(apart <= far)) far = apart; // NaN counts
    }
    model.dispose();
    if (guesses.length === 0 && waiting.length + tried < MOST_TRIED) {
      const open = guessed(model).filter(({ key }) => !(key in answers));
      if (open.length > 0) {
        const more = combinations(open);
        guesses.push(...[answers, ...waiting].flatMap((some) => more.map((one) => ({ ...some, ...one }))).slice(0, MOST_TRIED - waiting.length - tried));
      }
    }
    if (far < distance) {
      distance = far;
      nearest = answers;
    }
  }
  if (distance <= NEAR) return load(nearest);
  throw fail(
    `examples: none of ${tried} combinations gives their logits within ${NEAR}; the nearest, ` +
      `${JSON.stringify(nearest)}, is ${distance.toPrecision(2)} apart`,
  );
}

/** The keys that were guessed, and their other values. */
function guessed({ assumed, config: { width } }: Model<never>): Question[] {
  const heads = Array.from({ length: Math.min(64, width) }, (_, at) => at + 1).filter((count) => width % count === 0);
  const values = { heads, activation: ["gelu", "relu"], norm: ["pre", "post"], attention_scale: ["head", "width", "none"] };
  return Object.entries(values).filter(([key]) => assumed.includes(key)).map(([key, all]) => ({ key, values: all }));
}

function combinations(questions: readonly Question[]): Record<string, unknown>[] {
  let all: Record<string, unknown>[] = [{}];
  for (const { key, values } of questions) {
    all = all.flatMap((answers) => values.map((value) => ({ ...answers, [key]: value })));
    if (all.length > 2 * MOST_TRIED) break;
  }
  const usual = all.filter(({ activation }) => activation === undefined || activation === "gelu" || activation === "relu");
  return all.length > MOST_TRIED ? usual : all;
}

/** How far logits are from those of an example, which may have gone through softmax or its logarithm. */
function farthest(logits: Float32Array, expected: ArrayLike<number>): number {
  if (logits.length !== expected.length) return Infinity;
  const most = Math.max(...logits);
  const log = most + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - most), 0));
  const apart = (meant: (logit: number) => number) =>
    logits.reduce((far, logit, at) => Math.max(far, Math.abs(meant(logit) - expected[at]!)), 0);
  return Math.min(apart((logit) => logit), apart((logit) => logit - log), apart((logit) => Math.exp(logit - log)));
}
