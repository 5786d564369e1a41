/** Trains a model on the visitor's examples, in a worker, and reads taught models' files. */
import { Vit, VitError } from "vitrine";
import type { Step } from "vitrine/train";
import { readSafetensors, withKeys } from "../../base/safetensors.mjs";
import type { LabelledDrawing } from "../../train/handwriting.ts";
import { drawingOf } from "../ink.ts";
import { threadsToTrain } from "../threads.ts";
import { packExamples, unpackExamples } from "./text.ts";
import type { Shelf } from "./shelf.ts";

interface Learning {
  signal: AbortSignal;
  /** `steps`: of the whole lesson. */
  onStep(at: Step, step: number, steps: number): void;
}

/** The taught model's file. It holds the examples too. */
export async function learn(
  examples: readonly LabelledDrawing[],
  base: URL | Uint8Array<ArrayBuffer>,
  { signal, onStep }: Learning,
): Promise<Uint8Array<ArrayBuffer>> {
  const { teach } = await import("vitrine/train");
  const drawings = examples.map(({ label, strokes }) => ({ label, image: drawingOf(strokes) }));
  const taught = await teach(base, drawings, {
    worker: true,
    threads: threadsToTrain(),
    signal,
    onStep: (at) => onStep(at, (at.epoch - 1) * at.steps + at.step, at.epochs * at.steps),
  });
  return withKeys(taught, { examples: packExamples(examples) }) as Uint8Array<ArrayBuffer>;
}

/**
 * A file that `learn` made, here or elsewhere, or another model of drawings.
 *
 * @param photos says that a model reads photos.
 * @throws Error if it is no model, or reads no drawings.
 */
export async function readTaught(file: Blob, photos: string): Promise<Shelf> {
  const taught = new Uint8Array(await file.arrayBuffer());
  const vit = await Vit.load(taught); // it checks what a stranger's file holds
  const { classes, prepare } = vit.config;
  vit.dispose();
  if (prepare?.kind !== "digit") throw new Error(photos);
  if (classes === 0) throw new VitError("bad_config", "this model has no head, so it cannot classify");
  const examples = examplesIn(taught);
  return { taught, examples, ...(examples.length === 0 && { base: taught }) };
}

/** The drawings that a file has learnt. None in a model of another origin. */
export function examplesIn(file: Uint8Array): readonly LabelledDrawing[] {
  try {
    const { examples } = readSafetensors(file).config as { examples?: unknown };
    return (typeof examples === "string" && unpackExamples(examples)) || [];
  } catch {
    return [];
  }
}

/** How many of the examples a model reads as what they are. */
export async function countRight(vit: Vit, examples: readonly LabelledDrawing[]): Promise<number> {
  const answers = await vit.classifyAll(examples.map(({ strokes }) => drawingOf(strokes)), { topK: 1 });
  return answers.filter(({ classes }, index) => classes[0]!.label === examples[index]!.label).length;
}
