/** The page's side of its service worker. */

const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined; // none over http:

/** While this page is open, the files of its build stay stored. */
const build = document.querySelector<HTMLMetaElement>("meta[name=vitrine-build]")?.content;
if (build && workers) {
  const name = `vitrine ${new URL("./", location.href).href} ${build}`; // as in worker.ts
  // The listener holds the promise, and so the lock: a promise that nobody holds may be collected.
  const whileOpen = new Promise<void>((release) => {
    addEventListener("pagehide", ({ persisted }) => persisted || release());
  });
  void navigator.locks?.request(name, { mode: "shared" }, () => whileOpen);
}

/** Once the page has what it needs: storing must not slow its own loading down. */
export async function stayForOffline(): Promise<void> {
  if (!build || !workers) return;
  workers.addEventListener("controllerchange", tellLoaded);
  tellLoaded();
  try {
    await workers.register(new URL("./sw.js", location.href));
  } catch {
    return; // forbidden, or the line is down: the page works as it is
  }
}

function tellLoaded(): void {
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  workers!.controller?.postMessage({ loaded });
}
