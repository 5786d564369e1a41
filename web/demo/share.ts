/** The drawing in a link, and over a reload. */
import type { Stroke } from "./ink.ts";
import { pack, unpack } from "./pack.ts";

const MARK = "#d=";

/** The page's address with the drawing in its fragment, which no server is sent. */
export function linkTo(strokes: Stroke[]): string | undefined {
  const packed = pack(strokes);
  return packed && location.href.replace(/#.*/, "") + MARK + packed;
}

/** Takes the drawing out of the page's address. "none" without one, "damaged" where it is no use. */
export function fromLink(): Stroke[] | "none" | "damaged" {
  if (!location.hash.startsWith(MARK)) return "none";
  const strokes = unpack(location.hash.slice(MARK.length));
  // The next stroke makes it another drawing, so the address does not keep it.
  history.replaceState(null, "", location.pathname + location.search);
  return strokes ?? "damaged";
}

/** Hands the link over, and returns what happened in words; none where the visitor gave up. */
export async function share(strokes: Stroke[]): Promise<string> {
  const link = linkTo(strokes);
  if (!link) return "This drawing is too large for a link: save its picture instead.";
  try {
    if (typeof navigator.share === "function") {
      await navigator.share({ title: document.title, url: link });
      return "Shared: the link holds the drawing.";
    }
    await navigator.clipboard.writeText(link);
    return "Link copied: it holds the drawing.";
  } catch (error) {
    if ((error as Error).name === "AbortError") return "";
    history.replaceState(null, "", link);
    return "The browser lets no page copy here. The address above now holds the drawing: copy that.";
  }
}

// Storage may be forbidden or full; the drawing then lasts as long as the page.
const KEY = "vitrine-drawing";

/** Stores the drawing when the page is left; it returns in the same tab. */
export function keepOverReload(drawing: () => Stroke[]): void {
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
}

export function kept(): Stroke[] | undefined {
  try {
    return unpack(sessionStorage.getItem(KEY) ?? "");
  } catch {
    return undefined;
  }
}
