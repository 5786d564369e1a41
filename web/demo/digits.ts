/** The first tab's model and what it reads: the drawing or the photo on the pad. */
import { Vit, VitError } from "vitrine";
import { drawingOf } from "./ink.ts";
import { isLongInComing } from "./line.ts";
import { addressOf, choiceIn, type ModelFile } from "./models.ts";
import { onPad } from "./photo.ts";
import { buildReader, type Loading, takeAnswer } from "./reader.ts";
import { inWords, unlessBlank } from "./status.ts";
import type { Reading, State } from "./state.ts";
import { words } from "./texts/words.ts";

interface Page {
  redraw(): void;
  /** A model is there: the page's choices must fit it. */
  fit(): void;
  answered(): void;
  /** The photo on the pad cannot be read. */
  refused(error: VitError): void;
}

export function buildDigitReader(state: State, { redraw, fit, answered, refused }: Page) {
  /** Without the model, nothing is read until a retry. */
  function stop(what: "stopped" | "notLoaded", error: unknown, choice = choiceIn(location.href)): void {
    state.model?.dispose();
    state.model = state.choice = state.reading = undefined;
    notice(() => words.trouble[what], error, choice);
  }

  function notice(what: () => string, error: unknown, choice: ModelFile): void {
    state.notice = { text: () => words.trouble.because({ what: what(), why: inWords(error) }), kind: "failed", retry: () => void reader.load(choice) };
  }

  const reader = buildReader<ModelFile, Loaded, Reading>(state, {
    open: (choice, loading) => open(choice, state.choice, loading),
    took({ choice, bytes }) {
      Object.assign(state, { choice, modelBytes: bytes, answered: -1 });
      history.replaceState(history.state, "", addressOf(choice, location.href));
      fit();
    },
    refused(choice, error) {
      const { choice: old } = state;
      if (!old) return stop("notLoaded", error, choice);
      const stays = () => (old === choice.light ? words.trouble.light : old.id);
      notice(() => words.trouble.stays({ wanted: choice.id, old: stays() }), error, choice);
    },
    isStale: () => state.answered !== state.version,
    read: () => read(state),
    answered(reading, version) {
      if (takeAnswer(state, reading, version)) answered();
    },
    stopped(error, version) {
      const isOver = version !== state.version; // another drawing or photo is on the pad
      if (!isOfImage(error) || (!state.photo && !isOver)) return stop("stopped", error);
      state.answered = version;
      if (!isOver) refused(error);
    },
    redraw,
  });
  return reader;
}

interface Loaded {
  model: Vit;
  choice: ModelFile;
  bytes: number;
}

/** Loads a model, in the page's own thread, because a worker's start takes longer than a digit. */
async function load(choice: ModelFile, { signal, onProgress }: Loading): Promise<Loaded> {
  let bytes = 0;
  const model = await Vit.load(choice.own?.file ?? new URL(choice.url, document.baseURI), {
    signal,
    onProgress(loaded, total) {
      bytes = loaded;
      onProgress(loaded, total || choice.bytes);
    },
  });
  return { model, choice, bytes };
}

/** A model, and if that takes long, its light form before it. */
async function* open(choice: ModelFile, current: ModelFile | undefined, loading: Loading): AsyncGenerator<Loaded> {
  const { light } = choice;
  if (light && current !== light && (await isLongInComing(choice.url, choice.bytes))) {
    const early = await load(light, loading).catch(() => undefined); // the whole model may still load
    if (early) yield early;
  }
  yield await load(choice, loading);
}

/** Reads the drawing or the photo as it is now; undefined where there is no ink. */
async function read({ model, strokes, photo, unfinished, version }: State): Promise<Reading | undefined> {
  const result = await unlessBlank(model!.classify(photo?.file ?? drawingOf(strokes, unfinished), { attention: true }));
  if (result && photo) result.placement = onPad(photo, result.placement);
  return result && { result, version, unfinished };
}

/** Whether the image is to blame. The model can read on. */
const isOfImage = (error: unknown): error is VitError =>
  error instanceof VitError && ["bad_image", "no_memory", "unsupported"].includes(error.code);
