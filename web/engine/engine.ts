/** The engine, which runs a model in this thread, and the interface that a remote engine shares. */
import { VitError } from "../errors.js";
import type { Piece } from "../base/bytes.js";
import type { Picture } from "../images.js";
import { type Model, type ModelSource, type Result, Session, type Wants } from "./model-session.js";

export interface Opened {
  readonly model: Model;
  /** The stacks on which helpers work. */
  readonly stacks: readonly number[];
}

/** `memory`: the module's bytes after the run. */
export type Output = Result & { readonly milliseconds: number; readonly memory: number };

/** The place where a model runs: this thread's Engine, or a Remote one in a worker. */
export interface Backend {
  readonly model: Model;
  /** False once the module trapped, the thread died or the model was closed. */
  readonly alive: boolean;
  /** Takes the file's bytes, in order. */
  feed(piece: Piece): void | Promise<void>;
  /** Opens the model after the last byte. `threads` counts the one that the model runs in, too. */
  end(threads: number): Promise<Opened>;
  run(pictures: readonly Picture[], wants: Wants): Promise<Output[]>;
  close(): void;
}

/** A model that is open in this thread. Its session lives on, without the engine, for its maps. */
export class Engine implements Backend {
  model!: Model;
  #session: Session | undefined;

  static async begin(source: ModelSource): Promise<Engine> {
    return new Engine(await Session.begin(source));
  }

  private constructor(session: Session) {
    this.#session = session;
  }

  get alive(): boolean {
    return this.#session?.trapped === false;
  }

  feed(piece: Piece): void {
    this.#open().feed(piece);
  }

  async end(threads: number): Promise<Opened> {
    const session = this.#open();
    this.model = session.end();
    return { model: this.model, stacks: threads > 1 ? session.team(threads) : [] };
  }

  async run(pictures: readonly Picture[], wants: Wants): Promise<Output[]> {
    const session = this.#open();
    try {
      const start = performance.now();
      const results = session.run(pictures, wants);
      const milliseconds = (performance.now() - start) / pictures.length;
      const { memory } = session;
      return results.map((result) => ({ ...result, milliseconds, memory }));
    } catch (error) {
      if ((error as VitError).code === "internal") this.close();
      throw error;
    }
  }

  /** The module's memory is freed when nobody holds the session or maps in it any longer. */
  close(): void {
    this.#session?.dismiss();
    this.#session = undefined;
  }

  #open(): Session {
    if (!this.#session) throw closed();
    return this.#session;
  }
}

export function closed(): VitError {
  return new VitError("disposed", "this Vit was disposed; load another");
}
