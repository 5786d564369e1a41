/** Trains a model on the visitor's examples, in a worker. */
import { Vit } from "vitrine";
import type { Step } from "vitrine/train";
import { readSafetensors, withKeys } from "../../../base/safetensors.mjs";
import type { LabelledDrawing } from "../../../train/handwriting.ts";
import { drawingOf } from "../../ink.ts";
import { threadsToTrain } from "../threads.ts";
import { packExamples, unpackExamples } from "./text.ts";
import type { Shelf } from "./shelf.ts";

export interface Learning {
  signal: AbortSignal;
  /** `steps`: of the whole lesson. */
  onStep(at: Step, step: number, steps: number): void;
}

/** The taught model's file. It holds the examples too. */
export async function learn(
  examples: readonly LabelledDrawing[],
  file: string,
  { signal, onStep }: Learning,
): Promise<Uint8Array<ArrayBuffer>> {
  const { teach } = await import("vitrine/train");
  const drawings = examples.map(({ label, strokes }) => ({ label, image: drawingOf(strokes) }));
  const taught = await teach(new URL(file, document.baseURI), drawings, {
    worker: true,
    threads: threadsToTrain(),
    signal,
    onStep: (at) => onStep(at, (at.epoch - 1) * at.steps + at.step, at.epochs * at.steps),
  });
  return withKeys(taught, { examples: packExamples(examples) }) as Uint8Array<ArrayBuffer>;
}

/** All classes after the lesson: the model's own, then the new ones in the order of their first example. */
export const labelsAfter = (own: readonly string[], examples: readonly LabelledDrawing[]): string[] =>
  [...new Set([...own, ...examples.map(({ label }) => label)])];

/** A file that `learn` made, here or elsewhere. @throws VitError if it is no model. */
export async function readTaught(file: Blob): Promise<Shelf> {
  const taught = new Uint8Array(await file.arrayBuffer());
  (await Vit.load(taught)).dispose(); // it checks what a stranger's file holds
  return { taught, examples: examplesIn(taught) };
}

function examplesIn(file: Uint8Array): readonly LabelledDrawing[] {
  try {
    const { examples } = readSafetensors(file).config as { examples?: unknown };
    return (typeof examples === "string" && unpackExamples(examples)) || [];
  } catch {
    return []; // a model of another origin can be read all the same
  }
}

/** How many of the examples a model reads as what they are. */
export async function countRight(vit: Vit, examples: readonly LabelledDrawing[]): Promise<number> {
  const answers = await vit.classifyAll(examples.map(({ strokes }) => drawingOf(strokes)), { topK: 1 });
  return answers.filter(({ classes }, index) => classes[0]!.label === examples[index]!.label).length;
}
