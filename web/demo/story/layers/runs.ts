/** Runs of the model on the scene's drawing with parts left out. */
import type { Class, Trace } from "vitrine";
import type { Scene, Story } from "../scene.ts";
import { ablationOf, type Part, partsOf } from "./parts.ts";

/** One run, and what the head reads at each of its stops. */
export interface Run {
  /** What was left out. */
  out: readonly Part[];
  classes: Class[];
  trace: Trace;
  /** (L): inside each block, after its attention. */
  half: Class[][];
}

const SLICE = 8; // milliseconds of work before other work of the page gets its turn
const REST = 300; // milliseconds for which the drawing must rest first

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

/** Returns what waits for the page's other work if a slice of time is over. */
function turns(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE) return;
    await pause(0);
    since = performance.now();
  };
}

/**
 * Runs the model without some parts. What the head reads between a block's attention and its MLP
 * comes from one more run a block, without that MLP: the next stage then is the stream after attention.
 */
export async function runWithout(out: readonly Part[], scene: Scene, story: Story): Promise<Run | undefined> {
  const traced = (parts: readonly Part[]) => story.classify(scene, { trace: true, ablate: ablationOf(parts) });
  const whole = out.length > 0 ? await traced(out) : scene.result;
  if (!whole?.trace) return undefined;
  const half: Class[][] = [];
  const turn = turns();
  for (let layer = 0; layer < scene.config.depth; layer++) {
    const gone = out.some((part) => part.kind === "mlp" && part.layer === layer);
    const run = gone ? whole : await traced([...out, { kind: "mlp", layer, head: 0 }]);
    if (!run?.trace) return undefined;
    half.push(run.trace.lens(layer + 1));
    await turn();
  }
  return { out, classes: whole.classes, trace: whole.trace, half };
}

/** Does jobs one at a time. Of those that come meanwhile only the last is done. */
export function latest<Job>(work: (job: Job) => Promise<void>): (job: Job) => void {
  let waiting: { job: Job } | undefined;
  let busy = false;
  const go = async () => {
    busy = true;
    try {
      for (let next = waiting; next; next = waiting) {
        waiting = undefined;
        await work(next.job);
      }
    } finally {
      busy = false;
    }
  };
  return (job) => {
    waiting = { job };
    if (!busy) void go();
  };
}

/** Leaves out each part alone, in slices, until `isStale`. Tells each result. */
export async function sweep(
  scene: Scene,
  story: Story,
  isStale: () => boolean,
  tell: (part: Part, classes: Class[], done: number) => void,
): Promise<void> {
  await pause(REST);
  const turn = turns();
  let done = 0;
  for (let layer = 0; layer < scene.config.depth; layer++) {
    for (const part of partsOf(layer, scene.config)) {
      if (isStale()) return;
      const result = await story.classify(scene, { ablate: ablationOf([part]) });
      if (!result || isStale()) return;
      tell(part, result.classes, ++done);
      await turn();
    }
  }
}
