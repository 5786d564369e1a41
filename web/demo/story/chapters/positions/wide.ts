/** An image that is not square: numbered in one line, and by rows and columns. */
import type { Trace, Vit } from "vitrine";
import { css, paint, tone } from "../../../colour.ts";
import { scaled } from "../../../figure/canvas.ts";
import { nearestCell, spotAt } from "../../../figure/cells.ts";
import { drawStroke, SIDE, type Stroke } from "../../../ink.ts";
import { accent } from "../../../pixels.ts";
import { number } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import { HeatGrid, signedScale } from "../../grid.ts";
import { coalesce } from "../../coalesce.ts";
import type { Story } from "../../scene.ts";
import { cosines, positionsOf, rowOf } from "../../vectors.ts";
import { leastOf } from "./alike.ts";
import type { Part, Placed } from "./kinds.ts";
import { untrained, WIDE, WIDTH } from "./untrained.ts";

const KINDS = ["sincos1d", "sincos2d"] as const;
const { rows, cols, gridRows, gridCols, patchRows, patchCols } = WIDE;
const BORDER = 6; // pixels around the stretched drawing

/** The drawing stretched over 60 × 100 pixels (rows, columns), its ink from 0 to 1. */
function stretched(strokes: readonly Stroke[]): Float32Array {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: cols, height: rows });
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  const points = strokes.flat();
  const range = (of: (typeof points)[number][]) => (key: "x" | "y") => {
    const [low, high] = of.reduce(([a, b], { [key]: v, width }) =>
      [Math.min(a, v - width / 2), Math.max(b, v + width / 2)], [SIDE, 0]);
    return { low: low!, length: Math.max(high! - low!, 40) };
  };
  const [x, y] = [range(points)("x"), range(points)("y")];
  context.translate(BORDER, BORDER);
  context.scale((cols - 2 * BORDER) / x.length, (rows - 2 * BORDER) / y.length);
  context.translate(-x.low, -y.low);
  for (const stroke of strokes) drawStroke(context, stroke);
  const { data } = context.getImageData(0, 0, cols, rows);
  return Float32Array.from({ length: rows * cols }, (_, i) => data[4 * i + 3]! / 255);
}

type Sincos = (typeof KINDS)[number];
let models: Promise<Vit[]> | undefined;

export function buildWide(story: Story): Part {
  const texts = story.texts.positions;
  let shown: Placed | undefined;
  let patch = 7; // the middle one, counted from 0
  const choose = (row: number, column: number) => {
    patch = row * gridCols + column;
    story.say(story.texts.story.patch(row + 1, column + 1));
    if (shown) draw(shown);
  };
  const columns = KINDS.map((kind) => buildColumn(story, kind, choose));
  const tokens = new HeatGrid({ label: texts.wideTokens, texts: story.texts.grid, cell: 16, number,
    rowName: texts.nth, columnName: (column) => texts.number(column + 1) });
  const root = h("section", { className: "part", id: "positions-wide" },
    h("h3", {}, texts.wideTitle),
    h("p", { className: "lead" }, texts.wideLead),
    h("p", { className: "task" }, texts.wideTask),
    h("div", { className: "side-by-side" }, ...columns.map(({ root }) => root),
      h("figure", {}, h("figcaption", {}, texts.wideTokensCaption), tokens.root)),
    h("p", { className: "notice-this" }, texts.wideNotice));

  const draw = coalesce(async ({ scene }: Placed) => {
    models ??= Promise.all(KINDS.map(untrained));
    const image = stretched(scene.strokes);
    const traced = (await models).map(async (model) => (await model.classify(image, { trace: true })).trace!);
    const traces = await story.attempt(Promise.all(traced));
    if (!traces) return;
    traces.forEach((trace, i) => columns[i]!.draw(image, trace, patch, scene.dark));
    const values = traces[0]!.tokens("embedded");
    tokens.draw({ values, rows: values.length / WIDTH, columns: WIDTH, scale: signedScale(values), dark: scene.dark,
      marked: { row: 1 + patch } });
  });
  return {
    root,
    draw(placed) {
      shown = placed;
      draw(placed);
    },
  };
}

