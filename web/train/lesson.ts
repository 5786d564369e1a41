/**
 * How a model learns new signs from a few drawings: some steps of its last blocks and of a head over
 * the old classes and the new ones. Two drawings of each digit keep it from forgetting them, and
 * drawings of nothing (src/train/negatives.c) from taking everything else for the new sign: outlier
 * exposure, Hendrycks et al., arXiv:1812.04606. weights/tools/teach.mjs measures it.
 */
import { isObject, type Json } from "../base/json.js";
import type { VitConfig } from "../config.js";
import type { Drawing } from "../images.js";
import { MORE, OFFERED, SIDE } from "./handwriting.js";
import type { Freeze } from "./recipe.js";

/** Blocks that learn, and how fast. More of both forgets more; a plain model forgets more than one with a stem. */
const PACE = { stemmed: { blocks: 2, learning_rate: 1.6e-3 }, plain: { blocks: 1, learning_rate: 1.6e-3 } };
const TRAINING = { batch: 16, weight_decay: 0.01, habits: 0.6 };
/** More steps learn the signs better and forget more digits. */
const STEPS = 100;
const LEAST_EPOCHS = 8;
/** A sign of a few drawings counts as much as one of this many. */
const LEAST_DRAWINGS = 12;
/** An answer below this is not known: nine in ten drawings of nothing stay below it, and later drawings of a sign above. */
const UNCERTAIN_BELOW = 0.6;

/** @internal */
export interface Lesson {
  readonly labels: readonly string[];
  readonly freeze: Freeze;
  readonly training: Json;
  /** Drawings of classes that the model knows already. */
  readonly rehearsal: readonly { readonly label: string; readonly image: Drawing }[];
  /** How often an example is given. */
  readonly times: (label: string) => number;
  readonly epochs: number;
  /** Keys of the taught model's config. */
  readonly calibration: Partial<VitConfig>;
}

/** @internal @param own the model's config, as its file has it. @param names the examples' labels. */
export function lessonOf(own: Json, names: readonly string[]): Lesson {
  const old = Array.isArray(own.labels) ? (own.labels as string[]) : Array.from({ length: Number(own.classes) }, (_, k) => String(k));
  const drawn = isObject(own.prepare) && own.prepare.kind === "digit";
  const { blocks, learning_rate } = Array.isArray(own.stem) && own.stem.length > 0 ? PACE.stemmed : PACE.plain;
  const rehearsal = drawn ? [...OFFERED, ...MORE].filter(({ label }) => old.includes(label)) : [];
  const times = (label: string) => Math.ceil(LEAST_DRAWINGS / names.filter((name) => name === label).length);
  const images = rehearsal.length + names.reduce((sum, name) => sum + times(name), 0);
  const negatives = drawn ? 1 : 0;
  return {
    labels: [...new Set([...old, ...names])],
    freeze: Math.max(0, Number(own.depth) - blocks),
    training: { ...TRAINING, learning_rate, negatives },
    rehearsal: rehearsal.map(({ label, strokes }) => ({ label, image: { strokes, width: SIDE, height: SIDE } })),
    times,
    epochs: Math.max(LEAST_EPOCHS, Math.round(STEPS / Math.ceil((images * (1 + negatives)) / TRAINING.batch))),
    calibration: drawn ? { temperature: Number(own.temperature ?? 1), uncertain_below: UNCERTAIN_BELOW } : {},
  };
}
