/**
 * Threads need an isolated page. On a host that does not isolate it the service worker does, but
 * only from the next load on; and that load is made at most once.
 */
import type { Stroke } from "../ink.ts";
import { state } from "../state.ts";

const TRIED = "vitrine-isolating";
const DRAWING = "vitrine-drawing";

/** @returns whether the page reloads, and keeps its drawing. */
export function isolate(): boolean {
  if (crossOriginIsolated || !navigator.serviceWorker?.controller) return false;
  try {
    if (sessionStorage.getItem(TRIED)) return false;
    sessionStorage.setItem(TRIED, "yes");
    if (!state.example) sessionStorage.setItem(DRAWING, JSON.stringify(state.strokes));
  } catch {
    return false; // storage is forbidden, or full
  }
  location.reload();
  return true;
}

/** The drawing that a reload of ours interrupted. */
export function keptDrawing(): Stroke[] | undefined {
  try {
    const kept = sessionStorage.getItem(DRAWING);
    sessionStorage.removeItem(DRAWING);
    return kept === null ? undefined : JSON.parse(kept);
  } catch {
    return undefined;
  }
}
