/**
 * Threads need an isolated page. On a host that does not isolate it the service worker does, but
 * only from the next load on; and that load is made at most once.
 */
const TRIED = "vitrine-isolating";

/** @returns whether the page reloads; the drawing is kept (share.ts). */
export function isolate(): boolean {
  if (crossOriginIsolated || !navigator.serviceWorker?.controller) return false;
  try {
    if (sessionStorage.getItem(TRIED)) return false;
    sessionStorage.setItem(TRIED, "yes");
  } catch {
    return false; // storage is forbidden, or full
  }
  location.reload();
  return true;
}
