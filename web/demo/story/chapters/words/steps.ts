/** One step of the decoder: where it looks in the picture, which tokens it looks back at, and what the cache keeps for it. */
import { h, slider, write } from "../../../dom.ts";
import { player, saveable, svg } from "../../../figure/parts.ts";
import { inPadUnits } from "../../../ink.ts";
import { ACROSS } from "../../../number/examples.ts";
import { LANGUAGES } from "../../../number/languages.ts";
import { paintMap } from "../../../overlay.ts";
import { drawInk } from "../../../pad.ts";
import { tag } from "../../../texts/words.ts";
import { buildGrid } from "../../grid.ts";
import type { Story } from "../../scene.ts";
import type { Words } from "./texts/en.ts";
import { nameOf, selfOf, type Transcription } from "./view.ts";

const STEP_MS = 700;

export function buildSteps(story: Story, words: Words) {
  let current: Transcription | undefined, steps = 0, step = 0; // counted from 0
  const picture = saveable(h("canvas", { className: "wide" }), words.picture);
  const text = h("p", { className: "written" }), says = h("p", { className: "kept" });
  const control = slider(words.step, [1, 1, 1], 1, (value) => {
    step = value - 1;
    show();
  });
  control.input.id = "words-step";
  const at = (index: number) => (current && nameOf(current.result.tokens[index]!)) ?? words.end;
  const matrix = buildGrid(story, {
    label: words.matrix, cell: 22,
    rowName: (row) => words.writes({ n: row + 1, token: at(row) }),
    columnName: (column) => (column === 0 ? words.start : words.reads({ token: at(column - 1) })),
    choose: (row) => control.move(row + 1),
  });
  const cache = saveable(svg("svg", { class: "cache" }), words.cache);
  const root = h("div", { className: "side-by-side" },
    h("div", { className: "step" }, h("div", { className: "step-tools" }, control.label, player(words.play, control, STEP_MS * 8)), text,
      h("figure", {}, h("div", { className: "sheet" }, picture), h("figcaption", {}, words.pictureIs))),
    h("figure", { className: "matrix" }, h("figcaption", {}, words.matrixIs), matrix.root),
    h("figure", { className: "caches" }, cache, says));

  const show = () => {
    if (!current) return;
    const { result, strokes, shape, dark, language } = current, { decoder } = current.config, all = result.tokens;
    text.lang = LANGUAGES[language].tag || tag;
    text.replaceChildren(...all.flatMap((token, i) =>
      [h("wbr"), h("span", { className: i === step ? "lit" : i > step ? "later" : "" }, nameOf(token) ? token.text : " ·")]));
    const context = inPadUnits(picture, ACROSS);
    paintMap(context, result.attention!.fromToken(step), result.placement, shape, dark);
    drawInk(context, strokes, getComputedStyle(picture).color, ACROSS);
    matrix.draw({
      values: selfOf(result), rows: steps, columns: steps, dark, scale: { top: 1, uniform: 0 }, marked: { row: step },
      hidden: (row, column) => column > row,
    });
    drawCache(cache, words, { layers: decoder!.depth, steps, step, grid: result.attention!.grid });
    write(says, words.kept({ n: step + 1, kept: step, patches: shape.gridRows * shape.gridCols }));
    control.input.ariaValueText = words.writes({ n: step + 1, token: at(step) });
    root.dataset.step = String(step + 1);
  };
  new ResizeObserver(show).observe(picture);
  return {
    root,
    /** Shows another text, at a step in its middle. */
    draw(next: Transcription): void {
      const isOther = current?.result !== next.result;
      current = next;
      steps = next.result.tokens.length;
      control.input.max = String(steps);
      if (isOther) control.move(Math.ceil(steps / 2) + 1);
      else show();
    },
    /** Shows a step, counted from 1, or the last one. */
    goTo: (n: number) => control.move(Math.min(n, steps)),
  };
}

const CELL = 18, GAP = 2, NAME = 78, ROW = 2 * CELL + 8;

interface Cache {
  layers: number;
  steps: number;
  step: number;
  grid: readonly [rows: number, columns: number];
}

/** For each layer a key above a value for every token, and beside them the picture's. */
function drawCache(root: SVGSVGElement, words: Words, { layers, steps, step, grid: [rows, columns] }: Cache): void {
  const left = NAME + steps * CELL + 26, small = (2 * CELL - GAP) / rows, width = left + columns * small + 60, height = layers * ROW;
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("width", String(width));
  const name = (x: number, y: number, text: string, anchor = "start") => svg("text", { x, y, "text-anchor": anchor }, text);
  root.replaceChildren(...Array.from({ length: layers }, (_, layer) => {
    const y = layer * ROW;
    return svg("g", {},
      name(0, y + 14, words.layer({ n: layer + 1 })), name(NAME - 8, y + 14, "K", "end"), name(NAME - 8, y + CELL + 14, "V", "end"),
      ...Array.from({ length: steps }, (_, token) => [0, 1].map((part) => svg("rect", {
        class: token < step ? "kept" : token === step ? "new" : "empty",
        x: NAME + token * CELL, y: y + part * CELL, width: CELL - GAP, height: CELL - GAP, rx: 3,
      }))).flat(),
      ...Array.from({ length: rows * columns }, (_, patch) => svg("rect", {
        class: "kept", x: left + (patch % columns) * small, y: y + Math.floor(patch / columns) * small, width: small - 0.7, height: small - 0.7,
      })),
      ...(layer === 0 ? [name(left + columns * small + 6, y + 14, words.ofPicture)] : []));
  }));
}
