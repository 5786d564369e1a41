/** What a tab says below its pad or its files, and how it says errors. */
import { VitError } from "vitrine";
import { button, h, write } from "./dom.ts";
import { medianTime, type Notice, type Store } from "./reader.ts";
import { decimal, words } from "./texts/words.ts";

/** 1001080 → "1001 kB", 346000000 → "346 MB". */
export function size(bytes: number): string {
  return bytes < 1e7
    ? words.status.kilobytes({ count: decimal(bytes / 1000, 0) })
    : words.status.megabytes({ count: decimal(bytes / 1e6, 0) });
}

/** How far a load is. @param local: the file is the visitor's own, and is not fetched. */
function showProgress(parent: HTMLElement, loaded: number, total: number, local: boolean): void {
  let bar = parent.querySelector("progress");
  if (!bar) {
    bar = h("progress");
    parent.className = "loading";
    parent.role = "status";
    parent.replaceChildren(bar, h("span"));
  }
  if (total > 0) {
    bar.max = total;
    bar.value = loaded;
  }
  const { fetching, fetchingOf, opening } = words.status;
  write(parent.lastElementChild!,
    local ? opening({ size: size(loaded) }) : total > 0 ? fetchingOf({ loaded: size(loaded), total: size(total) }) : fetching({ loaded: size(loaded) }));
}

const lastNotices = new WeakMap<HTMLElement, { notice: Notice; text: string }>();

/** What a tab has to say: how far a load is, or a notice. Returns whether there is any of them. */
export function drawNotice(parent: HTMLElement, { progress, notice }: Store<unknown>, local = false): boolean {
  const text = notice?.text() ?? "", last = lastNotices.get(parent);
  lastNotices.delete(parent);
  if (progress) showProgress(parent, progress.loaded, progress.total, local);
  else if (notice) {
    lastNotices.set(parent, { notice, text });
    if (last?.notice === notice && last.text === text) return true; // said again, it would be read out again
    if (notice.kind === "failed") showError(parent, text, notice.retry);
    else showWord(parent, text, notice.kind);
  }
  return (progress ?? notice) !== undefined;
}

/** The status line of a tab for drawing: a load, a notice, or the speed. */
export function drawStatus(parent: HTMLElement, state: Store<unknown>): void {
  if (drawNotice(parent, state) || !state.model) return;
  const time = medianTime(state);
  parent.className = "ready";
  parent.role = "none"; // changes with every frame: nothing to read out
  write(parent, time === undefined ? words.status.ready : words.status.time({ milliseconds: decimal(time, time < 10 ? 1 : 0) }));
}

/** Shows what a button has done, what was wrong with a link, or what is asked. */
function showWord(parent: HTMLElement, word: string, kind: "asking" | "ready" = "ready"): void {
  parent.className = kind;
  void parent.offsetWidth; // the same word again is shown anew
  parent.classList.add("word");
  parent.role = kind === "asking" ? "alert" : "status";
  parent.textContent = word;
}

export function showError(parent: HTMLElement, message: string, retry?: () => void): void {
  parent.className = "failed";
  parent.role = "alert";
  parent.replaceChildren(h("span", {}, message));
  if (retry) parent.append(button(words.status.retry, retry, { id: parent.id.replace("status", "retry"), className: "plain" }));
}

/** Says that a part of the page did not load. A reload tries again, and keeps the drawing. */
export const showMissing = (parent: HTMLElement): void =>
  showError(parent, withRemedy(words.trouble.story), () => location.reload());

/** What did not load, with advice for the visitor. */
export const withRemedy = (what: string): string => words.trouble.remedied({ what, remedy: words.trouble.remedy });

/** An error's text for visitors: without addresses, and with advice. The package's own are English. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!isOfLine(error)) return error.message.replaceAll(/\bhttps?:\/\/\S*[^\s;,.)]/g, words.trouble.server);
  const status = /expected 200 OK .* got (\d{3})/.exec(error.message)?.[1];
  const what = status ? words.trouble.answered({ status }) : words.trouble.broken;
  return withRemedy(what);
}

/** Undefined where the model found no ink. */
export async function unlessBlank<Answer>(answer: PromiseLike<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof VitError && error.code === "blank_image") return undefined;
    throw error;
  }
}

/** Whether the line or the host caused the error, so that trying again may help. */
export const isOfLine = (error: unknown): boolean =>
  error instanceof VitError && error.code === "network";
