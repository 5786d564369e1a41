/** Puts the drawing into a link, and keeps it over a reload. */
import { type LinkState, readLink, writeLink } from "./link.ts";
import type { Stroke } from "./ink.ts";
import { pack, unpack } from "./pack.ts";
import { isBlank, type State } from "./state.ts";
import { thinned } from "./thin.ts";
import { words } from "./texts/words.ts";
import { write } from "./write.ts";

const MARK = "#d=";

/** Some programs cut longer addresses. */
const MOST_PACKED = 2000;
/** How far, in pad units, the ink may move: at most a fifth of the pen. */
const THINNING = [0, 0.25, 0.5, 1, 2];

/** A drawing as text for an address, thinned no more than it must be. Undefined where it is too large. */
function packForLink(strokes: Stroke[]): string | undefined {
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
export function linkTo(strokes: Stroke[], place: string): string | undefined {
  const packed = packForLink(strokes);
  return packed && location.href.replace(/#.*/, "") + MARK + packed + place;
}

/** Marks the entries of the browser's history whose link is this tab's own: what the tab keeps is newer. */
const OURS = "shown";

/** Puts a link into the address, for the visitor to copy, until the drawing changes. */
export const showLink = (link: string): void => history.replaceState(OURS, "", link);

function dropLink(): void {
  if (location.hash.startsWith(MARK)) history.replaceState(null, "", location.pathname + location.search);
}

/** Takes drawing and place out of the address: "none" without a drawing, "damaged" if it is unreadable. */
export function fromLink(): (LinkState & { strokes: Stroke[] }) | "none" | "damaged" {
  if (!location.hash.startsWith(MARK)) return "none";
  const fragment = new URLSearchParams(location.hash.slice(1));
  const older = history.state === OURS && stored() !== null;
  dropLink(); // the address does not keep the drawing, because the next stroke changes it
  if (older) return "none";
  const strokes = unpack(fragment.get("d") ?? "");
  return strokes ? { strokes, ...readLink(fragment) } : "damaged";
}

/** Shares or copies the link. `word` is for the visitor; empty where the visitor gave up. `done`: it is copied. */
async function share(strokes: Stroke[], place: string): Promise<{ word: string; done?: boolean }> {
  const link = linkTo(strokes, place);
  if (!link) return { word: words.share.large };
  try {
    if (typeof navigator.share === "function") {
      await navigator.share({ title: document.title, url: link });
      return { word: words.share.shared };
    }
    await navigator.clipboard.writeText(link);
    return { word: words.share.copied, done: true };
  } catch (error) {
    if ((error as Error).name === "AbortError") return { word: "" };
    showLink(link);
    return { word: words.share.refused };
  }
}

/** How long the button says that the link is copied. */
const COPIED_MS = 2500;
let copied = 0; // a timer, while it says so

/** @param say puts a text into the status line. */
export function listenToShare(button: HTMLElement, state: State, say: (word: string) => void): void {
  button.addEventListener("click", async () => {
    if (isBlank(state)) return;
    if (state.photo) return say(words.share.photo);
    const { word, done } = await share(state.strokes, writeLink(state));
    clearTimeout(copied);
    copied = done ? window.setTimeout(() => ((copied = 0), drawShare(button, state)), COPIED_MS) : 0;
    drawShare(button, state);
    if (word) say(word);
  });
}

export function drawShare(button: HTMLElement, state: State): void {
  button.ariaDisabled = String(isBlank(state)); // not `disabled`: see main.ts
  write(button, copied ? words.share.codeCopied : words.share.share);
}

// Storage may be forbidden or full; the drawing then lasts as long as the page.
const KEY = "vitrine-drawing";
/** Room for thousands of strokes in a storage of millions of characters. */
const MOST_KEPT = 1_000_000;

/**
 * Keeps the drawing in the tab when the page is left. Call what it returns after each change too: the
 * next load may be in another process, and begin before this page has heard that it is left.
 */
export function keepOverReload(drawing: () => Stroke[]): () => void {
  const keep = () => {
    const packed = pack(drawing(), MOST_KEPT);
    try {
      if (packed) sessionStorage.setItem(KEY, packed);
      else sessionStorage.removeItem(KEY);
    } catch {
      return;
    }
  };
  addEventListener("pagehide", keep);
  document.addEventListener("visibilitychange", () => document.hidden && keep());
  return () => {
    dropLink();
    keep();
  };
}

/** What the tab keeps, as text: also of a blank pad. Null where nothing is kept. */
function stored(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export const kept = (): Stroke[] | undefined => unpack(stored() ?? "", MOST_KEPT);
