/** The run under way. What it measures goes to the results and the meter. */
import type { Epoch, Recipe, Step } from "vitrine/train";
import { inWords } from "../../../../remedy.ts";
import type { Texts } from "../../../../texts/en.ts";
import { percentage, whole } from "../../../../texts/words.ts";
import { coalesce } from "../../../coalesce.ts";
import type { Scene } from "../../../scene.ts";
import type { Meter } from "./meter.ts";
import type { Choices } from "./recipe.ts";
import type { Results } from "./results.ts";
import { type Given, type Listener, type Phase, Run } from "./run.ts";

/** Milliseconds between two looks at the drawing. */
const LOOK = 400;

export class Trial implements Listener {
  scene: Scene | undefined;
  #run: Run | undefined;
  #right = 0;
  #tests = 0;
  #looked = 0;
  #away = false;
  /** Whether it rests because nobody sees it. */
  #waiting = false;
  readonly #words: Texts["learning"]["live"];
  readonly #results: Results;
  readonly #meter: Meter;

  constructor(words: Texts["learning"]["live"], results: Results, meter: Meter) {
    this.#words = words;
    this.#results = results;
    this.#meter = meter;
  }

  /** Undefined before the first run. */
  get now(): Phase | undefined {
    return this.#run?.phase;
  }

  /** Begins another run, of all steps or of so many at first. */
  async start(recipe: Recipe, { images, epochs }: Choices, given: Given, most?: number): Promise<void> {
    this.#run?.dispose();
    const run = (this.#run = new Run(epochs, this));
    this.#waiting = false;
    this.#tests = given.source.test;
    this.#results.begin(epochs, given.source);
    this.phase("preparing");
    await run.prepare(recipe, images, given);
    if (run === this.#run) this.go(most);
  }

  /** Goes on. Out of sight, the run waits until it is seen again. */
  go(most?: number): void {
    this.#waiting = this.#away;
    if (!this.#away) void this.#run?.go(most);
  }

  pause(): void {
    this.#run?.pause();
  }

  seen(isSeen: boolean): void {
    this.#away = !isSeen;
    if (isSeen && this.#waiting) this.go();
    if (isSeen || this.now !== "training") return;
    this.#waiting = true;
    this.pause();
  }

  weights = async (): Promise<Uint8Array<ArrayBuffer> | undefined> => this.#run?.weights();

  /** Shows what the weights make of the drawing. */
  look(): void {
    this.#look(undefined);
  }
  readonly #look = coalesce(async () => {
    const run = this.#run, weights = await run?.weights();
    if (weights && run === this.#run) await this.#results.look(weights, this.scene);
    this.#looked = performance.now();
  });

  phase(now: Phase, error?: unknown): void {
    this.#meter.phase(now);
    this.#meter.say(this.#says(now, error));
    if (now !== "training") this.look();
  }

  #says(now: Phase, error: unknown): string {
    const words = this.#words, right = this.#right;
    const says: Record<Phase, () => string> = {
      preparing: () => words.loading,
      training: () => words.training,
      paused: () => (this.#waiting ? words.resting : words.paused),
      finished: () => words.finished(whole(Math.round(right * this.#tests)), whole(this.#tests), percentage(right, 1)),
      failed: () => words.failed(inWords(error)),
    };
    return says[now]();
  }

  prepared(done: number, all: number): void {
    this.#meter.prepared(done, all);
  }

  step(at: Step): void {
    this.#meter.step(at);
    this.#results.loss(at.epoch - 1 + at.step / at.steps, at.loss);
    if (performance.now() - this.#looked > LOOK) this.look();
  }

  epoch({ validation }: Epoch, weights: Uint8Array<ArrayBuffer>): void {
    this.#right = validation!.accuracy;
    this.#results.accuracy(this.#right, weights);
  }

  dispose(): void {
    this.#run?.dispose();
  }
}
