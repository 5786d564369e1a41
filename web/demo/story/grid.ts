/** A grid of numbers as colours. It has a scale, named rows and columns, and words for each cell. */
import { css, cssTint, paintScale, tone } from "../colour.ts";
import { type Colour, heat, mix, place, type Range, type Scale, within } from "../../base/heat.ts";
import { sized } from "../figure/canvas.ts";
import { ARROWS, spotAt } from "../figure/cells.ts";
import { percent } from "../logits.ts";
import { accent } from "../pixels.ts";
import type { GridTexts } from "../texts/en.ts";
import { percentage, rough } from "../texts/words.ts";
import { h } from "../dom.ts";
import { saveable } from "../figure/parts.ts";
import { write } from "../write.ts";

/** Numbers of both signs, from -top to top. */
export interface Signed {
  readonly signed: number;
}

/** Shares from 0 up, numbers of both signs, or numbers between two ends. */
export type AnyScale = Scale | Signed | Range;

export interface Values {
  values: ArrayLike<number>; // (rows, columns)
  rows: number;
  columns: number;
  scale: AnyScale;
  dark: boolean;
  /** The cells that are outlined in the accent colour: a row, a column, or one cell. */
  marked?: { row?: number; column?: number };
  /** A picture of the whole grid that shows through the colours, such as the ink. */
  under?: CanvasImageSource;
  /** Cells without a number. They are hatched, whatever `values` holds there. */
  hidden?(row: number, column: number): boolean;
}

export interface GridOptions {
  /** Names the figure for screen readers, and the file of its picture. */
  label: string;
  texts: GridTexts;
  /** What a row or a column stands for, such as "row 4, column 3". */
  rowName(row: number): string;
  columnName(column: number): string;
  /** A cell's number in words; a percentage without it. */
  number?(value: number): string;
  /** The side of a cell in CSS pixels; at least 14. */
  cell?: number;
  choose?(row: number, column: number): void;
  /** The pointer or the arrow keys came to a cell. */
  point?(row: number, column: number): void;
}

const LEAST_CELL = 14;

const strength = (value: number, top: number) => Math.sqrt(top > 0 ? Math.min(1, Math.abs(value) / top) : 0);
/** As --voice and --opposite in the page's base.css. */
const sideOf = (value: number, dark: boolean): Colour =>
  value > 0 ? (dark ? [255, 138, 76] : [197, 51, 26]) : dark ? [92, 179, 207] : [31, 111, 139];

/** The colour of a signed number on the theme's paper: the voice's colour above 0, its opposite below. */
export const signedTone = (value: number, top: number, dark: boolean): Colour =>
  mix(tone(0, dark), sideOf(value, dark), strength(value, top));

export const signedColour = (value: number, top: number, dark: boolean): string =>
  css(signedTone(value, top, dark));

/** A cell's colour, to be laid over paper: small numbers let it through. */
export const colourOf = (value: number, scale: AnyScale, dark: boolean): string =>
  cssTint(
    "signed" in scale ? [...sideOf(value, dark), strength(value, scale.signed)]
      : heat("low" in scale ? within(value, scale) : place(value, scale), dark),
  );

/** The largest distance from 0, for a signed scale. */
export const signedScale = (...lists: ArrayLike<number>[]): Signed => {
  let signed = 0;
  for (const list of lists)
    for (let i = 0; i < list.length; i++) signed = Math.max(signed, Math.abs(list[i]!));
  return { signed };
};

/** Draws the colours of a scale with its ends in words, and the words for the tick in it. */
export function drawLegend(root: HTMLElement, scale: Scale | undefined, dark: boolean, [low, high, tick]: readonly [string, string, string]): void {
  if (root.childElementCount === 0)
    root.replaceChildren(h("span"), h("canvas", { width: 150, height: 10, aria: { hidden: "true" } }), h("span"), h("span"));
  const [first, bar, last, mark] = root.children as unknown as [Element, HTMLCanvasElement, Element, Element];
  paintScale(bar, scale, dark);
  for (const [part, text] of [[first, low], [last, high], [mark, tick]] as const) write(part, text);
}

export class HeatGrid {
  readonly root: HTMLElement;
  readonly canvas = h("canvas", { tabIndex: 0 });
  readonly #options: GridOptions;
  readonly #scroll = h("div", { className: "grid-scroll" });
  readonly #words = h("p", { className: "grid-words" });
  readonly #legend: HTMLElement;
  #shown?: Values;
  #cursor?: [row: number, column: number];

