/** One query's row: a column for each token, with its score, its share and its value by that share. */
import { css, cssTint } from "../../../colour.ts";
import { heat, place, type Scale } from "../../../../base/heat.ts";
import { sized } from "../../../figure/canvas.ts";
import { percent } from "../../../logits.ts";
import { accent } from "../../../pixels.ts";
import type { Said } from "../../../texts/sentences.ts";
import { number } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import { saveable } from "../../../figure/parts.ts";
import { signedColour, signedScale } from "../../grid.ts";
import { type Answer, outputOf } from "./head.ts";
import { write } from "../../../write.ts";
import type { texts } from "./texts/en.ts";

type Words = Said<typeof texts>;

/** How far the figure is built up while it plays. Counts of tokens, or 0 to 1. */
export interface Progress {
  scores: readonly [from: number, to: number];
  shares: number;
  weighted: number;
  summed: number;
}

export interface Row extends Answer {
  values: Float64Array; // (T,d)
  key: number;
  query: number;
  /** The first token of each row of the grid, with its name; the class token too. */
  marks: readonly (readonly [token: number, name: string])[];
  name(token: number): string;
  scale: Scale;
  progress: Progress;
  dark: boolean;
}

const CELL = 14;
const [LEFT, HEAD, GAP] = [56, 18, 12];
const [SCORES, SHARES, VALUE, OUT] = [52, 48, 6, 28]; // VALUE is the height of one number of a value

export class Strip {
  readonly root: HTMLElement;
  readonly canvas = h("canvas", { tabIndex: 0, className: "strip" });
  readonly #scroll: HTMLElement;
  readonly #words = h("p", { className: "grid-words" });
  readonly #legend = h("p", { className: "grid-legend" });
  readonly #texts: Words;
  #row?: Row;

