/** Work to do when a signal aborts. A signal gets one listener, because Node warns of more than ten. */

interface Subscription {
  readonly works: Set<() => void>;
  readonly listener: () => void;
}

const subscriptions = new WeakMap<AbortSignal, Subscription>();

/** Calls `work` when the signal aborts. Returns the function that forgets it. */
export function onAbort(signal: AbortSignal, work: () => void): () => void {
  const { works, listener } = subscriptions.get(signal) ?? listen(signal);
  works.add(work);
  return () => {
    if (!works.delete(work) || works.size > 0) return;
    signal.removeEventListener("abort", listener);
    subscriptions.delete(signal);
  };
}

function listen(signal: AbortSignal): Subscription {
  const works = new Set<() => void>();
  const listener = () => works.forEach((work) => work());
  signal.addEventListener("abort", listener);
  subscriptions.set(signal, { works, listener });
  return { works, listener };
}
