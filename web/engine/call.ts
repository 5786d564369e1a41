/** The place where a trainer works: this thread, or a worker. Both take the same calls. */
import { yieldToTasks } from "../base/yield.js";
import { VitError } from "../errors.js";
import type { CompiledModule } from "./module.js";
import { Thread } from "./thread.js";
import { TRAINERS } from "./trainers.js";
import { TrainSession } from "./training-session.js";

export interface ModuleSource {
  readonly module: CompiledModule;
  /** Only for a build for threads. */
  readonly memory: WebAssembly.Memory | undefined;
}

/** The methods of TrainSession that are called from here. */
export type Calls = Pick<
  TrainSession,
  | "variant" | "team" | "begin" | "feed" | "end" | "recipe" | "add" | "fill" | "examples" | "run" | "step"
  | "endEpoch" | "model" | "int8" | "checkpoint" | "resume"
>;
export type Name = keyof Calls;

/** The messages to train-worker.js, besides those to a helper. */
export type TrainQuestion =
  | { readonly open: ModuleSource }
  | { readonly call: Name; readonly given: readonly unknown[] };

export interface Backend {
  /** False once the module trapped, the thread died or the trainer was disposed. */
  readonly alive: boolean;
  call<Which extends Name>(name: Which, ...given: Parameters<Calls[Which]>): Promise<ReturnType<Calls[Which]>>;
  close(): void;
}

/** Calls a method by its name. */
export const callOf = (session: Calls, name: Name, given: readonly unknown[]): unknown =>
  (session[name] as (...given: readonly unknown[]) => unknown)(...given);

/** A thread that trains answers nothing else, so it rests for a moment after this time. */
const MOST_MILLISECONDS = 40;

export class Local implements Backend {
  #session: TrainSession | undefined;
  #rested = performance.now();

  static async open({ module, memory }: ModuleSource): Promise<Local> {
    return new Local(await TrainSession.open(module, memory));
  }

  private constructor(session: TrainSession) {
    this.#session = session;
  }

  get alive(): boolean {
    return this.#session?.trapped === false;
  }

  async call<Which extends Name>(name: Which, ...given: Parameters<Calls[Which]>): Promise<ReturnType<Calls[Which]>> {
    if (performance.now() - this.#rested > MOST_MILLISECONDS) {
      await yieldToTasks();
      this.#rested = performance.now();
    }
    if (!this.#session) throw closed();
    return callOf(this.#session, name, given) as ReturnType<Calls[Which]>;
  }

  close(): void {
    this.#session?.dismiss();
    this.#session = undefined;
  }
}

export class Remote implements Backend {
  readonly #thread: Thread<TrainQuestion>;

  static async start(address: string | URL | undefined): Promise<Remote> {
    return new Remote(await Thread.start<TrainQuestion>(TRAINERS.script, address));
  }

  private constructor(thread: Thread<TrainQuestion>) {
    this.#thread = thread;
  }

  async open(source: ModuleSource): Promise<this> {
    await this.#thread.ask({ open: source });
    return this;
  }

  get alive(): boolean {
    return !this.#thread.lost;
  }

  call<Which extends Name>(name: Which, ...given: Parameters<Calls[Which]>): Promise<ReturnType<Calls[Which]>> {
    return this.#thread.ask({ call: name, given });
  }

  close(): void {
    this.#thread.end(closed());
  }
}

export function closed(): VitError {
  return new VitError("disposed", "this Trainer was disposed; create another, or resume from a checkpoint");
}
