/** SIGINT and SIGTERM end the process at once, or let work stop in order first. */

/** The exit codes: 128 plus the signal's number, as in a shell. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 };

/** Work that a signal stopped. The process ends with `code`. */
export class Interrupted extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

let stopping: AbortController | undefined;

/** npx passes the terminal's signal on, so that it comes twice at once. */
const TWICE_MILLISECONDS = 1000;

/** A later signal ends the process while the work is still stopping. */
export function catchSignals(endAt: (code: number) => never): void {
  let stopped = 0;
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      if (!stopping) endAt(code);
      if (!stopping.signal.aborted) stopped = performance.now();
      else if (performance.now() - stopped > TWICE_MILLISECONDS) endAt(code);
      stopping.abort(new Interrupted(code, "interrupted"));
    });
  }
}

/** Runs work that stops in order: a signal aborts it, and the reason is an {@link Interrupted}. */
export async function stoppable<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  stopping = new AbortController();
  try {
    return await work(stopping.signal);
  } finally {
    stopping = undefined;
  }
}
