/** One query's row: a column for each token, with its score, its share and its value by that share. */
import { place, type Scale } from "../../../../base/heat.ts";
import { accent, css, cssHeat } from "../../../colour.ts";
import { h, write } from "../../../dom.ts";
import { sized } from "../../../figure/canvas.ts";
import { onPointer } from "../../../figure/cells.ts";
import { saveable } from "../../../figure/parts.ts";
import { number, percent } from "../../../texts/words.ts";
import { signedColour, signedScale } from "../../grid.ts";
import { type Answer, outputOf } from "./head.ts";
import type { Words } from "./texts/en.ts";

/** How far the figure is built up while it plays. Counts of tokens, or 0 to 1. */
export interface Progress {
  scores: readonly [from: number, to: number];
  shares: number;
  weighted: number;
  summed: number;
}

interface Row extends Answer {
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

const CELL = 14, LEFT = 56, HEAD = 18, GAP = 12;
const SCORES = 52, SHARES = 48, VALUE = 6, OUT = 28; // VALUE is the height of one number of a value

const left = (token: number) => LEFT + token * CELL;

export function buildStrip(words: Words, point: (token: number) => void) {
  const canvas = saveable(h("canvas", { tabIndex: 0, className: "strip", role: "slider", ariaValueMin: "0" }), words.strip);
  const scroll = h("div", { className: "grid-scroll" }, canvas), says = h("p", { className: "grid-words" }), legend = h("p", { className: "grid-legend" });
  let count = 0, chosen = -1;

  /** Scrolls the figure's own box, never the page. */
  const reveal = () => {
    const { scrollLeft, clientWidth } = scroll, x = left(chosen);
    if (x < scrollLeft + CELL || x + 2 * CELL > scrollLeft + clientWidth) scroll.scrollLeft = x - clientWidth / 2;
  };
  onPointer(canvas, ({ offsetX }) => {
    const token = Math.floor((offsetX - LEFT) / CELL);
    if (token >= 0 && token < count) point(token);
  });
  canvas.addEventListener("keydown", (event) => {
    const next = {
      ArrowLeft: chosen - 1, ArrowDown: chosen - 1, ArrowRight: chosen + 1, ArrowUp: chosen + 1, Home: 0, End: count - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    point(Math.max(0, Math.min(count - 1, next)));
  });

  return {
    root: h("div", { className: "grid" }, scroll, legend, says),
    canvas,
    draw(row: Row): void {
      const { key, name, scores, weights, scale, values } = row, isNew = key !== chosen;
      [chosen, count] = [key, scores.length];
      const { signed } = signedScale(values);
      paintRow(canvas, row, signed, words);
      write(says, words.of({ token: name(key), score: number(scores[key]!), share: percent(weights[key]!) }));
      write(legend, words.stripLegend({ share: percent(scale.top), top: number(signed) }));
      Object.assign(canvas, { ariaValueNow: String(key), ariaValueMax: String(count - 1), ariaValueText: says.textContent });
      if (isNew) reveal();
    },
  };
}

/** `top` is the end of the values' scale. */
function paintRow(canvas: HTMLCanvasElement, row: Row, top: number, words: Words): void {
  const { scores, weights, values, output: { length: d }, key, query, marks, scale, progress, dark } = row, tokens = scores.length;
  const middle = HEAD + SCORES / 2, floor = HEAD + SCORES + GAP + SHARES, below = floor + 2 * GAP, end = left(tokens), out = end + GAP;
  const width = out + OUT + 4, height = below + d * VALUE + 2;
  const context = sized(canvas, width, height), { backgroundColor, color, fontFamily } = getComputedStyle(canvas);
  const quiet = getComputedStyle(canvas).getPropertyValue("--quiet");
  const rect = (colour: string, ...box: [x: number, y: number, width: number, height: number]) => {
    context.fillStyle = colour;
    context.fillRect(...box);
  };
  const text = (label: string, x: number, y: number, most: number, colour = quiet) => {
    context.fillStyle = colour;
    context.fillText(label, x, y, most);
  };
  context.font = `11px ${fontFamily}`;
  rect(backgroundColor, 0, 0, width, height);
  for (const [token, name] of marks) {
    text(name, left(token), 11, tokens * CELL);
    rect(quiet, left(token) - 0.5, 14, 1, floor - 14);
  }
  text("▾", left(query) + 3, HEAD + 4, CELL, color);

  text(words.scores, 0, middle + 4, LEFT - 6);
  rect(quiet, LEFT, middle - 0.5, tokens * CELL, 1);
  const most = signedScale(scores).signed;
  for (let token = progress.scores[0]; token < progress.scores[1]; token++) {
    rect(signedColour(scores[token]!, most, dark), left(token) + 1, middle, CELL - 2, -((scores[token]! / (most || 1)) * SCORES) / 2);
  }

  text(words.shares, 0, floor - SHARES / 2 + 4, LEFT - 6);
  rect(quiet, LEFT, floor - 0.5, tokens * CELL, 1);
  const heightOf = (share: number) => (share / scale.top) * SHARES;
  weights.forEach((weight, token) => {
    const tall = heightOf(weight) * progress.shares;
    rect(cssHeat(place(weight, scale), dark), left(token) + 1, floor - tall, CELL - 2, tall);
  });
  const equal = Math.round(floor - heightOf(scale.uniform)); // the share that all would have if they were equal
  for (let x = LEFT; x < end; x += 6) rect(quiet, x, equal, 3, 1);

  const cells = (numbers: ArrayLike<number>, from: number, factor: number, x: number, wide: number) => {
    for (let i = 0; i < d; i++) rect(signedColour(numbers[from + i]! * factor, top, dark), x, below + i * VALUE, wide - 1, VALUE - 1);
  };
  text(words.values, 0, below + 11, LEFT - 6);
  if (progress.weighted > 0) text(words.timesShare, 0, below + 25, LEFT - 6);
  weights.forEach((weight, token) => cells(values, token * d, 1 + (weight - 1) * progress.weighted, left(token), CELL));
  text(words.outputShort, out, below - 5, OUT);
  cells(outputOf(weights, values, progress.summed), 0, 1, out, OUT);
  context.strokeStyle = quiet;
  context.lineWidth = 1;
  context.strokeRect(out - 0.5, below - 0.5, OUT, d * VALUE);

  context.strokeStyle = css(accent(dark));
  context.lineWidth = 2;
  context.strokeRect(left(key), HEAD - 1, CELL, height - HEAD);
}
