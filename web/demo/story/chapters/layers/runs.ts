/** Runs of the model on the scene's drawing with parts left out. */
import type { Class, Trace } from "vitrine";
import type { Scene, Story } from "../../scene.ts";
import { slices } from "../../slices.ts";
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

const REST = 300; // milliseconds for which the drawing must rest first

/**
 * Runs the model without some parts. What the head reads between a block's attention and its MLP
 * comes from one more run a block, without that MLP: the next stage then is the stream after attention.
 */
export async function runWithout(out: readonly Part[], scene: Scene, story: Story): Promise<Run | undefined> {
  const traced = (parts: readonly Part[]) => story.classify(scene, { trace: true, ablate: ablationOf(parts) });
  const whole = out.length > 0 ? await traced(out) : scene.result;
  if (!whole?.trace) return undefined;
  const half: Class[][] = [];
  const pause = slices();
  for (let layer = 0; layer < scene.config.depth; layer++) {
    const gone = out.some((part) => part.kind === "mlp" && part.layer === layer);
    const run = gone ? whole : await traced([...out, { kind: "mlp", layer, head: 0 }]);
    if (!run?.trace) return undefined;
    half.push(run.trace.lens(layer + 1));
    await pause();
  }
  return { out, classes: whole.classes, trace: whole.trace, half };
}

/** Leaves out each part alone, in slices, until `isStale`. Tells each result. */
export async function sweep(
  scene: Scene,
  story: Story,
  isStale: () => boolean,
  tell: (part: Part, classes: Class[], done: number) => void,
): Promise<void> {
  await new Promise((rested) => setTimeout(rested, REST));
  const pause = slices();
  let done = 0;
  for (let layer = 0; layer < scene.config.depth; layer++) {
    for (const part of partsOf(layer, scene.config)) {
      if (isStale()) return;
      const result = await story.classify(scene, { ablate: ablationOf([part]) });
      if (!result || isStale()) return;
      tell(part, result.classes, ++done);
      await pause();
    }
  }
}
