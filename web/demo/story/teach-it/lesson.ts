/**
 * How a model learns new signs: few steps of its last blocks and of a head over the digits and the
 * signs. Two drawings of each digit keep it from forgetting them. web/scripts/teach.mjs measures it.
 */
import type { VitConfig } from "vitrine";
import { MORE, OFFERED } from "../../handwriting.ts";

export interface Point {
  x: number;
  y: number;
  width: number;
}

/** A drawing by the visitor, and what it is. Its strokes are in pad units. */
export interface Example {
  readonly label: string;
  readonly strokes: readonly Point[][];
}

/** What Trainer.create, add and run take. */
export interface Lesson {
  labels: string[];
  drawings: { strokes: Point[][]; width: number; height: number }[];
  names: string[];
  freeze: number;
  training: Record<string, unknown>;
  epochs: number;
}

const SIDE = 280; // of the pad, as in ../../ink.ts
const PEN = 10;
/** Blocks that learn, and how fast. More of both forgets more; a plain model forgets more than one with a stem. */
const PACE = { stemmed: { blocks: 2, learning_rate: 1.4e-3 }, plain: { blocks: 1, learning_rate: 1e-3 } };
const TRAINING = { batch: 16, weight_decay: 0.01 };
/** More steps learn the signs better and forget more digits. */
const STEPS = 90;
const LEAST_EPOCHS = 8;

/** The digits in our own handwriting. */
const KNOWN: readonly Example[] = [...OFFERED, ...MORE].map(([label, strokes]) => ({
  label,
  strokes: strokes.map((points) => points.map(([x, y]) => ({ x, y, width: PEN }))),
}));

/** All classes after the lesson: the model's own, then the new ones in the order of their first example. */
export const labelsAfter = (own: readonly string[], examples: readonly Example[]): string[] =>
  [...new Set([...own, ...examples.map(({ label }) => label)])];

type LearnerConfig = Pick<VitConfig, "labels" | "depth" | "stem">;

export function lessonOf(examples: readonly Example[], { labels: own, depth, stem }: LearnerConfig): Lesson {
  const { blocks, learning_rate } = stem.length > 0 ? PACE.stemmed : PACE.plain;
  const all = [...examples, ...KNOWN.filter(({ label }) => own.includes(label))];
  return {
    labels: labelsAfter(own, examples),
    drawings: all.map(({ strokes }) => ({ strokes: strokes.map((stroke) => [...stroke]), width: SIDE, height: SIDE })),
    names: all.map(({ label }) => label),
    freeze: Math.max(0, depth - blocks),
    training: { ...TRAINING, learning_rate },
    epochs: Math.max(LEAST_EPOCHS, Math.round(STEPS / Math.ceil(all.length / TRAINING.batch))),
  };
}
