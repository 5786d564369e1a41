/**
 * How a model learns new signs: few steps of its last blocks and of a head over the digits and the
 * signs. Two drawings of each digit keep it from forgetting them. weights/tools/teach.mjs measures it.
 */
import type { VitConfig } from "vitrine";
import { type Example, MORE, OFFERED } from "../../handwriting.ts";
import { drawingOf } from "../../ink.ts";

/** Blocks that learn, and how fast. More of both forgets more; a plain model forgets more than one with a stem. */
const PACE = { stemmed: { blocks: 2, learning_rate: 1.2e-3 }, plain: { blocks: 1, learning_rate: 1e-3 } };
const TRAINING = { batch: 16, weight_decay: 0.01 };
/** More steps learn the signs better and forget more digits. */
const STEPS = 90;
const LEAST_EPOCHS = 8;

/** All classes after the lesson: the model's own, then the new ones in the order of their first example. */
export const labelsAfter = (own: readonly string[], examples: readonly Example[]): string[] =>
  [...new Set([...own, ...examples.map(({ label }) => label)])];

type LearnerConfig = Pick<VitConfig, "labels" | "depth" | "stem">;

/** What Trainer.create, add and run take. */
export function lessonOf(examples: readonly Example[], { labels: own, depth, stem }: LearnerConfig) {
  const { blocks, learning_rate } = stem.length > 0 ? PACE.stemmed : PACE.plain;
  const all = [...examples, ...[...OFFERED, ...MORE].filter(({ label }) => own.includes(label))];
  return {
    labels: labelsAfter(own, examples),
    drawings: all.map(({ strokes }) => drawingOf(strokes)),
    names: all.map(({ label }) => label),
    freeze: Math.max(0, depth - blocks),
    training: { ...TRAINING, learning_rate },
    epochs: Math.max(LEAST_EPOCHS, Math.round(STEPS / Math.ceil(all.length / TRAINING.batch))),
  };
}
