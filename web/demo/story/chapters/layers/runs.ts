/** The parts that can be left out of a model, and runs on the scene's drawing without some. */
import type { Ablation, Class, Trace, VitConfig } from "vitrine";
import type { Scene, Story } from "../../scene.ts";
import { slices } from "../../work.ts";

/** All count from 0. */
export interface Part {
  kind: "head" | "mlp";
  layer: number;
  head: number; // 0 where it is no head
}

export const keyOf = ({ kind, layer, head }: Part): string => `${kind} ${layer} ${head}`;

/** Each block's parts, in the order in which the page shows them. */
export const partsOf = ({ depth, heads }: Readonly<VitConfig>): Part[][] => Array.from({ length: depth }, (_, layer) => [
  ...Array.from({ length: heads }, (_, head): Part => ({ kind: "head", layer, head })), { kind: "mlp", layer, head: 0 }]);

const ablationOf = (parts: readonly Part[]): Ablation => ({
  heads: parts.filter(({ kind }) => kind === "head").map(({ layer, head }) => [layer, head] as const),
  mlps: parts.filter(({ kind }) => kind === "mlp").map(({ layer }) => layer),
});

/** A class's log-odds against the others, ln(p / Σ others), whatever the doubt: exact where p is nearly 1, too. */
export function logOdds(classes: readonly Class[], index: number): number {
  let own = 0, others = 0;
  for (const one of classes) {
    if (one.index === index) own = one.p;
    else others += one.p;
  }
  return Math.log(Math.max(own, Number.MIN_VALUE)) - Math.log(Math.max(others, Number.MIN_VALUE));
}

/** One run, and what the classifier reads at each of its stages. */
export interface Run {
  out: readonly Part[]; // what was left out
  classes: Class[];
  trace: Trace;
  half: Class[][]; // (L): inside each block, after its attention
}

/**
 * Runs the model without some parts. What the classifier reads between a block's attention and its MLP
 * comes from one more run a block, without that MLP: the next stage then is the stream after attention.
 */
export async function runWithout(out: readonly Part[], scene: Scene, story: Story): Promise<Run | undefined> {
  const traced = (parts: readonly Part[]) => story.classify(scene, { trace: true, ablate: ablationOf(parts) });
  const whole = out.length > 0 ? await traced(out) : scene.result;
  if (!whole?.trace) return undefined;
  const half: Class[][] = [];
  const pause = slices();
  for (let layer = 0; layer < scene.config.depth; layer++) {
    const isOut = out.some((part) => part.kind === "mlp" && part.layer === layer);
    const run = isOut ? whole : await traced([...out, { kind: "mlp", layer, head: 0 }]);
    if (!run?.trace) return undefined;
    half.push(run.trace.lens(layer + 1));
    await pause();
  }
  return { out, classes: whole.classes, trace: whole.trace, half };
}

/** The answer's log-odds without one part, less those of the whole model, and what is read then. */
export interface Loss {
  part: Part;
  odds: number;
  best: Class;
}

/** Leaves out each part alone, in slices. Undefined once `isStale`. */
export async function sweep(parts: readonly Part[], scene: Scene, story: Story, isStale: () => boolean): Promise<Loss[] | undefined> {
  const { classes: whole } = scene.result, { index } = whole[0]!;
  const losses: Loss[] = [], pause = slices();
  for (const part of parts) {
    const result = await story.classify(scene, { ablate: ablationOf([part]) });
    if (!result || isStale()) return undefined;
    losses.push({ part, odds: logOdds(result.classes, index) - logOdds(whole, index), best: result.classes[0]! });
    await pause();
  }
  return losses;
}
