/** Which patches spoke for a class: occlusion, gradient × attention and rollout, side by side. */
import type { Vit } from "vitrine";
import { scaleOf } from "../../base/heat.ts";
import { shapeOf } from "../pixels.ts";
import { cite } from "./cite.ts";
import { h } from "../dom.ts";
import { HeatGrid, signedScale, type Values } from "./grid.ts";
import { coalesce } from "./coalesce.ts";
import type { Chapter, Scene } from "./scene.ts";
import { slices } from "./slices.ts";
import { paperOf } from "./tokens.ts";

const CELL = 34;

/**
 * How far the class's logit falls when a patch is blank paper: one number a patch. The images have
 * the model's own size, so nothing centres them anew.
 */
export async function occlusion(model: Vit, image: Float32Array, target: number): Promise<Float32Array> {
  const { cols, patchRows, patchCols, gridRows, gridCols } = shapeOf(model.config);
  const without = Array.from({ length: gridRows * gridCols }, (_, patch) => {
    const copy = image.slice();
    const [top, left] = [Math.floor(patch / gridCols) * patchRows, (patch % gridCols) * patchCols];
    for (let row = top; row < top + patchRows; row++)
      copy.fill(0, row * cols + left, row * cols + left + patchCols);
    return copy;
  });
  const pause = slices();
  const logits: number[] = [];
  for (const each of [image, ...without]) {
    logits.push((await model.classify(each)).logits[target]!);
    await pause();
  }
  const [whole, ...others] = logits;
  return Float32Array.from(others, (logit) => whole! - logit);
}

/** The three ways. Each has a figure and a sentence on what it can mislead about. */
const WAYS = ["occlusion", "relevance", "rollout"] as const;
type Way = (typeof WAYS)[number];

export const chapter: Chapter = (root, story) => {
  const { why, story: common, grid: texts } = story.texts;
  const target = h("select", { id: "why-class" });
  const place = (patch: number) => {
    const columns = scene?.shape.gridCols ?? 7;
    return [Math.floor(patch / columns), patch % columns] as const;
  };
  const makeGrid = (way: Way) =>
    new HeatGrid({
      label: why.names[way],
      texts,
      cell: CELL,
      rowName: (row) => common.row(row + 1),
      columnName: (column) => common.column(column + 1),
      number: way === "occlusion" ? why.points : undefined,
      choose: (row, col) => story.choose({ patch: [row, col] }),
    });
  const grids = Object.fromEntries(WAYS.map((way) => [way, makeGrid(way)])) as Record<Way, HeatGrid>;
  const agree = h("p", { className: "why-words" });
  agree.setAttribute("aria-live", "polite");
  let scene: Scene | undefined;

  const show = coalesce(async (now: Scene) => {
    target.replaceChildren(...now.result.classes.map(({ label, index }) => new Option(label, String(index))));
    story.choices.restore("class", target);
    const of = Number(target.value);
    const read = await story.classify(now, { attention: true, relevance: [of] });
    const lost = read && (await story.attempt(occlusion(now.model, read.input, of)));
    if (!read || !lost) return;
    const maps: Record<Way, Float32Array> = {
      occlusion: lost,
      relevance: asShares(read.attention!.relevance(of)),
      rollout: now.result.attention.rollout(),
    };
    for (const way of WAYS) grids[way].draw(figure(now, way, maps[way]));
    const tops = WAYS.map((way) => common.patch(...onePlus(place(largest(maps[way])))));
    agree.textContent = why.tops(now.config.labels[of] ?? String(of), tops);
  });
  target.addEventListener("input", () => {
    story.choices.set("class", target.value);
    if (scene) show(scene);
  });

  root.append(
    h("p", { className: "lead" }, why.lead),
    h("p", { className: "task" }, why.task),
    h("label", { className: "why-class" }, why.target, target),
    h("div", { className: "side-by-side figure" }, ...WAYS.map((way) => h("figure", { data: { way } },
      h("h3", {}, why.names[way]), grids[way].root, h("figcaption", {}, why.how[way])))),
    agree,
    h("p", { className: "notice-this" }, why.notice),
    cite(why.cite),
  );
  return (next) => {
    if (scene && scene.model !== next.model) story.choices.set("class", undefined);
    scene = next;
    show(scene);
  };
};

function figure(scene: Scene, way: Way, values: Float32Array): Values {
  const { shape: { gridRows: rows, gridCols: columns }, dark, patch } = scene;
  const scale = way === "occlusion" ? signedScale(values) : scaleOf([values], 1 / values.length);
  return { values, rows, columns, scale, dark, under: paperOf(scene), marked: { row: patch[0], column: patch[1] } };
}

/** A map whose numbers sum to 1, because only the proportions of relevance mean something. */
function asShares(map: Float32Array): Float32Array {
  const sum = map.reduce((total, value) => total + value, 0);
  return sum > 0 ? map.map((value) => value / sum) : map;
}

const largest = (map: Float32Array) => map.reduce((best, value, at) => (value > map[best]! ? at : best), 0);
const onePlus = ([row, col]: readonly [number, number]) => [row + 1, col + 1] as const;
