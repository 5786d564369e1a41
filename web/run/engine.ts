import { VitError } from "../errors.js";
import type { Piece } from "../base/bytes.js";
import type { Picture } from "../images.js";
import type { Variant } from "./module.js";
import { type ModelSource, type Result, Session, type Shape, trap, type Wants } from "./wasm.js";

/** What is known of an open model. */
export interface Model {
  /** JSON, as the next. */
  readonly config: string;
  readonly origin: string;
  readonly variant: Variant;
  readonly shape: Shape;
  /** Bytes, once it is loaded. */
  readonly memory: number;
}

export interface Opened {
  readonly model: Model;
  /** For helpers to work on. */
  readonly stacks: readonly number[];
}

/** `memory`: bytes, after the run. */
export type Output = Result & { readonly milliseconds: number; readonly memory: number };

/** Where a model runs: this thread's Engine, or a Remote one in a worker. */
export interface Backend {
  readonly model: Model;
  /** False once it trapped, died or was closed: time for another. */
  readonly alive: boolean;
  /** The file's bytes, in order. */
  feed(piece: Piece): void | Promise<void>;
  /** After all of them; `threads` counts the one it runs in. */
  end(threads: number): Promise<Opened>;
  run(pictures: readonly Picture[], wants: Wants): Promise<Output[]>;
  close(): void;
}

/** A model open in this thread. */
export class Engine implements Backend {
  model!: Model;
  #session: Session | undefined;

  static begin(source: ModelSource): Promise<Engine> {
    return trapped(async () => new Engine(await Session.begin(source)));
  }

  private constructor(session: Session) {
    this.#session = session;
  }

  get alive(): boolean {
    return this.#session?.trapped === false;
  }

  feed(piece: Piece): Promise<void> {
    return trapped(() => this.#open().feed(piece));
  }

  end(threads: number): Promise<Opened> {
    return trapped(() => {
      const session = this.#open();
      session.end();
      const { config, origin, variant, shape, memory } = session;
      this.model = { config, origin, variant, shape, memory };
      return { model: this.model, stacks: threads > 1 ? session.team(threads) : [] };
    });
  }

  async run(pictures: readonly Picture[], wants: Wants): Promise<Output[]> {
    const session = this.#open();
    const timed = () => {
      const start = performance.now();
      const results = session.run(pictures, wants);
      const milliseconds = (performance.now() - start) / pictures.length;
      const { memory } = session;
      return results.map((result) => ({ ...result, milliseconds, memory }));
    };
    return trapped(timed).catch((error: VitError) => {
      if (error.code === "internal") this.close();
      throw error;
    });
  }

  /** The module's memory goes with its instance, once nobody holds it or maps in it. */
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

async function trapped<Value>(work: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof VitError ? cause : trap(cause);
  }
}
