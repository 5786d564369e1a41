/** The page's side of its service worker. */

const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined; // none over http:

/** Holds a lock while this page is open, so that the files of its build stay stored. */
const build = document.querySelector<HTMLMetaElement>("meta[name=vitrine-build]")?.content;
if (build && workers) {
  const name = `vitrine ${new URL("./", location.href).href} ${build}`; // as in worker.ts
  // The listener keeps the promise and so the lock. A promise without references may be collected.
  const whileOpen = new Promise<void>((release) => {
    addEventListener("pagehide", ({ persisted }) => persisted || release());
  });
  void navigator.locks?.request(name, { mode: "shared" }, () => whileOpen);
}

/** Starts storing. Call it when the page has loaded, because storing would slow the load down. */
export async function stayForOffline(): Promise<void> {
  if (!build || !workers) return;
  workers.addEventListener("controllerchange", tellLoaded);
  tellLoaded();
  try {
    await workers.register(new URL("./sw.js", location.href));
  } catch {
    return; // forbidden, or the line is down: the page works without storing
  }
}

function tellLoaded(): void {
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  workers!.controller?.postMessage({ loaded });
}
