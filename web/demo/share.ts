/** Puts the drawing into a link, and keeps it over a reload. */
import type { Stroke } from "./ink.ts";
import { pack, unpack } from "./pack.ts";
import { words } from "./texts/words.ts";

const MARK = "#d=";

/** The page's address with the drawing in its fragment. Browsers send no fragment to a server. */
export function linkTo(strokes: Stroke[]): string | undefined {
  const packed = pack(strokes);
  return packed && location.href.replace(/#.*/, "") + MARK + packed;
}

/** Takes the drawing out of the address: "none" without one, "damaged" if it is unreadable. */
export function fromLink(): Stroke[] | "none" | "damaged" {
  if (!location.hash.startsWith(MARK)) return "none";
  const strokes = unpack(location.hash.slice(MARK.length));
  // The address does not keep the drawing, because the next stroke changes it.
  history.replaceState(null, "", location.pathname + location.search);
  return strokes ?? "damaged";
}

/** Shares or copies the link. Returns a text for the visitor; empty where the visitor gave up. */
export async function share(strokes: Stroke[]): Promise<string> {
  const link = linkTo(strokes);
  if (!link) return words.share.large;
  try {
    if (typeof navigator.share === "function") {
      await navigator.share({ title: document.title, url: link });
      return words.share.shared;
    }
    await navigator.clipboard.writeText(link);
    return words.share.copied;
  } catch (error) {
    if ((error as Error).name === "AbortError") return "";
    history.replaceState(null, "", link);
    return words.share.refused;
  }
}

// Storage may be forbidden or full; the drawing then lasts as long as the page.
const KEY = "vitrine-drawing";

/**
 * Keeps the drawing in the tab when the page is left. Call what it returns after each stroke too: the
 * next load may be in another process, and begin before this page has heard that it is left.
 */
export function keepOverReload(drawing: () => Stroke[]): () => void {
  const keep = () => {
    const strokes = drawing();
    const packed = strokes.length > 0 && pack(strokes);
    try {
      if (packed) sessionStorage.setItem(KEY, packed);
      else sessionStorage.removeItem(KEY);
    } catch {
      return;
    }
  };
  addEventListener("pagehide", keep);
  document.addEventListener("visibilitychange", () => document.hidden && keep());
  return keep;
}

export function kept(): Stroke[] | undefined {
  try {
    return unpack(sessionStorage.getItem(KEY) ?? "");
  } catch {
    return undefined;
  }
}