/** One way to number: the numbered image, the chosen patch's likeness to the others, all positions. */
function buildColumn(story: Story, kind: Sincos, choose: (row: number, column: number) => void) {
  const texts = story.texts.positions;
  const image = h("canvas", { className: "wide" });
  image.setAttribute("role", "img");
  image.setAttribute("aria-label", texts.wideImage[kind]);
  const label = (row: number, column: number) =>
    kind === "sincos1d" ? String(row * gridCols + column + 1) : `${row + 1}, ${column + 1}`;
  image.addEventListener("click", (event) =>
    choose(...nearestCell(spotAt(event, image, gridRows, gridCols), gridRows, gridCols)));
  const likeness = new HeatGrid({ label: texts.wideLikeness[kind], texts: story.texts.grid, cell: 51, number,
    rowName: (row) => story.texts.story.row(row + 1), columnName: (column) => story.texts.story.column(column + 1), choose });
  const matrix = new HeatGrid({ label: texts.widePositions[kind], texts: story.texts.grid, cell: 16, number,
    rowName: texts.nth, columnName: (column) => texts.number(column + 1) });
  const root = h("div", { className: "wide-column", data: { kind } },
    h("h4", {}, texts.kinds[kind]), image,
    h("p", { className: "figcaption" }, texts.wideLikenessCaption), likeness.root,
    h("p", { className: "figcaption" }, texts.widePositionsCaption), matrix.root);

  let painted: unknown[] = []; // positions do not depend on the drawing
  const draw = (ink: Float32Array, trace: Trace, patch: number, dark: boolean) => {
    drawNumbered(image, ink, patch, dark, label);
    if (painted[0] === patch && painted[1] === dark) return;
    painted = [patch, dark];
    const values = positionsOf(trace), like = cosines(values, WIDTH), T = values.length / WIDTH;
    likeness.draw({ values: rowOf(like, 1 + patch, T).subarray(1), rows: gridRows, columns: gridCols,
      scale: { low: leastOf(like, 1), high: 1 }, dark, marked: { row: Math.floor(patch / gridCols), column: patch % gridCols } });
    matrix.draw({ values, rows: T, columns: WIDTH, scale: signedScale(values), dark, marked: { row: 1 + patch } });
    root.dataset.positions = [...values].join(" ");
  };
  return { root, draw };
}

const ink = document.createElement("canvas");

/** Draws the image cut into patches, with each patch's number in its corner. */
function drawNumbered(canvas: HTMLCanvasElement, image: Float32Array, patch: number, dark: boolean,
  label: (row: number, column: number) => string): void {
  const cell = 51, gap = 1.5, context = scaled(canvas, gridCols * cell, gridRows * cell);
  paint(ink, rows, cols, (row, col) => tone(image[row * cols + col]!, dark));
  context.font = `12px ${getComputedStyle(canvas).fontFamily}`;
  context.textBaseline = "top";
  for (let row = 0; row < gridRows; row++) {
    for (let column = 0; column < gridCols; column++) {
      const [x, y] = [column * cell, row * cell];
      context.drawImage(ink, column * patchCols, row * patchRows, patchCols, patchRows,
        x + gap, y + gap, cell - 2 * gap, cell - 2 * gap);
      const text = label(row, column), width = context.measureText(text).width;
      context.fillStyle = css(tone(0, dark));
      context.fillRect(x + gap, y + gap, width + 6, 16);
      context.fillStyle = css(tone(1, dark));
      context.fillText(text, x + gap + 3, y + gap + 2);
      if (row * gridCols + column !== patch) continue;
      context.strokeStyle = css(accent(dark));
      context.lineWidth = 3;
      context.strokeRect(x + gap, y + gap, cell - 2 * gap, cell - 2 * gap);
    }
  }
}
