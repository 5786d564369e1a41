/** An engine in a worker, with the same methods as an engine in this thread. */
import { type Backend, closed, type Opened, type Output } from "./engine.js";
import type { Piece } from "../base/bytes.js";
import { memoryOf, type Picture } from "../images.js";
import { WORKER } from "./models.js";
import { Thread } from "./thread.js";
import type { Model, ModelSource, Wants } from "./model-session.js";

/** The messages to worker.js, besides those to a helper. */
export type ModelQuestion =
  | { readonly begin: ModelSource }
  | { readonly feed: Piece }
  | { readonly end: number }
  | { readonly run: { readonly pictures: readonly Picture[]; readonly wants: Wants } };

/** The most pieces of the file that are on their way to the worker. */
const PIECES_UNDERWAY = 64;

export class Remote implements Backend {
  model!: Model;
  readonly #thread: Thread<ModelQuestion>;
  /** The pieces that the worker has not confirmed yet. */
  readonly #underway: Promise<unknown>[] = [];

  static async start(address: string | URL | undefined): Promise<Remote> {
    return new Remote(await Thread.start(WORKER, address));
  }

  private constructor(thread: Thread<ModelQuestion>) {
    this.#thread = thread;
  }

  get alive(): boolean {
    return !this.#thread.lost;
  }

  async begin(source: ModelSource): Promise<this> {
    await this.#thread.ask({ begin: source });
    return this;
  }

  async feed(piece: Piece): Promise<void> {
    const whole = piece.length === piece.buffer.byteLength;
    const own = whole ? piece : piece.slice();
    const fed = this.#thread.ask({ feed: own }, [own.buffer]);
    fed.catch(() => {}); // a later await of the promise throws the error
    this.#underway.push(fed);
    if (this.#underway.length > PIECES_UNDERWAY) await this.#underway.shift();
  }

  async end(threads: number): Promise<Opened> {
    await Promise.all(this.#underway.splice(0));
    const opened = await this.#thread.ask<Opened>({ end: threads });
    this.model = opened.model;
    return opened;
  }

  run(pictures: readonly Picture[], wants: Wants): Promise<Output[]> {
    const memory = pictures.map((picture) => memoryOf(picture).buffer);
    const whole = { ...wants, copied: true }; // because maps on the heap cannot be sent
    return this.#thread.ask({ run: { pictures, wants: whole } }, memory);
  }

  close(): void {
    this.#thread.end(closed());
  }
}