  constructor(options: GridOptions) {
    this.#options = options;
    const { label, texts } = options;
    this.canvas.setAttribute("role", options.choose ? "application" : "img");
    this.canvas.setAttribute("aria-roledescription", texts.kind);
    this.canvas.setAttribute("aria-label", label);
    this.canvas.setAttribute("aria-description", texts.keys);
    this.#words.setAttribute("aria-live", "polite");
    this.#legend = h("p", { className: "grid-legend" });
    this.#scroll.append(saveable(this.canvas, label));
    this.root = h("div", { className: "grid" }, this.#scroll, this.#legend, this.#words);
    this.#listen();
  }

  draw(shown: Values): void {
    this.#shown = shown;
    const { rows, columns } = shown;
    const cell = Math.max(LEAST_CELL, this.#options.cell ?? LEAST_CELL);
    this.#paint(sized(this.canvas, columns * cell, rows * cell, columns, rows), shown, cell);
    this.#drawLegend(shown);
    this.#write();
  }

  #paint(context: CanvasRenderingContext2D, shown: Values, cell: number): void {
    const { values, rows, columns, scale, dark, marked, under, hidden } = shown;
    context.fillStyle = css(tone(0, dark));
    context.fillRect(0, 0, columns, rows);
    context.imageSmoothingEnabled = false;
    if (under) context.drawImage(under, 0, 0, columns, rows);
    const gap = 1 / cell;
    const hatch = hidden && hatching(context, cell, dark);
    for (let row = 0, i = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++, i++) {
        const blank = hidden?.(row, column);
        context.fillStyle = blank ? hatch! : colourOf(values[i]!, scale, dark);
        context.fillRect(column, row, blank ? 1 : 1 - gap, blank ? 1 : 1 - gap);
      }
    }
    context.lineWidth = 2 / cell;
    if (marked) {
      context.strokeStyle = css(accent(dark));
      const { row, column } = marked;
      context.strokeRect(column ?? 0, row ?? 0, column === undefined ? columns : 1, row === undefined ? rows : 1);
    }
    if (this.#cursor) {
      context.strokeStyle = getComputedStyle(this.canvas).color;
      context.strokeRect(this.#cursor[1], this.#cursor[0], 1, 1);
    }
  }

  #drawLegend({ scale, dark }: Values): void {
    const { texts, number = percent } = this.#options;
    if ("signed" in scale) {
      write(this.#legend, texts.signed(rough(scale.signed)));
      return;
    }
    const { low, high, shares } = "low" in scale ? { ...scale, shares: undefined } : { low: 0, high: scale.top, shares: scale };
    const top = number === percent && high === 1 ? percentage(1, 0) : number(high); // percent never says 100 %
    drawLegend(this.#legend, shares, dark, [number(low), top, shares?.uniform ? texts.tick(number(shares.uniform)) : ""]);
  }

  /** Writes the cell under the cursor, or else the largest cell, in words. */
  #write(): void {
    const { values, columns, hidden } = this.#shown!;
    const { rowName, columnName, texts, number = percent } = this.#options;
    const [row, column] = this.#cursor ?? largest(this.#shown!);
    const value = hidden?.(row, column) ? texts.hidden : number(values[row * columns + column]!);
    const words = { row: rowName(row), column: columnName(column), value };
    const text = this.#cursor ? texts.cell(words) : value === texts.hidden ? value : texts.largest(words);
    write(this.#words, text);
  }

  #move(row: number, column: number, pressed: boolean): void {
    if (!this.#shown) return;
    const { rows, columns } = this.#shown;
    if (!(row >= 0 && row < rows && column >= 0 && column < columns)) return;
    this.#cursor = [row, column];
    this.draw(this.#shown);
    if (pressed) this.#options.choose?.(row, column);
    else this.#options.point?.(row, column);
  }

  #listen(): void {
    const point = (event: MouseEvent, pressed: boolean) => {
      const { rows = 0, columns = 0 } = this.#shown ?? {}, [row, column] = spotAt(event, this.canvas, rows, columns);
      this.#move(Math.floor(row), Math.floor(column), pressed);
    };
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") point(event, false);
    });
    this.canvas.addEventListener("pointerleave", () => this.#leave());
    this.canvas.addEventListener("blur", () => this.#leave());
    this.canvas.addEventListener("click", (event) => point(event, true));
    this.canvas.addEventListener("keydown", (event) => {
      const step = ARROWS[event.key], [row, column] = this.#cursor ?? [0, 0];
      if (step) this.#move(this.#cursor ? row + step[0] : 0, this.#cursor ? column + step[1] : 0, false);
      else if (event.key === "Enter" || event.key === " ") this.#move(row, column, true);
      else return;
      event.preventDefault();
    });
  }

  #leave(): void {
    this.#cursor = undefined;
    if (this.#shown) this.draw(this.#shown);
  }
}

/** The cell with the largest number, of those that hold one. */
function largest({ values, rows, columns, hidden }: Values): [row: number, column: number] {
  let at = -1;
  for (let i = 0; i < rows * columns; i++) {
    if (hidden?.(Math.floor(i / columns), i % columns)) continue;
    if (at < 0 || values[i]! > values[at]!) at = i;
  }
  return [Math.floor(Math.max(at, 0) / columns), Math.max(at, 0) % columns];
}

/** Thin diagonal lines, in a context whose unit is a cell. */
function hatching(context: CanvasRenderingContext2D, cell: number, dark: boolean): CanvasPattern {
  const side = 6;
  const tile = h("canvas", { width: side, height: side });
  const pen = tile.getContext("2d")!;
  pen.fillStyle = css(tone(0.08, dark));
  pen.fillRect(0, 0, side, side);
  pen.strokeStyle = css(tone(0.4, dark));
  for (const shift of [-side, 0, side]) {
    pen.moveTo(shift, side);
    pen.lineTo(shift + side, 0);
  }
  pen.stroke();
  const pattern = context.createPattern(tile, "repeat")!;
  pattern.setTransform(new DOMMatrix().scale(1 / cell));
  return pattern;
}
