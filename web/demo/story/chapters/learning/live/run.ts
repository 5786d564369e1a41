/** One run: a Trainer in a worker that trains, rests and continues. */
import type { Epoch, Recipe, Step, Trainer } from "vitrine/train";
import type { Part } from "../../../../../base/digits.mjs";
import type { Source } from "./own.ts";

export type Phase = "preparing" | "paused" | "training" | "finished" | "failed";

/** What a run gets beside its recipe. */
export interface Given {
  readonly source: Source;
  readonly threads: number;
}

export interface Listener {
  phase(phase: Phase, error?: unknown): void;
  /** Images that the trainer has got, of all. */
  prepared(done: number, all: number): void;
  step(step: Step): void;
  /** The weights are those that the epoch's validation read by. */
  epoch(epoch: Epoch, weights: Uint8Array<ArrayBuffer>): void;
}

/** Images that are handed over at once, so that the page can draw between. */
const AT_ONCE = 200;

export class Run {
  phase: Phase = "preparing";
  readonly #epochs: number;
  readonly #listener: Listener;
  readonly #closed = new AbortController();
  #trainer: Trainer | undefined;
  #going: Promise<void> = Promise.resolve();
  #pause = new AbortController();

  constructor(epochs: number, listener: Listener) {
    this.#epochs = epochs;
    this.#listener = listener;
  }

  /** Makes the model and hands over the images. Ends paused, or failed. */
  async prepare(recipe: Recipe, most: number, { source, threads }: Given): Promise<void> {
    const { signal } = this.#closed;
    try {
      const [{ Trainer }, { train, test }] = await Promise.all([import("vitrine/train"), source.open()]);
      const trainer = await Trainer.create({ recipe }, { worker: true, threads, signal });
      this.#trainer = trainer;
      if (signal.aborted) return trainer.dispose();
      const images = Math.min(most, source.train);
      let done = 0;
      const add = async (part: Part, count: number, options?: { part: "validation" }) => {
        for (let first = 0; first < count; first += AT_ONCE, done += AT_ONCE) {
          this.#listener.prepared(done, images + source.test);
          const indices = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, at) => first + at);
          await trainer.add(indices.map((at) => part.image(at)), indices.map((at) => part.labels[at]!), options);
        }
      };
      await add(test, source.test, { part: "validation" });
      await add(train, images);
      this.#to("paused");
    } catch (error) {
      this.#to("failed", error);
    }
  }

  /** Trains until the end, a pause, or so many steps. */
  async go(most = Number.POSITIVE_INFINITY): Promise<void> {
    await this.#going;
    if (this.phase === "paused") await (this.#going = this.#take(most));
  }

  async #take(most: number): Promise<void> {
    const trainer = this.#trainer!, pause = (this.#pause = new AbortController());
    let taken = 0;
    this.#to("training");
    const onStep = (step: Step) => {
      if (++taken >= most) pause.abort();
      this.#listener.step(step);
    };
    try {
      for await (const epoch of trainer.run({ epochs: this.#epochs, signal: pause.signal, onStep })) {
        this.#listener.epoch(epoch, await trainer.save());
      }
      this.#to("finished");
    } catch (error) {
      this.#to(pause.signal.aborted ? "paused" : "failed", error);
    }
  }

  /** The step under way is still taken. */
  pause(): void {
    this.#pause.abort();
  }

  /** The weights as they stand. Undefined before there are any, or after the end. */
  async weights(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#trainer?.save().catch(() => undefined);
  }

  dispose(): void {
    this.#closed.abort();
    this.#trainer?.dispose();
  }

  #to(phase: Phase, error?: unknown): void {
    if (this.#closed.signal.aborted) return;
    this.phase = phase;
    this.#listener.phase(phase, error);
  }
}

/** Steps whose loss is shown as one number. */
export const RECENT = 20;

/** The mean loss of the last steps. A trainer's step says that of its epoch so far, which lags behind. */
export class RecentLoss {
  readonly #batch: number;
  readonly #images: number;
  /** The images and the sum of their losses, of each of the last steps. */
  #steps: { images: number; sum: number }[] = [];
  /** The same of the epoch so far. */
  #epoch = { images: 0, sum: 0 };

  /** @param images those of an epoch, in batches of which the last may be smaller */
  constructor(batch: number, images: number) {
    this.#batch = batch;
    this.#images = images;
  }

  /** How many steps it is the mean of. */
  get steps(): number {
    return this.#steps.length;
  }

  /** Takes a step. Returns the mean. */
  add({ step, loss }: Pick<Step, "step" | "loss">): number {
    const before = step === 1 ? { images: 0, sum: 0 } : this.#epoch, images = Math.min(step * this.#batch, this.#images);
    this.#epoch = { images, sum: loss * images };
    this.#steps = [...this.#steps, { images: images - before.images, sum: this.#epoch.sum - before.sum }].slice(-RECENT);
    const all = this.#steps.reduce((a, b) => ({ images: a.images + b.images, sum: a.sum + b.sum }));
    return all.sum / all.images;
  }
}
