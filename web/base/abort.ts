/** Work to do when a signal aborts. A signal gets one listener, because Node warns of more than ten. */

interface Waiting {
  readonly works: Set<() => void>;
  readonly listener: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/** Calls `work` when the signal aborts. Returns the function that forgets it. */
export function onAbort(signal: AbortSignal, work: () => void): () => void {
  const { works, listener } = waiting.get(signal) ?? listen(signal);
  works.add(work);
  return () => {
    if (!works.delete(work) || works.size > 0) return;
    signal.removeEventListener("abort", listener);
    waiting.delete(signal);
  };
}

function listen(signal: AbortSignal): Waiting {
  const works = new Set<() => void>();
  const listener = () => works.forEach((work) => work());
  signal.addEventListener("abort", listener);
  waiting.set(signal, { works, listener });
  return { works, listener };
}
