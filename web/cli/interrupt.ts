/** SIGINT and SIGTERM end the process at once, or let work stop cleanly first. */
import type { Host } from "./terminal.ts";

/** The exit codes: 128 plus the signal's number, as in a shell. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Work that a signal stopped. The process ends with `code`. */
export class Interrupted extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** npx passes the terminal's signal on, so that it comes twice at once. */
const TWICE_MILLISECONDS = 1000;

export class Signals {
  #stopping: AbortController | undefined;

  /** A later signal ends the process while the work is still stopping. */
  constructor(host: Host, endAt: (code: number) => void) {
    let stopped = 0;
    for (const [signal, code] of Object.entries(SIGNALS) as [keyof typeof SIGNALS, number][]) {
      host.on(signal, () => {
        if (!this.#stopping) return endAt(code);
        if (!this.#stopping.signal.aborted) stopped = performance.now();
        else if (performance.now() - stopped > TWICE_MILLISECONDS) return endAt(code);
        this.#stopping.abort(new Interrupted(code, "interrupted"));
      });
    }
  }

  /** Runs work that stops cleanly: a signal aborts it, and the reason is an {@link Interrupted}. */
  async stoppable<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    this.#stopping = new AbortController();
    try {
      return await work(this.#stopping.signal);
    } finally {
      this.#stopping = undefined;
    }
  }
}
