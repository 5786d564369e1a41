/** The number on the pad, the model that writes it in words, and what it wrote: for the third tab and for the story's chapter. */
import { type ReadResult, Vit } from "vitrine";
import numbers from "../../../weights/numbers.safetensors?url";
import { inNextFrame } from "../dom.ts";
import { drawingOf, type Stroke } from "../ink.ts";
import type { ModelFile } from "../models.ts";
import { buildReader, takeAnswer } from "../reader.ts";
import { inWords, unlessBlank } from "../status.ts";
import { blankPad, type Pad, type Read } from "../state.ts";
import { words } from "../texts/words.ts";
import { ACROSS } from "./examples.ts";
import { type Language, type Word, wordsOf } from "./languages.ts";

const NUMBERS: ModelFile = { id: "numbers", url: numbers, bytes: WEIGHTS_BYTES.numbers };

export interface Reading extends Read<ReadResult> {
  language: Language;
  words: Word[];
  maps: Float32Array[]; // of each word: where the model looked, over the grid in row order
}

type State = Pad<Reading> & { language: Language };
export const state: State = { ...blankPad(), language: "en" };

const listeners = new Set<() => void>();
let answerListener: (reading: Reading | undefined) => void = () => {};

/** Calls `draw` in the next frame after each change. What it returns ends that. */
export function onChange(draw: () => void): () => void {
  listeners.add(draw);
  return () => void listeners.delete(draw);
}
/** Calls `tell` with each answer to the drawing as it is now. */
export const onAnswer = (tell: typeof answerListener): void => void (answerListener = tell);

export const redraw = inNextFrame(() => {
  for (const draw of listeners) draw();
  void reader.readOn();
});

const reader = buildReader<ModelFile, { model: Vit }, Reading>(state, {
  async *open({ url, bytes }, { signal, onProgress }) {
    const progress = (loaded: number, total: number) => onProgress(loaded, total || bytes);
    yield { model: await Vit.load(new URL(url, document.baseURI), { signal, onProgress: progress, worker: true }) }; // a number takes longer than a frame
  },
  took() {
    state.answered = -1;
  },
  refused: (_, error) => stop("notLoaded", error),
  isStale: () => state.answered !== state.version,
  read: () => read(state),
  answered(reading, version) {
    if (takeAnswer(state, reading, version)) answerListener(reading);
  },
  stopped: (error) => stop("stopped", error),
  redraw,
});

let loading: Promise<void> | undefined;

/** The model, which is loaded once. After a failure the next call tries again. */
export async function loaded(): Promise<Vit> {
  if (!state.model) await (loading ??= reader.load(NUMBERS).finally(() => (loading = undefined)));
  if (state.model) return state.model;
  throw new Error(state.notice?.text());
}

/** The same where the status line says what failed. */
export const load = (): void => void loaded().catch(() => {});

function stop(what: "stopped" | "notLoaded", error: unknown): void {
  state.model?.dispose();
  state.model = state.reading = undefined;
  state.notice = { text: () => words.trouble.because({ what: words.trouble[what], why: inWords(error) }), kind: "failed", retry: load };
}

async function read({ model, strokes, unfinished, version, language }: State): Promise<Reading | undefined> {
  const result = await write(model!, strokes, language, unfinished);
  if (!result) return undefined;
  const words = wordsOf(result), maps = words.map(({ token }) => result.attention!.fromToken(token));
  return { result, version, unfinished, language, words, maps };
}

/** What the library takes as an image. */
export const imageOf = (strokes: Stroke[], unfinished = false) => drawingOf(strokes, unfinished, ACROSS);

/** What a model writes of strokes in a language; undefined where there is no ink. */
export const write = (model: Vit, strokes: Stroke[], language: Language, unfinished = false): Promise<ReadResult | undefined> =>
  unlessBlank(model.read(imageOf(strokes, unfinished), { start: language, beams: 1, attention: true }));
