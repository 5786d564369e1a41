/** Helper threads, which share the memory of a session's module and do a part of its work. */
import type { ModuleSource } from "./session.js";
import { type Script, Thread } from "./thread.js";

export class Team {
  readonly #threads: Thread[] = [];
  #closed = false;

  /** Starts the helpers. Rejects if one of them does not start. */
  static async gather(
    source: ModuleSource,
    count: number,
    script: Script,
    address: string | URL | undefined,
  ): Promise<Team> {
    const team = new Team();
    try {
      const starts = Array.from({ length: count }, async () => {
        const thread = await Thread.start(script, address);
        team.#threads.push(thread);
        if (team.#closed) team.close(); // another helper failed meanwhile
        await thread.call("join", [source]);
      });
      await Promise.all(starts);
      return team;
    } catch (error) {
      team.close();
      throw error;
    }
  }

  get size(): number {
    return this.#threads.length;
  }

  /** False once a helper died. A run that waits for its part would wait forever. */
  get alive(): boolean {
    return this.#threads.every((thread) => thread.alive);
  }

  /** Lets each helper work, on its own stack. */
  help(stacks: readonly number[]): void {
    this.#threads.forEach((thread, index) => thread.help(index + 1, stacks[index]!));
  }

  close(): void {
    this.#closed = true;
    for (const thread of this.#threads) thread.close();
  }
}
