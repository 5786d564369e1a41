/** Takes the drawing out of a link, and keeps it over a reload. */
import { type LinkState, readLink } from "./link.ts";
import type { Stroke } from "./ink.ts";
import { pack, unpack } from "./pack.ts";
import { store, stored } from "./storage.ts";

export const MARK = "#d=";

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
  const older = history.state === OURS && stored(KEY, "sessionStorage");
  dropLink(); // the address does not keep the drawing, because the next stroke changes it
  if (older) return "none";
  const strokes = unpack(fragment.get("d") ?? "");
  return strokes ? { strokes, ...readLink(fragment) } : "damaged";
}

const KEY = "vitrine-drawing";
/** Room for thousands of strokes in a storage of millions of characters. */
const MOST_CHARACTERS = 1_000_000;

/**
 * Keeps the drawing in the tab when the page is left. Call what it returns after each change too: the
 * next load may be in another process, and begin before this page has heard that it is left.
 */
export function keepOverReload(drawing: () => Stroke[], key = KEY): () => void {
  const keep = () => store(key, pack(drawing(), MOST_CHARACTERS) ?? "", "sessionStorage");
  addEventListener("pagehide", keep);
  document.addEventListener("visibilitychange", () => document.hidden && keep());
  return () => {
    dropLink();
    keep();
  };
}

export const restoreDrawing = (key = KEY): Stroke[] | undefined => unpack(stored(key, "sessionStorage") ?? "", MOST_CHARACTERS);
