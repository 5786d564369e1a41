/** Helper threads, which share the memory of a session's module and do a part of its work. */
import { closed } from "./engine.js";
import type { CompiledModule } from "./module.js";
import { type HelperQuestion, type Script, Thread } from "./thread.js";

export class Team {
  readonly #threads: Thread<HelperQuestion>[] = [];
  #closed = false;

  /** Starts the helpers. Rejects if one of them does not start. */
  static async gather(
    join: { module: CompiledModule; memory: WebAssembly.Memory },
    count: number,
    script: Script,
    address: string | URL | undefined,
  ): Promise<Team> {
    const team = new Team();
    try {
      const starts = Array.from({ length: count }, async () => {
        const thread = await Thread.start<HelperQuestion>(script, address);
        team.#threads.push(thread);
        if (team.#closed) team.close(); // another helper failed meanwhile
        await thread.ask({ join });
      });
      await Promise.all(starts);
      return team;
    } catch (error) {
      team.close();
      throw error;
    }
  }

  /** False once a helper died. A run that waits for its part would wait forever. */
  get alive(): boolean {
    return this.#threads.every((thread) => !thread.lost);
  }

  /** Lets each helper work, on its own stack. */
  help(stacks: readonly number[]): void {
    this.#threads.forEach((thread, index) =>
      thread.tell({ help: { index: index + 1, stack: stacks[index]! } }),
    );
  }

  close(): void {
    this.#closed = true;
    for (const thread of this.#threads) thread.end(closed());
  }
}
