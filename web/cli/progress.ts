/** The progress of a training run: how long it will take, how far it is, what each epoch measured. */
import type { Epoch, Measured, Step } from "vitrine/train";
import type { Terminal } from "./terminal.ts";

/** Steps are timed this long before the run's time is estimated. */
const TIMING_MILLISECONDS = 1000;
const UPDATE_MILLISECONDS = 200;

/** A forward pass takes about a third of a step. */
const FORWARD = 1 / 3;

const scores = ({ loss, accuracy }: Measured): string =>
  `loss ${loss.toFixed(4)}  accuracy ${accuracy.toFixed(4)}`;

const speed = (imagesPerSecond: number): string =>
  `${imagesPerSecond.toFixed(imagesPerSecond < 10 ? 1 : 0)} images/s`;

/** Such as 42 s, 3 min 20 s, 2 h 5 min. */
export function duration(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  const minutes = Math.floor(whole / 60);
  if (minutes === 0) return `${whole} s`;
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function epochLine(now: Epoch): string {
  const validation = now.validation ? `  validation ${scores(now.validation)}` : "";
  const eta = now.epoch < now.epochs ? `  left ${duration(now.secondsLeft)}` : "";
  return `epoch ${now.epoch}/${now.epochs}  ${scores(now)}${validation}  ${speed(now.imagesPerSecond)}${eta}`;
}

/** Shows each step on a terminal, and announces the run's time once, after its first steps. */
export class Progress {
  readonly #images: number;
  readonly #validation: number;
  readonly #terminal: Terminal;
  readonly #announce: (line: string) => void;
  readonly #start = performance.now();
  #lastUpdate = 0;
  #announced = false;
  /** The first step of this process, and when it was done. */
  #first: { readonly step: number; readonly time: number } | undefined;

  constructor(images: number, validation: number, terminal: Terminal, announce: (line: string) => void) {
    this.#images = images;
    this.#validation = validation;
    this.#terminal = terminal;
    this.#announce = announce;
  }

  step(now: Step): void {
    const time = performance.now();
    this.#estimate(now, time);
    if (time - this.#lastUpdate < UPDATE_MILLISECONDS) return;
    this.#lastUpdate = time;
    const { epoch, epochs, step, steps, imagesPerSecond, secondsLeft } = now;
    this.#terminal.status(`epoch ${epoch}/${epochs}  step ${step}/${steps}  ${scores(now)}  ${speed(imagesPerSecond)}  left ${duration(secondsLeft)}`);
  }

  /** The first step also compiles the module, so it counts only where there is no other. */
  #estimate({ epoch, epochs, step, steps }: Step, time: number): void {
    this.#first ??= { step, time };
    if (this.#announced || (time - this.#start < TIMING_MILLISECONDS && step < steps)) return;
    this.#announced = true;
    const { step: first, time: since } = step > this.#first.step ? this.#first : { step: step - 1, time: this.#start };
    const perStep = (time - since) / 1000 / (step - first);
    const perImage = (perStep * steps) / this.#images;
    const eta = perStep * ((epochs - epoch + 1) * steps - step) + (epochs - epoch + 1) * this.#validation * perImage * FORWARD;
    this.#announce(`time: about ${duration(eta)} from here, at ${speed(1 / perImage)}`);
  }
}
