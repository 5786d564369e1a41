/** One run: a Trainer in a worker that trains, rests and continues. */
import type { Epoch, Recipe, Step, Trainer } from "vitrine/train";
import type { Part } from "../../../../../base/digits.mjs";
import type { Source } from "./own.ts";

export type Phase = "preparing" | "paused" | "training" | "finished" | "failed";

export interface RunOptions {
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

export type Run = ReturnType<typeof buildRun>;

export function buildRun(epochs: number, listener: Listener) {
  const closed = new AbortController(), { signal } = closed;
  let phase: Phase = "preparing", trainer: Trainer | undefined, going = Promise.resolve(), pausing = new AbortController();
  const to = (next: Phase, error?: unknown) => {
    if (signal.aborted) return;
    phase = next;
    listener.phase(phase, error);
  };
  const take = async (most: number) => {
    const pause = (pausing = new AbortController());
    let steps = 0;
    to("training");
    const onStep = (step: Step) => {
      if (++steps >= most) pause.abort();
      listener.step(step);
    };
    try {
      for await (const epoch of trainer!.run({ epochs, signal: pause.signal, onStep })) {
        listener.epoch(epoch, await trainer!.save());
      }
      to("finished");
    } catch (error) {
      to(pause.signal.aborted ? "paused" : "failed", error);
    }
  };
  return {
    get phase() {
      return phase;
    },
    /** Makes the model and hands over the images. Ends paused, or failed. */
    async prepare(recipe: Recipe, most: number, { source, threads }: RunOptions): Promise<void> {
      try {
        const [{ Trainer }, { train, test }] = await Promise.all([import("vitrine/train"), source.open()]);
        const made = (trainer = await Trainer.create({ recipe }, { worker: true, threads, signal }));
        if (signal.aborted) return made.dispose();
        const images = Math.min(most, source.train);
        let done = 0;
        const add = async (part: Part, count: number, options?: { part: "validation" }) => {
          for (let first = 0; first < count; first += AT_ONCE, done += AT_ONCE) {
            listener.prepared(done, images + source.test);
            const indices = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, at) => first + at);
            await made.add(indices.map((at) => part.image(at)), indices.map((at) => part.labels[at]!), options);
          }
        };
        await add(test, source.test, { part: "validation" });
        await add(train, images);
        to("paused");
      } catch (error) {
        to("failed", error);
      }
    },
    /** Trains until the end, a pause, or so many steps. */
    async go(most = Number.POSITIVE_INFINITY): Promise<void> {
      await going;
      if (phase === "paused") await (going = take(most));
    },
    /** The step under way is still taken. */
    pause: () => pausing.abort(),
    /** The weights as they stand. Undefined before there are any, or after the end. */
    weights: async () => trainer?.save().catch(() => undefined),
    dispose(): void {
      closed.abort();
      trainer?.dispose();
    },
  };
}

/** Steps whose loss is shown as one number. */
export const RECENT = 20;

/**
 * The mean loss of the last steps. A trainer's step says that of its epoch so far, which lags behind.
 * @param images those of an epoch, in batches of which the last may be smaller
 */
export function recentLoss(batch: number, images: number) {
  /** The images and the sum of their losses: of each of the last steps, and of the epoch so far. */
  let last: { images: number; sum: number }[] = [], epoch = { images: 0, sum: 0 };
  return {
    /** How many steps it is the mean of. */
    get steps() {
      return last.length;
    },
    add({ step, loss }: Pick<Step, "step" | "loss">): number {
      const before = step === 1 ? { images: 0, sum: 0 } : epoch, imagesSoFar = Math.min(step * batch, images);
      epoch = { images: imagesSoFar, sum: loss * imagesSoFar };
      last = [...last, { images: imagesSoFar - before.images, sum: epoch.sum - before.sum }].slice(-RECENT);
      const all = last.reduce((a, b) => ({ images: a.images + b.images, sum: a.sum + b.sum }));
      return all.sum / all.images;
    },
  };
}
