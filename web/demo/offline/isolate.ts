/**
 * Threads need an isolated page. Where the host does not isolate the page, the service worker does,
 * but only from the next load on. So the page reloads itself, at most once.
 */
const TRIED = "vitrine-isolating";

/** @returns whether the page reloads. The drawing survives this (share.ts). */
export function isolate(): boolean {
  if (crossOriginIsolated || !navigator.serviceWorker?.controller) return false;
  try {
    if (sessionStorage.getItem(TRIED)) return false;
    sessionStorage.setItem(TRIED, "yes");
  } catch {
    return false; // storage is forbidden or full
  }
  location.reload();
  return true;
}
