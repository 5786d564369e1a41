/** Which patches spoke for a class: occlusion, gradient × attention and rollout, side by side. */
import type { Vit } from "vitrine";
import { scaleOf } from "../../../../base/heat.ts";
import { type Shape, shapeOf } from "../../../pixels.ts";
import { percent, signed } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import { type Grid, overDrawing, patchGrid, signedScale } from "../../grid.ts";
import { buildGuess, cite, HARDLY } from "../../prose.ts";
import { coalesce, slices } from "../../work.ts";
import type { ChapterBuilder, Scene } from "../../scene.ts";
import { inkOf, tokenName, withPatch } from "../../tokens.ts";
import { largest } from "../../vectors.ts";
import type { Words } from "./texts/en.ts";

const CELL = 34;

/** The model's image with one patch of blank paper. It has the model's own size, so nothing centres it anew. */
const without = (patch: number, image: Float32Array, shape: Shape) => withPatch(image, patch, shape, () => 0);

/** How far the class's logit falls when a patch is blank paper: one number a patch. */
async function occlusion(model: Vit, image: Float32Array, target: number): Promise<Float32Array> {
  const shape = shapeOf(model.config), pause = slices();
  const whole = (await model.classify(image)).logits[target]!;
  const drops = new Float32Array(shape.gridRows * shape.gridCols);
  for (let patch = 0; patch < drops.length; patch++) {
    drops[patch] = whole - (await model.classify(without(patch, image, shape))).logits[target]!;
    await pause();
  }
  return drops;
}

/** The three ways. Each has a figure and a sentence on what it can mislead about. */
const WAYS = ["occlusion", "relevance", "rollout"] as const;
type Way = (typeof WAYS)[number];

export const build: ChapterBuilder<Words> = (root, story, words) => {
  const target = h("select", { id: "why-class" });
  const nameOf = (patch: number) => tokenName(scene!.config.prefix.length + patch, scene!, story.words);
  const points = (value: number) => words.points({ points: signed(value, 2) });
  const grids = Object.fromEntries(WAYS.map((way) =>
    [way, patchGrid(story, { label: words.names[way], cell: CELL, number: way === "occlusion" ? points : undefined })])) as Record<Way, Grid>;
  const agree = h("p", { className: "why-words", ariaLive: "polite" });
  let scene: Scene | undefined;

  const show = coalesce(async (now: Scene) => {
    target.replaceChildren(...now.result.classes.map(({ label, index }) => new Option(label, String(index))));
    story.choices.restore("class", target);
    const of = Number(target.value);
    const read = await story.classify(now, { attention: true, relevance: [of] });
    const drops = read && (await story.attempt(occlusion(now.model, read.input, of)));
    if (!read || !drops) return;
    const maps: Record<Way, Float32Array> = {
      occlusion: drops,
      relevance: asShares(read.attention!.relevance(of)),
      rollout: now.result.attention.rollout(),
    };
    for (const way of WAYS) {
      const map = maps[way];
      grids[way].draw(overDrawing(now, map, way === "occlusion" ? signedScale(map) : scaleOf([map], 1 / map.length)));
    }
    const top = (way: Way) => nameOf(largest(maps[way]));
    const tops = { occlusion: top("occlusion"), relevance: top("relevance"), rollout: top("rollout") };
    agree.textContent = words.tops({ label: now.config.labels[of] ?? String(of), ...tops });
  });
  target.addEventListener("input", () => {
    story.choices.set("class", target.value);
    if (scene) show(scene);
  });

  const lead = h("p", { className: "lead" });
  root.append(
    lead,
    h("label", { className: "why-class" }, words.target, target),
    h("div", { className: "side-by-side figure" }, ...WAYS.map((way) => h("figure", { data: { way } },
      h("h3", {}, words.names[way]), grids[way].root, h("figcaption", {}, words.how[way])))),
    agree,
  );
  const guess = buildGuess(root, story, words, async (now) => {
    const { input, classes: [whole] } = now.result, patch = largest(inkOf(now));
    const covered = await story.attempt(now.model.classify(without(patch, input, now.shape)));
    if (!covered) return undefined;
    const [best] = covered.classes;
    const option = best!.index !== whole!.index ? "other" : whole!.p - best!.p < HARDLY ? "same" : "doubt";
    const [share, wholeShare] = [percent(best!.p), percent(whole!.p)];
    return { option, words: words.covered({ patch: nameOf(patch), label: best!.label, share, whole: whole!.label, wholeShare }) };
  });
  root.append(cite(words.cite));
  return (next) => {
    if (scene && scene.model !== next.model) story.choices.set("class", undefined);
    scene = next;
    lead.textContent = words.lead({ label: next.result.classes[0]!.label });
    show(scene);
    guess(scene);
  };
};

/** A map whose numbers sum to 1, because only the proportions of relevance mean something. */
function asShares(map: Float32Array): Float32Array {
  const sum = map.reduce((total, value) => total + value, 0);
  return sum > 0 ? map.map((value) => value / sum) : map;
}

