/**
 * Threads need an isolated page. Where the host does not isolate the page, the service worker does,
 * but only from the next load on. So the page reloads itself, at most once.
 */
import { store, stored } from "../storage.ts";

const TRIED = "vitrine-isolating";

/** @returns whether the page reloads. The drawing survives this (share.ts). */
export function isolate(): boolean {
  if (crossOriginIsolated || !navigator.serviceWorker?.controller) return false;
  if (stored(TRIED, "sessionStorage") || !store(TRIED, "yes", "sessionStorage")) return false;
  location.reload();
  return true;
}
