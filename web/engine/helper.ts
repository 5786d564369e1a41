/** Threads of the module, as src/wasm/team.c has them: a leader, and helpers in other threads. */
import type { Heap } from "./heap.js";
import { type HeapExports, instantiate, type ThreadExports } from "./instance.js";

/** An instance in another thread that works for a leader's instance. */
export class Helper {
  readonly #exports: ThreadExports;

  /** @param names the functions that the module must have. */
  static async join(
    module: WebAssembly.Module,
    memory: WebAssembly.Memory,
    names?: readonly string[],
  ): Promise<Helper> {
    return new Helper(await instantiate<HeapExports & ThreadExports>(module, memory, names));
  }

  private constructor(exports: ThreadExports) {
    this.#exports = exports;
  }

  /** Waits for work and does it, until the leader dismisses it. The stack is from the leader. */
  help(index: number, stack: number): void {
    this.#exports.__stack_pointer.value = stack;
    this.#exports.vitw_help(index);
  }
}

type Checks = Pick<Heap<string>, "watched" | "check" | "trapped">;

/** The instance that helpers work for. */
export class Leader {
  readonly #exports: ThreadExports;
  readonly #heap: Checks;
  #hasTeam = false;

  constructor(exports: ThreadExports, heap: Checks) {
    this.#exports = exports;
    this.#heap = heap;
  }

  /** Lets helpers take part, and returns a stack for each. `threads` counts this thread, too. */
  gather(threads: number): number[] {
    const { vitw_team, vitw_stack } = this.#exports;
    return this.#heap.watched(() => {
      this.#heap.check(vitw_team(threads, Number(maySleep())));
      this.#hasTeam = true;
      return Array.from({ length: threads - 1 }, (_, helper) => vitw_stack(helper + 1) >>> 0);
    });
  }

  /** Lets the helpers go. From then on this thread works alone. */
  dismiss(): void {
    if (this.#hasTeam && !this.#heap.trapped) this.#exports.vitw_dismiss();
    this.#hasTeam = false;
  }
}

/** Whether this thread may sleep. A page's main thread may not. */
function maySleep(): boolean {
  try {
    return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1) === "not-equal";
  } catch {
    return false;
  }
}
