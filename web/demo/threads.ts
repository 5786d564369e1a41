/** Threads for training. Only an isolated page may have some, and not in every build of WebKitGTK. */
const MOST = 4;

/** The threads of each training, where so many train at a time. */
export const threadsToTrain = (trainings = 1): number =>
  crossOriginIsolated && typeof SharedArrayBuffer === "function" ?
    Math.max(1, Math.floor(Math.min(MOST, navigator.hardwareConcurrency) / trainings)) : 1;