  constructor(words: Words, point: (token: number) => void) {
    this.#texts = words;
    this.canvas.role = "slider";
    this.canvas.ariaLabel = words.strip;
    this.canvas.ariaValueMin = "0";
    this.#scroll = h("div", { className: "grid-scroll" }, saveable(this.canvas, words.strip));
    this.root = h("div", { className: "grid" }, this.#scroll, this.#legend, this.#words);
    this.#listen(point);
  }

  draw(row: Row): void {
    this.#row = row;
    const { scores: { length: tokens }, output: { length: d } } = row;
    const [width, height] = [LEFT + tokens * CELL + GAP + OUT + 4, HEAD + SCORES + SHARES + 3 * GAP + d * VALUE + 2];
    const context = sized(this.canvas, width, height);
    const style = getComputedStyle(this.canvas);
    context.fillStyle = style.backgroundColor;
    context.fillRect(0, 0, width, height);
    const pen: Pen = { context, row, ink: style.color, quiet: style.getPropertyValue("--quiet") };
    context.font = `11px ${style.fontFamily}`;
    const bottom = HEAD + SCORES + SHARES + 2 * GAP;
    drawMarks(pen);
    drawScores(pen, this.#texts);
    drawShares(pen, this.#texts);
    const topValue = drawValues(pen, bottom + GAP, this.#texts);
    frame(pen, row.key, height);
    this.#write(topValue);
  }

  #write(topValue: number): void {
    const { key, name, scores, weights, scale } = this.#row!;
    const text = this.#texts.of({ token: name(key), score: number(scores[key]!), share: percent(weights[key]!) });
    write(this.#words, text);
    write(this.#legend, this.#texts.stripLegend({ share: percent(scale.top), top: number(topValue) }));
    const { ariaValueNow } = this.canvas;
    this.canvas.ariaValueNow = String(key);
    this.canvas.ariaValueMax = String(scores.length - 1);
    this.canvas.ariaValueText = text;
    if (ariaValueNow !== String(key)) this.#reveal(key);
  }

  /** Scrolls the figure's own box, never the page. */
  #reveal(key: number): void {
    const { scrollLeft, clientWidth } = this.#scroll;
    const x = LEFT + key * CELL;
    if (x < scrollLeft + CELL || x + 2 * CELL > scrollLeft + clientWidth) this.#scroll.scrollLeft = x - clientWidth / 2;
  }

  #listen(point: (token: number) => void): void {
    const at = ({ offsetX }: MouseEvent) => {
      const token = Math.floor((offsetX - LEFT) / CELL);
      if (this.#row && token >= 0 && token < this.#row.scores.length) point(token);
    };
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") at(event);
    });
    this.canvas.addEventListener("click", at);
    this.canvas.addEventListener("keydown", (event) => {
      if (!this.#row) return;
      const { key, scores: { length } } = this.#row;
      const next = {
        ArrowLeft: key - 1, ArrowDown: key - 1, ArrowRight: key + 1, ArrowUp: key + 1, Home: 0, End: length - 1,
      }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      point(Math.max(0, Math.min(length - 1, next)));
    });
  }
}

interface Pen {
  context: CanvasRenderingContext2D;
  row: Row;
  ink: string;
  quiet: string;
}

const left = (token: number) => LEFT + token * CELL;

/** The names of the grid's rows above the tokens, and an arrow at the query's own token. */
function drawMarks({ context, row: { marks, query, scores }, quiet, ink }: Pen): void {
  context.textBaseline = "alphabetic";
  context.fillStyle = quiet;
  for (const [token, name] of marks) {
    context.fillText(name, left(token), 11, scores.length * CELL);
    context.fillRect(left(token) - 0.5, 14, 1, HEAD + SCORES + SHARES + GAP - 14);
  }
  context.fillStyle = ink;
  context.fillText("▾", left(query) + 3, HEAD + 4);
}

function drawScores({ context, row, quiet }: Pen, { scores: label }: Words): void {
  const { scores, progress, dark } = row;
  const { signed: top } = signedScale(scores);
  const middle = HEAD + SCORES / 2;
  context.fillStyle = quiet;
  context.fillText(label, 0, middle + 4, LEFT - 6);
  context.fillRect(LEFT, middle - 0.5, scores.length * CELL, 1);
  for (let token = progress.scores[0]; token < progress.scores[1]; token++) {
    const height = ((scores[token]! / (top || 1)) * SCORES) / 2;
    context.fillStyle = signedColour(scores[token]!, top, dark);
    context.fillRect(left(token) + 1, middle, CELL - 2, -height);
  }
}

/** Bars from 0. A dashed line is at the share that all would have if they were equal. */
function drawShares({ context, row, quiet }: Pen, { shares: label }: Words): void {
  const { weights, scale, progress, dark } = row;
  const bottom = HEAD + SCORES + GAP + SHARES;
  const heightOf = (share: number) => (share / scale.top) * SHARES;
  context.fillStyle = quiet;
  context.fillText(label, 0, bottom - SHARES / 2 + 4, LEFT - 6);
  context.fillRect(LEFT, bottom - 0.5, weights.length * CELL, 1);
  for (let token = 0; token < weights.length; token++) {
    const height = heightOf(weights[token]!) * progress.shares;
    context.fillStyle = cssTint(heat(place(weights[token]!, scale), dark));
    context.fillRect(left(token) + 1, bottom - height, CELL - 2, height);
  }
  const line = Math.round(bottom - heightOf(scale.uniform)) + 0.5;
  context.strokeStyle = quiet;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(LEFT, line);
  context.lineTo(left(weights.length), line);
  context.stroke();
  context.setLineDash([]);
}

/** The values (d rows), each by its share, and their sum at the right. Returns the scale's top. */
function drawValues({ context, row, quiet }: Pen, top: number, texts: Words): number {
  const { values, weights, output: { length: d }, progress, dark } = row;
  const { signed } = signedScale(values);
  const cell = (value: number, x: number, i: number, width: number) => {
    context.fillStyle = signedColour(value, signed, dark);
    context.fillRect(x, top + i * VALUE, width - 1, VALUE - 1);
  };
  context.fillStyle = quiet;
  context.fillText(texts.values, 0, top + 11, LEFT - 6);
  if (progress.weighted > 0) context.fillText(texts.timesShare, 0, top + 25, LEFT - 6);
  weights.forEach((weight, token) => {
    const factor = 1 + (weight - 1) * progress.weighted;
    for (let i = 0; i < d; i++) cell(values[token * d + i]! * factor, left(token), i, CELL);
  });
  const x = left(weights.length) + GAP;
  context.fillStyle = quiet;
  context.fillText(texts.outputShort, x, top - 5, OUT);
  outputOf(weights, values, progress.summed).forEach((value, i) => cell(value, x, i, OUT));
  context.strokeStyle = quiet;
  context.strokeRect(x - 0.5, top - 0.5, OUT, d * VALUE);
  return signed;
}

function frame({ context, row: { dark } }: Pen, key: number, height: number): void {
  context.strokeStyle = css(accent(dark));
  context.lineWidth = 2;
  context.strokeRect(left(key), HEAD - 1, CELL, height - HEAD);
  context.lineWidth = 1;
}
