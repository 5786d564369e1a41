/** Threads for a model: one where the page is not isolated. WebKitGTK can isolate a page and still have no shared memory. */
export const threadsUpTo = (most: number): number =>
  crossOriginIsolated && typeof SharedArrayBuffer === "function" ? Math.min(most, navigator.hardwareConcurrency) : 1;

/** The threads of each training, where so many train at a time. */
export const threadsToTrain = (trainings = 1): number => Math.max(1, Math.floor(threadsUpTo(4) / trainings));
