/** Loads models and reads the drawing: the one place that changes `phase`. */
import { type Vit, VitError } from "vitrine";
import { isLongInComing } from "./line.ts";
import { addressOf, choiceIn, type ModelFile } from "./models.ts";
import { loadModel, read } from "./predict.ts";
import { inWords } from "./remedy.ts";
import type { State } from "./state.ts";
import { words } from "./texts/words.ts";

/** Whether the image is to blame. The model can read on. */
const isOfImage = (error: unknown): error is VitError =>
  error instanceof VitError && ["bad_image", "no_memory", "unsupported"].includes(error.code);

type Progress = (loaded: number, total: number) => void;

interface Page {
  redraw(): void;
  /** A model is there: the page's choices must fit it. */
  fit(): void;
  /** A reading has come. */
  answered(): void;
  /** The photo on the pad cannot be read. */
  refused(error: VitError): void;
}

export interface Reader {
  /**
   * Loads a model. The old model stays until the new one has loaded. If the load will take long, the
   * new model's light form reads in the meantime.
   */
  load(choice: ModelFile): Promise<void>;
  /** Reads the drawing if it has changed. Only one reading runs at a time; the next frame asks again. */
  readOn(): Promise<void>;
}

export function buildReader(state: State, { redraw, fit, answered, refused }: Page): Reader {
  let loading: AbortController | undefined;

  async function load(choice: ModelFile): Promise<void> {
    loading?.abort();
    const turn = (loading = new AbortController());
    if (!state.model) state.phase = "loading";
    if (state.notice?.retry) state.notice = undefined;
    const progress = (loaded: number, total: number) => {
      if (loading !== turn) return;
      state.progress = { choice, loaded, total };
      redraw();
    };
    progress(0, 0);
    const { light } = choice;
    if (light && state.choice !== light && (await isLongInComing(choice.url, choice.bytes))) {
      await fetchInto(light, turn, progress).catch(() => {}); // the whole model may still load
    }
    try {
      await fetchInto(choice, turn, progress);
    } catch (error) {
      if (loading === turn) refuse(choice, error);
    }
  }

  /** Loads a model and takes it, unless another was asked for meanwhile. */
  async function fetchInto(choice: ModelFile, turn: AbortController, progress: Progress): Promise<void> {
    let bytes = 0;
    const model = await loadModel(choice, turn.signal, (loaded, total) => {
      bytes = loaded;
      progress(loaded, total);
    });
    if (loading === turn) take(model, choice, bytes);
    else model.dispose(); // another model was asked for at the last moment
  }

  /** Replaces the model. The drawing stays; the old model's reading of it is dropped. */
  function take(model: Vit, choice: ModelFile, modelBytes: number): void {
    if (state.progress?.choice === choice) state.progress = loading = undefined; // else a light form: the whole model still loads
    state.model?.dispose();
    Object.assign(state, { phase: "idle", model, choice, modelBytes, reading: undefined, answered: -1 });
    history.replaceState(history.state, "", addressOf(choice, location.href));
    fit();
    redraw();
  }

  /** Tells that a model did not load. The old model, if any, stays in use. */
  function refuse(choice: ModelFile, error: unknown): void {
    const { choice: old } = state;
    state.progress = loading = undefined;
    if (!old) return fail("notLoaded", error, choice);
    const stays = () => (old === choice.light ? words.trouble.light : old.id);
    notice(() => words.trouble.stays(choice.id, stays()), error, choice);
  }

  function fail(what: "stopped" | "notLoaded", error: unknown, choice = choiceIn(location.href)): void {
    state.model?.dispose();
    state.phase = "idle";
    state.model = state.choice = state.reading = undefined;
    notice(() => words.trouble[what], error, choice);
  }

  function notice(what: () => string, error: unknown, choice: ModelFile): void {
    state.notice = { text: () => words.trouble.because(what(), inWords(error)), retry: () => void load(choice) };
    redraw();
  }

  async function readOn(): Promise<void> {
    const { version, model, phase, photo } = state;
    if (!model || phase === "reading" || state.answered === version) return;
    state.phase = "reading";
    try {
      const reading = await read(state);
      if (model !== state.model) return; // replaced meanwhile: the next frame asks the new model
      state.answered = version;
      if (version < state.since) return;
      state.reading = reading;
      answered();
    } catch (error) {
      if (model !== state.model) return;
      if (!photo || !isOfImage(error)) fail("stopped", error);
      else if (version === state.version) refused(error);
    } finally {
      if (model === state.model) state.phase = "idle";
      redraw();
    }
  }

  return { load, readOn };
}
