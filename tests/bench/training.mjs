// A training step of ours and of its peers: the same losses, then timed in turn.
import { pairRow, time } from "./contest.mjs";
import { limit } from "./limit.mjs";
import { flops } from "./models.mjs";
import { jaxSide, oursSide, tfjsSide } from "./training-sides.mjs";

export const STEPS = 20;
const THREADS = 2;
const ROUNDS = 5;

/** The constants of every side's optimizer. So strong a decay shows a side that does without. */
export const CONSTANTS = {
  optimizer: "adamw", schedule: "constant", learning_rate: 5e-4, weight_decay: 1,
  beta1: 0.9, beta2: 0.999, epsilon: 1e-8, ema_decay: 0, drop_path: 0, label_smoothing: 0,
  augment: { probability: 0 },
};

/** The operations of a step: the backward pass takes twice those of the forward pass. */
export const stepFlops = (config, images) => 3 * images * flops(config);

/**
 * How far the losses of two sides may differ, as a share. A float32 sum of n terms errs by at most
 * n·ε of its terms' size (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2), and
 * blocks add their errors.
 */
export function tolerance({ width, mlp_width, depth, channels, image_size, patch_size, prefix }) {
  const area = ([rows, columns]) => rows * columns;
  const tokens = prefix.length + area(image_size) / area(patch_size);
  return depth * Math.max(width, mlp_width, tokens, channels * area(patch_size)) * 2 ** -23;
}

/** `count` images that a model can learn, of whole bytes, with their classes in turn. */
export function examples(count, config) {
  const { classes, image_size: [rows, columns] } = config;
  let state = 1;
  const byte = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 24;
  const labels = Array.from({ length: count }, (_, i) => i % classes);
  const bar = (at) => Math.floor((Math.floor(at / columns) % rows) * classes / rows);
  const images = labels.map((label) => Float32Array.from({ length: config.channels * rows * columns },
    (_, at) => (bar(at) === label ? byte() : byte() >> 2) / 255));
  return { images, labels };
}

/** Throws unless the losses of a side equal those of the first. */
export function compare(losses, config) {
  const [[, want], ...others] = Object.entries(losses), most = tolerance(config);
  for (const [name, got] of others) {
    want.forEach((loss, step) => {
      const share = Math.abs(got[step] - loss) / loss;
      if (share <= most) return;
      throw new Error(`step ${step + 1}: the loss of ${name} is ${got[step]}, ours ${loss}; ` +
        `they differ by ${share} of it, expected at most ${most}`);
    });
  }
}

/**
 * Times a step on `batch` images.
 * @param {object} engines { Trainer, tf, jax, limits }; tf and jax may be left out
 * @param {object} model a recipe's, trained without doubt, which no peer has
 * @param {object} plan { batch, rounds, slice, variant }, as contest's
 * @returns {Promise<{ rows: object[], notes: string[], limit: number }>} as contest's
 * @throws if a loss of the first steps differs
 */
export async function trainingContest({ Trainer, tf, jax, limits }, model, plan) {
  const { batch, variant, rounds = ROUNDS, slice } = plan;
  const before = await limit(limits), data = examples(batch, model), training = { ...CONSTANTS, batch };
  const open = (threads) => oursSide(Trainer, { model: { ...model, doubt: false }, training }, data, { variant, threads });
  const ours = await open(1), two = await open(THREADS), notes = [];
  const sides = { ours };
  if (two.threads === THREADS) sides[`ours with ${THREADS} threads`] = two;
  else notes.push("no more than 1 thread here");
  if (tf) sides["tfjs-backend-wasm"] = tfjsSide(tf, ours.start, training, data);
  if (jax) sides["jax-js"] = jaxSide(jax, ours.start, training, data);
  try {
    await checkLosses(sides, ours.start.config);
    for (let round = 0; round < rounds; round++) {
      for (const side of Object.values(sides)) await time(side, slice);
    }
  } finally {
    for (const side of [two, ...Object.values(sides)]) side.close();
  }
  const about = { precision: "f32", batch, variant: ours.variant, operations: stepFlops(ours.start.config, batch) };
  const rows = Object.entries(sides).slice(1).map(([against, side]) => pairRow(side === two
    ? { row: "train", side, peer: ours, against: "vitrine, one thread", threads: THREADS }
    : { row: "train", side: ours, peer: side, against }, about));
  return { rows, notes, limit: Math.max(before, await limit(limits)) };
}

/** Takes the first steps, and throws if the losses differ. */
async function checkLosses(sides, config) {
  const losses = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  for (let step = 0; step < STEPS; step++) {
    for (const [name, side] of Object.entries(sides)) losses[name].push(await side.run());
  }
  compare(losses, config);
}
