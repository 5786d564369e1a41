/** How alike the positions are: each with each, and the chosen patch's with all others on the grid. */
import { number } from "../../../texts/words.ts";
import { type AnyScale, HeatGrid, signedScale } from "../../grid.ts";
import { h } from "../../../dom.ts";
import type { Story } from "../../scene.ts";
import { tokenName } from "../../tokens.ts";
import { cosines, positionsOf, rowOf } from "../../vectors.ts";
import { chooseToken } from "./added.ts";
import { layerAndHead, type Part, patchOf, type Placed, tokenOf } from "./kinds.ts";
import { biasOf } from "./numbers.ts";
import { write } from "../../../write.ts";

/** Each token with each (T,T): the cosine of their positions, or the bias of the chosen head. */
function matrixOf(placed: Placed): { values: Float32Array; scale: AnyScale } {
  const { kind, model: { config }, traced: { trace } } = placed;
  if (kind !== "relative") {
    const values = cosines(positionsOf(trace), config.width);
    const low = leastOf(values, config.prefix.length);
    return { values, scale: low < 0 ? { signed: 1 } : { low, high: 1 } };
  }
  const [layer, head] = layerAndHead(placed);
  const values = biasOf(trace, layer, head);
  // One scale for all layers, so that a layer with small biases is faint.
  return { values, scale: signedScale(...Array.from({ length: config.depth }, (_, at) => biasOf(trace, at, head))) };
}

/** The least cosine of two patches. The prefix does not count: its row may be zeros. */
export function leastOf(matrix: Float32Array, prefix: number): number {
  const T = Math.sqrt(matrix.length);
  return matrix.reduce((least, value, i) =>
    i % T >= prefix && i >= prefix * T ? Math.min(least, value) : least, 1);
}

/** The mean cosine of a patch with the one to its right, and with the one below it. */
function neighbours(matrix: Float32Array, prefix: number, columns: number): [right: number, down: number] {
  const T = Math.sqrt(matrix.length);
  const mean = (step: number, has: (patch: number) => boolean) => {
    const found = Array.from({ length: T - prefix - step }, (_, patch) => patch).filter(has);
    return found.reduce((sum, patch) => sum + matrix[(prefix + patch) * T + prefix + patch + step]!, 0) / found.length;
  };
  return [mean(1, (patch) => patch % columns < columns - 1), mean(columns, () => true)];
}

export function buildAlike(story: Story): Part {
  const texts = story.texts.positions;
  let shown: Placed | undefined, painted: unknown[] = [];
  const name = (token: number) => tokenName(token, shown!, story.texts);
  const patchToken = (row: number, column: number) =>
    shown!.model.config.prefix.length + row * shown!.shape.gridCols + column;
  const place = new HeatGrid({
    label: texts.placeLabel,
    texts: story.texts.grid,
    rowName: (row) => story.texts.story.row(row + 1),
    columnName: (column) => story.texts.story.column(column + 1),
    number,
    cell: 36,
    choose: (row, column) => chooseToken(story, shown!, patchToken(row, column)),
  });
  const all = new HeatGrid({
    label: texts.allLabel,
    texts: story.texts.grid,
    rowName: name,
    columnName: name,
    number,
    choose: (token) => chooseToken(story, shown!, token),
  });
  place.canvas.id = "positions-place";
  all.canvas.id = "positions-alike";
  const [title, lead, notice] = [h("h3"), h("p", { className: "lead" }), h("p", { className: "notice-this" })];
  const [placeCaption, allCaption] = [h("figcaption"), h("figcaption", {}, texts.allCaption)];
  const figures = h("div", { className: "figure" },
    h("div", { className: "side-by-side" },
      h("figure", {}, placeCaption, place.root),
      h("div", { className: "beside" }, h("p", { className: "task" }, texts.alikeTask), notice)),
    h("figure", {}, allCaption, all.root));
  const root = h("section", { className: "part" }, title, lead, figures);

  const draw = (placed: Placed) => {
    shown = placed;
    const { kind, scene, shape, model: { config } } = placed;
    const token = tokenOf(placed), [row, column] = patchOf(placed);
    const [layer, head] = layerAndHead(placed);
    const relative = kind === "relative";
    write(title, relative ? texts.biasTitle : texts.alikeTitle);
    write(lead, kind === "none" ? texts.alikeNone : relative ? texts.biasLead(layer + 1, head + 1) : texts.alikeLead);
    write(placeCaption, texts.placeCaption(story.texts.story.patch(row + 1, column + 1)));
    figures.hidden = kind === "none";
    const now: unknown[] = [kind, token, scene.dark, relative && layer, relative && head];
    if (figures.hidden || now.every((value, i) => value === painted[i])) return;
    painted = now;
    const { values, scale } = matrixOf(placed);
    const T = Math.sqrt(values.length);
    write(notice, kind === "learned"
      ? texts.alikeNotice.learned(...neighbours(values, config.prefix.length, shape.gridCols)) : texts.alikeNotice[kind]);
    all.draw({ values, rows: T, columns: T, scale, dark: scene.dark, marked: { row: token } });
    place.draw({ values: rowOf(values, token, T).subarray(config.prefix.length), rows: shape.gridRows,
      columns: shape.gridCols, scale, dark: scene.dark, marked: { row, column } });
    place.canvas.dataset.values = [...rowOf(values, token, T)].join(" ");
  };
  return { root, draw };
}
