/** Loads a model and reads with it, one of each at a time: what each tab does. It alone changes `phase`. */
import type { Vit } from "vitrine";

/** "loading": there is no model yet; "reading": the model is at work; "idle": it waits, or there is none. */
export type Phase = "loading" | "idle" | "reading";

/** What the status line says until the visitor goes on. */
export interface Notice {
  text: () => string; // in the language of the time
  kind?: "failed" | "asking"; // an error, or a question; otherwise a word
  retry?: () => void;
}

export interface Store<Reading, LoadRequest = unknown> {
  phase: Phase;
  progress?: { request: LoadRequest; loaded: number; total: number }; // of a model that loads, also beside one that reads
  notice?: Notice;
  model?: Vit;
  reading?: Reading;
  times: number[]; // of the model's last runs, in milliseconds
  version: number; // grows with every change of what is read
}

/** The most runs that a median is of. It hardly moves. */
const MOST_TIMES = 31;

export function addTime(store: Store<unknown>, milliseconds: number): void {
  store.times = [...store.times, milliseconds].slice(-MOST_TIMES);
}

/** Keeps what a model read of a drawing. Returns whether no other drawing has taken that one's place. */
export function takeAnswer<Reading extends { result: { milliseconds: number } }>(
  store: Store<Reading> & { answered: number; since: number }, reading: Reading | undefined, version: number): boolean {
  store.answered = version;
  if (reading) addTime(store, reading.result.milliseconds);
  const isOfThis = version >= store.since;
  if (isOfThis) store.reading = reading;
  return isOfThis;
}

/** The median time of a run; undefined until one is warm, because the first takes longer. */
export const medianTime = ({ times }: Store<unknown>): number | undefined => medianOf(times.slice(1));
export const medianOf = (times: readonly number[]): number | undefined => times.toSorted((a, b) => a - b)[times.length >> 1];

export interface Loading {
  signal: AbortSignal;
  onProgress(loaded: number, total: number): void;
}

/** What a tab loads and reads, and what it does with that. */
interface Tab<LoadRequest, Loaded, Reading> {
  /** Gives the model; a light form of it may come before. */
  open(request: LoadRequest, loading: Loading): AsyncIterable<Loaded>;
  /** The model is there, and the old one's reading is not. */
  took(loaded: Loaded): void;
  /** The model did not load. The old one, if any, stays in use. */
  refused(request: LoadRequest, error: unknown): void;
  isStale(): boolean;
  read(model: Vit): Promise<Reading | undefined>;
  /** @param version what was read. */
  answered(reading: Reading | undefined, version: number): void;
  stopped(error: unknown, version: number): void;
  redraw(): void;
}

export function buildReader<LoadRequest, Loaded extends { model: Vit }, Reading>(store: Store<Reading, LoadRequest>, tab: Tab<LoadRequest, Loaded, Reading>) {
  let loading: AbortController | undefined;

  function take(loaded: Loaded): void {
    store.model?.dispose();
    Object.assign(store, { phase: "idle", model: loaded.model, reading: undefined, times: [] });
    tab.took(loaded);
    tab.redraw();
  }

  /** Loads a model. The old model stays until the new one has loaded. */
  async function load(request: LoadRequest): Promise<void> {
    loading?.abort();
    const turn = (loading = new AbortController());
    if (!store.model) store.phase = "loading";
    const onProgress = (loaded: number, total: number) => {
      if (loading !== turn) return;
      if (store.notice?.kind) store.notice = undefined;
      store.progress = { request, loaded, total };
      tab.redraw();
    };
    onProgress(0, 0);
    try {
      for await (const loaded of tab.open(request, { signal: turn.signal, onProgress })) {
        if (loading !== turn) return loaded.model.dispose(); // another was asked for at the last moment
        take(loaded);
      }
      if (loading === turn) loading = store.progress = undefined;
    } catch (error) {
      if (loading !== turn) return;
      loading = store.progress = undefined;
      if (!store.model) store.phase = "idle";
      tab.refused(request, error);
    }
    tab.redraw();
  }

  /** Reads what has changed. Only one reading runs at a time; the next frame asks again. */
  async function readOn(): Promise<void> {
    const { version, model, phase } = store;
    if (!model || phase === "reading" || !tab.isStale()) return;
    store.phase = "reading";
    try {
      const reading = await tab.read(model);
      if (model === store.model) tab.answered(reading, version);
    } catch (error) {
      if (model === store.model) tab.stopped(error, version);
    } finally {
      if (model === store.model || !store.model) store.phase = "idle"; // else another model has replaced it
      tab.redraw();
    }
  }

  return { load, readOn, get isLoading() { return loading !== undefined; } };
}
