/** Shares the drawing as a link, with its picture where the browser can pass on files. */
import { firstView } from "./link.ts";
import type { Stroke } from "./ink.ts";
import { pack } from "./pack.ts";
import { pictureFile } from "./picture.ts";
import { MARK, showLink } from "./share.ts";
import { isBlank, type State, type View } from "./state.ts";
import { thinned } from "./thin.ts";
import { allWords } from "./texts/words.ts";
import { write } from "./dom.ts";

/** Some programs cut longer addresses. */
const MOST_PACKED = 2000;
/** How far, in pad units, the ink may move: at most a fifth of the pen. */
const THINNING = [0, 0.25, 0.5, 1, 2];

/** A drawing as text for an address, thinned no more than it must be. Undefined where it is too large. */
export function packForLink(strokes: Stroke[]): string | undefined {
  for (const distance of THINNING) {
    const packed = pack(distance > 0 ? strokes.map((stroke) => thinned(stroke, distance)) : strokes);
    if (packed !== undefined && packed.length <= MOST_PACKED) return packed;
  }
  return undefined;
}

/**
 * The page's address with the drawing and the place in its fragment. Browsers send no fragment to a
 * server. Undefined where the drawing is too large.
 */
function linkTo(strokes: Stroke[], place: string): string | undefined {
  const packed = packForLink(strokes);
  return packed && location.href.replace(/#.*/, "") + MARK + packed + place;
}

const viewText = ({ map, layer, head, patch }: Omit<View, "strength">) => [map, layer, head, ...patch].join(".");

/** "&view=patch.3.mean.2.4&at=score&set=mask.causal~step.12". What is as at first is left out. */
function writeLink({ view, model, chapterChoices }: State): string {
  const changed = model && viewText(view) !== viewText(firstView(model.config));
  const chapter = currentChapter();
  const choices = [...chapterChoices].map((one) => one.join("."));
  return (changed ? `&view=${viewText(view)}` : "") + (chapter ? `&at=${chapter}` : "") +
    (choices.length > 0 ? `&set=${choices.join("~")}` : "");
}

/** The id of the chapter in the middle of the screen; undefined above the story. */
function currentChapter(): string | undefined {
  for (const chapter of document.querySelectorAll("#chapters .chapter")) {
    const { top, bottom } = chapter.getBoundingClientRect();
    if (top <= innerHeight / 2 && bottom > innerHeight / 2) return chapter.id;
  }
  return undefined;
}

/** What the browser's own sharing gets: the link, and the picture if it takes files, as those of phones do. */
async function parcelOf(url: string, picture?: () => Promise<File>): Promise<ShareData> {
  const link = { title: document.title, url };
  if (!navigator.canShare || !picture) return link;
  const parcel = { ...link, files: [await picture()] };
  return navigator.canShare(parcel) ? parcel : link;
}

/** Shares or copies the link. `word` is for the visitor; empty where the visitor gave up. `done`: it is copied. */
async function share(link: string | undefined, picture?: () => Promise<File>): Promise<{ word: string; done?: boolean }> {
  if (!link) return { word: allWords().send.large };
  try {
    if (typeof navigator.share === "function") {
      await navigator.share(await parcelOf(link, picture));
      return { word: allWords().send.shared };
    }
    await navigator.clipboard.writeText(link);
    return { word: allWords().send.copied, done: true };
  } catch (error) {
    if ((error as Error).name === "AbortError") return { word: "" };
    showLink(link);
    return { word: allWords().send.refused };
  }
}

/** Copies a text, or selects it in its element, for the visitor to copy. `say` gets a word about it. */
export async function copyText(text: string, element: Element, say: (word: string) => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(allWords().send.codeCopied);
  } catch {
    getSelection()?.selectAllChildren(element);
    say(allWords().send.codeRefused);
  }
}

/** How long the button says that the link is copied. */
const COPIED_MS = 2500;
const copied = new Map<HTMLElement, number>(); // a timer, while a button says so

/** Shares what is on the pad. @param say puts a text into the status line. */
export async function send(button: HTMLElement, state: State, say: (word: string) => void): Promise<void> {
  if (isBlank(state)) return;
  if (state.photo) return say(allWords().send.photo);
  await sendLink(button, linkTo(state.strokes, writeLink(state)), say, () => pictureFile(state));
}

/** @param link undefined where the drawing is too large for one. */
export async function sendLink(button: HTMLElement, link: string | undefined, say: (word: string) => void, picture?: () => Promise<File>): Promise<void> {
  const { word, done } = await share(link, picture);
  clearTimeout(copied.get(button));
  copied.delete(button);
  if (done) copied.set(button, window.setTimeout(() => (copied.delete(button), drawShare(button)), COPIED_MS));
  drawShare(button);
  if (word) say(word);
}

export function drawShare(button: HTMLElement): void {
  write(button, copied.has(button) ? allWords().send.codeCopied : allWords().page.share);
}
