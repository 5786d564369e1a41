/** Plays one head's computation step by step. */
import { lessMotion } from "../../../figure/motion.ts";
import type { Progress } from "./strip.ts";

/** The steps, and how long each is shown in milliseconds. */
const STEPS = {
  query: 1600, key: 1600, products: 2200, score: 2600, scores: 3000, softmax: 2400, values: 2600, output: 2600,
} as const;
export type Step = keyof typeof STEPS;
export const steps = Object.keys(STEPS) as Step[];
const MOVING = 1400; // the rest of a step stands still

export class Player {
  /** What is shown. Outside of a play it is the last step: everything. */
  step: Step = "output";
  playing = false;
  /** 0 to 1: how much of the step's movement is done. */
  moved = 1;
  readonly #change: (isNew: boolean) => void;
  #since = 0;
  #frame = 0;

  constructor(change: (isNew: boolean) => void) {
    this.#change = change;
  }

  play(): void {
    this.playing = true;
    this.#go(this.#isLast ? 0 : this.#index + 1);
  }

  pause(): void {
    cancelAnimationFrame(this.#frame);
    this.playing = false;
    this.moved = 1;
    this.#change(false);
  }

  /** One step by hand. After the last comes the first. */
  next(): void {
    this.playing = false;
    this.#go(this.#isLast ? 0 : this.#index + 1);
  }

  /** Shows everything at once. */
  end(): void {
    if (this.#isLast && !this.playing) return;
    this.step = "output";
    this.pause();
  }

  get #index(): number {
    return steps.indexOf(this.step);
  }

  get #isLast(): boolean {
    return this.#index === steps.length - 1;
  }

  #go(index: number): void {
    cancelAnimationFrame(this.#frame);
    this.step = steps[index]!;
    this.#since = performance.now();
    this.moved = lessMotion() ? 1 : 0;
    this.#change(true);
    this.#frame = requestAnimationFrame(this.#tick);
  }

  #tick = (now: number): void => {
    const past = now - this.#since;
    const { moved } = this;
    this.moved = lessMotion() ? 1 : Math.max(0, Math.min(1, past / MOVING));
    if (this.moved !== moved) this.#change(false);
    if (this.playing && past > STEPS[this.step]) {
      if (this.#isLast) return this.pause();
      return this.#go(this.#index + 1);
    }
    if (this.playing || this.moved < 1) this.#frame = requestAnimationFrame(this.#tick);
  };

  /** Whether this step or a later one is shown. */
  reached = (step: Step): boolean => this.#index >= steps.indexOf(step);

  /** How far the figure of T tokens is built up. */
  progress(tokens: number, key: number): Progress {
    const part = (step: Step) => (this.step === step ? this.moved : Number(this.reached(step)));
    return {
      scores: this.step === "score" ? [key, key + 1] : [0, Math.ceil(part("scores") * tokens)],
      shares: part("softmax"),
      weighted: part("values"),
      summed: Math.ceil(part("output") * tokens),
    };
  }
}
