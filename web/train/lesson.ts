/**
 * How a model learns new signs from a few drawings: some steps of its last blocks and of a head over
 * the old classes and the new ones. Two drawings of each digit keep it from forgetting them, and
 * drawings of nothing (src/train/negatives.c) from taking everything else for the new sign: outlier
 * exposure, Hendrycks et al., arXiv:1812.04606. At the end the weights are interpolated between the
 * old and the trained ones, which forgets less: WiSE-FT, Wortsman et al., arXiv:2109.01903.
 * weights/tools/teach.mjs measures it.
 */
import { isObject, type Json } from "../base/json.js";
import { splitFile } from "../base/safetensors.mjs";
import type { VitConfig } from "../config.js";
import type { Drawing } from "../images.js";
import { MORE, OFFERED, SIDE } from "./handwriting.js";
import type { Freeze } from "./recipe.js";

/**
 * How many blocks learn, and how many drawings of nothing there are for each image. More blocks forget
 * more. A plain model forgets more than one with a stem, and takes more other drawings for the sign.
 */
const PACE = { stemmed: { blocks: 2, negatives: 0.5 }, plain: { blocks: 1, negatives: 1 } };
const TRAINING = { batch: 16, learning_rate: 1.6e-3, weight_decay: 0.01, habits: 0.6 };
/** A lesson's steps with one new sign, and those for each further one. More steps learn better and forget more. */
const STEPS = 100, STEPS_A_SIGN = 30;
/** The mixing coefficient: 0 would leave the old weights, 1 would take the trained ones. */
const ALPHA = 0.8;
/**
 * A new class's logit, divided by the temperature, keeps this margin before all others on its own examples. A larger one
 * is lowered, but by no more than `most`: it takes digits that are like the sign (a bolt without this 0.64 points of
 * them), and with too little of it later drawings of the sign are in doubt, unless doubt is an output of its own.
 */
const MARGINS = { byClasses: { margin: 3.6, most: 0.55 }, byDoubt: { margin: 2.5, most: 3 } };
const LEAST_EPOCHS = 8;
/** A sign of a few drawings counts as much as one of this many. */
const LEAST_DRAWINGS = 12;
/** An answer below this is not known: nine in ten drawings of nothing stay below it, and later drawings of a sign above. */
const UNCERTAIN_BELOW = 0.6;

/** @internal */
export interface Lesson {
  /** The model's own, then the new ones. */
  readonly labels: readonly string[];
  /** How many labels are the model's own. */
  readonly ownClasses: number;
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
  const { blocks, negatives: share } = Array.isArray(own.stem) && own.stem.length > 0 ? PACE.stemmed : PACE.plain;
  const rehearsal = drawn ? [...OFFERED, ...MORE].filter(({ label }) => old.includes(label)) : [];
  const times = (label: string) => Math.ceil(LEAST_DRAWINGS / names.filter((name) => name === label).length);
  const images = rehearsal.length + names.reduce((sum, name) => sum + times(name), 0);
  const negatives = drawn ? share : 0, labels = [...new Set([...old, ...names])];
  const steps = STEPS + STEPS_A_SIGN * Math.max(0, labels.length - old.length - 1);
  return {
    labels,
    ownClasses: old.length,
    freeze: Math.max(0, Number(own.depth) - blocks),
    training: { ...TRAINING, negatives },
    rehearsal: rehearsal.map(({ label, strokes }) => ({ label, image: { strokes, width: SIDE, height: SIDE } })),
    times,
    epochs: Math.max(LEAST_EPOCHS, Math.round(steps / Math.ceil((images * (1 + negatives)) / TRAINING.batch))),
    calibration: drawn ? { temperature: Number(own.temperature ?? 1), uncertain_below: UNCERTAIN_BELOW } : {},
  };
}

interface Entry {
  readonly shape: readonly number[];
  readonly data_offsets: readonly [from: number, to: number];
}

/**
 * @internal Interpolates a taught model's file, in place, between the file from before the lesson and itself. The
 * head's rows of new classes had no weights before, so they stay.
 */
export function interpolate(after: Uint8Array<ArrayBuffer>, before: Uint8Array<ArrayBuffer>, { ownClasses }: Lesson): void {
  const { header: { __metadata__, ...tensors }, data } = splitFile(after), old = splitFile(before).data;
  for (const [name, { shape, data_offsets: [from] }] of Object.entries(tensors as Record<string, Entry>)) {
    const all = shape.reduce((product, size) => product * size, 1);
    const count = name.startsWith("head.") ? (all / shape[0]!) * ownClasses : all;
    const [now, then] = [data, old].map(({ buffer, byteOffset }) => new Float32Array(buffer, byteOffset + from, count));
    for (let i = 0; i < count; i++) now![i] = then![i]! + ALPHA * (now![i]! - then![i]!);
  }
}

/** @internal Lowers, in place, the bias of each new class whose examples lie further before the other classes than they need. */
export function holdBack(
  after: Uint8Array<ArrayBuffer>,
  { labels, ownClasses, calibration: { temperature } }: Lesson,
  answers: readonly { readonly label: string; readonly logits: Float32Array }[],
): void {
  const { header, data } = splitFile(after), bias = (header as Record<string, Entry>)["head.bias"];
  if (temperature === undefined || bias === undefined) return;
  const values = new Float32Array(data.buffer, data.byteOffset + bias.data_offsets[0], labels.length);
  const { margin, most } = MARGINS[answers[0]!.logits.length > labels.length ? "byDoubt" : "byClasses"];
  for (let k = ownClasses; k < labels.length; k++) {
    const margins = answers.filter(({ label }) => label === labels[k]).map(({ logits }) =>
      logits[k]! - Math.max(...logits.subarray(0, labels.length).filter((_, other) => other !== k)));
    values[k]! -= temperature * Math.min(Math.max(0, Math.min(...margins) / temperature - margin), most);
  }
}
