import { withRemedy } from "./remedy.ts";
import type { State } from "./state.ts";
import { decimal, words } from "./texts/words.ts";
import { write } from "./write.ts";

/** 1001080 → "1001 kB", 346000000 → "346 MB". */
export function size(bytes: number): string {
  return bytes < 1e7
    ? words.status.kilobytes(decimal(bytes / 1000, 0))
    : words.status.megabytes(decimal(bytes / 1e6, 0));
}

export function showProgress(parent: HTMLElement, loaded: number, total: number): void {
  let bar = parent.querySelector("progress");
  if (!bar) {
    bar = document.createElement("progress");
    parent.className = "loading";
    parent.setAttribute("role", "status");
    parent.replaceChildren(bar, document.createElement("span"));
  }
  if (total > 0) {
    bar.max = total;
    bar.value = loaded;
  }
  parent.lastElementChild!.textContent =
    total > 0
      ? words.status.fetchingOf(size(loaded), size(total))
      : words.status.fetching(size(loaded));
}

/** The times of the model's last predictions. The page shows their median, which hardly moves. */
let timed: State["model"];
let times: number[] = [];

export function showReady(parent: HTMLElement, state: State): void {
  const { model, modelBytes, reading } = state;
  if (!model) return;
  if (timed !== model) times = [];
  timed = model;
  if (reading) times.push(reading.result.milliseconds);
  if (times.length > 31) times.shift();
  const median = times.toSorted((a, b) => a - b)[times.length >> 1];
  const facts = [
    median === undefined
      ? words.status.ready
      : words.status.time(decimal(median, median < 10 ? 2 : 0)),
    model.variant,
    words.status.weights(size(modelBytes)),
  ];
  parent.className = "ready";
  parent.setAttribute("role", "none"); // changes with every frame: nothing to read out
  write(parent, facts.join(" · "));
}

/** Shows what a button has done, or what was wrong with a link. */
export function showWord(parent: HTMLElement, word: string): void {
  parent.className = "ready";
  parent.setAttribute("role", "status");
  parent.textContent = word;
}

export function showError(parent: HTMLElement, message: string, retry?: () => void): void {
  const text = document.createElement("span");
  text.textContent = message;
  parent.className = "failed";
  parent.setAttribute("role", "alert");
  parent.replaceChildren(text);
  if (!retry) return;
  const button = document.createElement("button");
  button.id = parent.id.replace("status", "retry");
  button.className = "plain";
  button.type = "button";
  button.textContent = words.status.retry;
  button.addEventListener("click", retry);
  parent.append(button);
}

/** Says that a part of the page did not load. A reload tries again, and keeps the drawing. */
export const showMissing = (parent: HTMLElement): void =>
  showError(parent, withRemedy(words.trouble.story), () => location.reload());
