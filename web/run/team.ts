/** Helpers: threads that share the memory of a session's module and take their part of its work. */
import { closed } from "./engine.js";
import type { CompiledModule } from "./module.js";
import { Thread } from "./thread.js";

export class Team {
  readonly #threads: Thread[] = [];
  #closed = false;

  /** Rejects where one of the helpers does not start. */
  static async gather(
    join: { module: CompiledModule; memory: WebAssembly.Memory },
    count: number,
    address: string | URL | undefined,
  ): Promise<Team> {
    const team = new Team();
    try {
      const starts = Array.from({ length: count }, async () => {
        const thread = await Thread.start(address);
        team.#threads.push(thread);
        if (team.#closed) team.close(); // another failed meanwhile
        await thread.ask({ join });
      });
      await Promise.all(starts);
      return team;
    } catch (error) {
      team.close();
      throw error;
    }
  }

  /** False once one was lost: whoever waits for its part would wait for ever. */
  get alive(): boolean {
    return this.#threads.every((thread) => !thread.lost);
  }

  /** Each goes to work on its own stack. */
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
