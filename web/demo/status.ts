import { withRemedy } from "./remedy.ts";
import type { Notice, State } from "./state.ts";
import { decimal, words } from "./texts/words.ts";
import { write } from "./write.ts";

/** 1001080 → "1001 kB", 346000000 → "346 MB". */
export function size(bytes: number): string {
  return bytes < 1e7
    ? words.status.kilobytes(decimal(bytes / 1000, 0))
    : words.status.megabytes(decimal(bytes / 1e6, 0));
}

/** @param local: the file is the visitor's own, and is not fetched. */
export function showProgress(parent: HTMLElement, loaded: number, total: number, local = false): void {
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
  const { fetching, fetchingOf, opening } = words.status;
  parent.lastElementChild!.textContent =
    local ? opening(size(loaded)) : total > 0 ? fetchingOf(size(loaded), size(total)) : fetching(size(loaded));
}

/** The times of the model's last predictions. The page shows their median, which hardly moves. */
let timed: State["model"];
let times: number[] = [];
let counted: State["reading"];

/** The median time of a prediction; undefined until one is warm, because the first takes longer. */
function median({ model, reading }: State): number | undefined {
  if (timed !== model) times = [];
  else if (reading && reading !== counted && counted) times.push(reading.result.milliseconds);
  [timed, counted] = [model, reading ?? (timed === model ? counted : undefined)];
  if (times.length > 31) times.shift();
  return times.toSorted((a, b) => a - b)[times.length >> 1];
}

let said: { notice: Notice; text: string } | undefined;

/** What the page has to say: how far a load is, a notice, or the speed. */
export function drawStatus(parent: HTMLElement, state: State): void {
  const { progress, notice, model } = state, text = notice?.text() ?? "";
  const time = median(state);
  if (progress) showProgress(parent, progress.loaded, progress.total);
  else if (notice && said?.notice === notice && said.text === text) return; // said again, it would be read out again
  else if (notice?.retry) showError(parent, text, notice.retry);
  else if (notice) showWord(parent, text);
  else if (model) {
    parent.className = "ready";
    parent.setAttribute("role", "none"); // changes with every frame: nothing to read out
    write(parent, time === undefined ? words.status.ready : words.status.time(decimal(time, time < 10 ? 1 : 0)));
  }
  said = notice && !progress ? { notice, text } : undefined;
}

/** Shows what a button has done, or what was wrong with a link. */
function showWord(parent: HTMLElement, word: string): void {
  parent.className = "ready";
  void parent.offsetWidth; // the same word again is shown anew
  parent.classList.add("word");
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
