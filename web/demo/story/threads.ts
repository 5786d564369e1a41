/** Threads for training. Only an isolated page may have some. */
const MOST = 4;

export const threadsToTrain = (): number => (crossOriginIsolated ? Math.min(MOST, navigator.hardwareConcurrency) : 1);
