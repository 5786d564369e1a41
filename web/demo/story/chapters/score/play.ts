/** Plays one head's computation step by step. */
import { lessMotion } from "../../../figure/motion.ts";
import type { Progress } from "./strip.ts";

/** The steps, and how long each is shown in milliseconds. */
const STEPS = {
  query: 1600, key: 1600, products: 2200, score: 2600, scores: 3000, softmax: 2400, values: 2600, output: 2600,
} as const;
type Step = keyof typeof STEPS;
export const steps = Object.keys(STEPS) as Step[];
const LAST = steps.length - 1;
const MOVING = 1400; // the rest of a step stands still

export type Player = ReturnType<typeof buildPlayer>;

/** Outside of a play the last step is shown: everything. `change` is told whether another step is shown. */
export function buildPlayer(change: (isNew: boolean) => void) {
  let at = LAST, playing = false, since = 0, frame = 0;
  let moved = 1; // 0 to 1: how much of the step's movement is done
  const go = (to: number) => {
    cancelAnimationFrame(frame);
    at = to;
    since = performance.now();
    moved = lessMotion() ? 1 : 0;
    change(true);
    frame = requestAnimationFrame(tick);
  };
  const stop = () => {
    cancelAnimationFrame(frame);
    playing = false;
    moved = 1;
    change(false);
  };
  const tick = (now: number) => {
    const past = now - since, before = moved;
    moved = lessMotion() ? 1 : Math.max(0, Math.min(1, past / MOVING));
    if (moved !== before) change(false);
    if (playing && past > STEPS[steps[at]!]) return at === LAST ? stop() : go(at + 1);
    if (playing || moved < 1) frame = requestAnimationFrame(tick);
  };
  const next = (play: boolean) => {
    playing = play;
    go((at + 1) % steps.length);
  };
  /** Whether this step or a later one is shown. */
  const reached = (step: Step) => at >= steps.indexOf(step);
  const part = (step: Step) => (steps[at] === step ? moved : Number(reached(step)));
  return {
    reached,
    get step() {
      return steps[at]!;
    },
    get playing() {
      return playing;
    },
    toggle: () => (playing ? stop() : next(true)),
    /** One step by hand. After the last comes the first. */
    next: () => next(false),
    end(): void {
      if (at === LAST && !playing) return;
      at = LAST;
      stop();
    },
    /** How far the figure of T tokens is built up. */
    progress: (tokens: number, key: number): Progress => ({
      scores: steps[at] === "score" ? [key, key + 1] : [0, Math.ceil(part("scores") * tokens)],
      shares: part("softmax"), weighted: part("values"), summed: Math.ceil(part("output") * tokens),
    }),
  };
}
