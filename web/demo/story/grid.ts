/** A grid of numbers as colours. It has a scale, named rows and columns, and words for each cell. */
import type { Classification } from "vitrine";
import { accent, css, cssTint, paintScale, tone } from "../colour.ts";
import { type Colour, heat, mix, place, type Range, type Scale, within } from "../../base/heat.ts";
import { sized } from "../figure/canvas.ts";
import { onArrows, onPointer, spotAt } from "../figure/cells.ts";
import { percent, percentage, rough } from "../texts/words.ts";
import { h, write } from "../dom.ts";
import { saveable } from "../figure/parts.ts";
import type { Scene, Story } from "./scene.ts";
import { paperOf, patchIn } from "./tokens.ts";
import { largest } from "./vectors.ts";

/** Numbers of both signs, from -top to top. */
interface Signed {
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
  under?: CanvasImageSource; // a picture of the whole grid that shows through the colours, such as the ink
  /** Cells without a number. They are hatched, whatever `values` holds there. */
  hidden?(row: number, column: number): boolean;
}

interface GridOptions {
  label: string;
  /** What a row or a column stands for: those of the patches without it. */
  rowName?(row: number): string;
  columnName?(column: number): string;
  /** A cell's number in words; a percentage without it. */
  number?(value: number): string;
  cell?: number; // the side of a cell in CSS pixels; at least 14
  blank?: string; // what a cell without a number is called
  choose?(row: number, column: number): void;
  /** The pointer or the arrow keys came to a cell. */
  point?(row: number, column: number): void;
}

export type Grid = ReturnType<typeof buildGrid>;

const LEAST_CELL = 14;

const strength = (value: number, top: number) => Math.sqrt(top > 0 ? Math.min(1, Math.abs(value) / top) : 0);
/** As --voice and --opposite in the page's base.css. */
const sideOf = (value: number, dark: boolean): Colour =>
  value > 0 ? (dark ? [255, 138, 76] : [197, 51, 26]) : dark ? [92, 179, 207] : [31, 111, 139];

/** The colour of a signed number on the theme's paper: the voice's colour above 0, its opposite below. */
export const signedTone = (value: number, top: number, dark: boolean): Colour =>
  mix(tone(0, dark), sideOf(value, dark), strength(value, top));

export const signedColour = (...number: Parameters<typeof signedTone>): string => css(signedTone(...number));

/** A cell's colour, to be laid over paper: small numbers let it through. */
const colourOf = (value: number, scale: AnyScale, dark: boolean): string =>
  cssTint("signed" in scale ? [...sideOf(value, dark), strength(value, scale.signed)]
    : heat("low" in scale ? within(value, scale) : place(value, scale), dark));

/** The largest distance from 0, for a signed scale. */
export const signedScale = (...lists: ArrayLike<number>[]): Signed => {
  let signed = 0;
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) signed = Math.max(signed, Math.abs(list[i]!));
  }
  return { signed };
};

/** Numbers of the patches over the scene's drawing, with the chosen patch outlined, also on another model's grid. */
export function overDrawing(
  scene: Pick<Scene, "patch" | "shape" | "dark"> & { result: Classification },
  values: Values["values"],
  scale: AnyScale,
  [rows, columns]: readonly [number, number] = [scene.shape.gridRows, scene.shape.gridCols],
): Values {
  const [row, column] = patchIn(scene, rows, columns);
  return { values, rows, columns, scale, dark: scene.dark, under: paperOf(scene), marked: { row, column } };
}

/** A grid of the patches. Choosing one chooses it for the whole page. */
export const patchGrid = (story: Story, options: GridOptions) =>
  buildGrid(story, { choose: (row, column) => story.choose({ patch: [row, column] }), ...options });

export function buildGrid({ words: common }: Story, options: GridOptions) {
  const { grid: texts } = common, { label, number = percent, cell = LEAST_CELL, blank = texts.hidden, choose, point } = options;
  const { rowName = (row) => common.row({ n: row + 1 }), columnName = (column) => common.column({ n: column + 1 }) } = options;
  const canvas = saveable(h("canvas", {
    tabIndex: 0, role: choose ? "application" : "img", aria: { roledescription: texts.kind, description: texts.keys },
  }), label);
  const bar = h("canvas", { width: 150, height: 10, ariaHidden: "true" }), [low, high, tick] = [h("span"), h("span"), h("span")];
  const legend = h("p", { className: "grid-legend" }), words = h("p", { className: "grid-words" });
  const root = h("div", { className: "grid" }, h("div", { className: "grid-scroll" }, canvas), legend, words);
  let content: Values | undefined, cursor: [row: number, column: number] | undefined;

  const drawLegend = ({ scale, dark }: Values) => {
    if ("signed" in scale) return write(legend, texts.signed({ top: rough(scale.signed) }));
    const { low: least, high: most, shares } = "low" in scale ? { ...scale, shares: undefined } : { low: 0, high: scale.top, shares: scale };
    if (!bar.isConnected) legend.replaceChildren(low, bar, high, tick);
    paintScale(bar, shares, dark);
    write(low, number(least));
    write(high, number === percent && most === 1 ? percentage(1, 0) : number(most)); // percent never says 100 %
    write(tick, shares?.uniform ? texts.tick({ uniform: number(shares.uniform) }) : "");
  };
  /** The cell under the cursor, or else the largest cell, in words. */
  const sentence = (content: Values) => {
    const { values, columns, hidden } = content, [row, column] = cursor ?? largestCell(content);
    const isBlank = hidden?.(row, column), value = isBlank ? blank : number(values[row * columns + column]!);
    const sentenceValues = { row: rowName(row), column: columnName(column), value };
    return cursor ? texts.cell(sentenceValues) : isBlank ? value : texts.largest(sentenceValues);
  };
  const draw = (next: Values) => {
    content = next;
    paintGrid(canvas, next, Math.max(LEAST_CELL, cell), cursor);
    drawLegend(next);
    write(words, sentence(next));
  };

  const move = (row: number, column: number, pressed: boolean) => {
    if (!content || !(row >= 0 && row < content.rows && column >= 0 && column < content.columns)) return;
    cursor = [row, column];
    draw(content);
    if (pressed) choose?.(row, column);
    else point?.(row, column);
  };
  const leave = () => {
    cursor = undefined;
    if (content) draw(content);
  };
  onPointer(canvas, (event) => {
    const { rows = 0, columns = 0 } = content ?? {}, [row, column] = spotAt(event, canvas, rows, columns);
    move(Math.floor(row), Math.floor(column), event.type === "click");
  });
  for (const away of ["pointerleave", "blur"]) canvas.addEventListener(away, leave);
  // A screen reader hears a cell only while someone moves among the cells, not whenever they are drawn again.
  canvas.addEventListener("focus", () => (words.ariaLive = "polite"));
  canvas.addEventListener("blur", () => (words.ariaLive = "off"));
  onArrows(canvas, (down, across) => move(cursor ? cursor[0] + down : 0, cursor ? cursor[1] + across : 0, false));
  canvas.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    move(...(cursor ?? [0, 0] as const), true);
  });
  return { root, canvas, draw };
}

/** Paints cells whose side is that many CSS pixels. */
export function paintGrid(canvas: HTMLCanvasElement, content: Values, cell: number, cursor: [row: number, column: number] | undefined): void {
  const { values, rows, columns, scale, dark, marked, under, hidden } = content;
  const context = sized(canvas, columns * cell, rows * cell, columns, rows);
  context.fillStyle = css(tone(0, dark));
  context.fillRect(0, 0, columns, rows);
  context.imageSmoothingEnabled = false;
  if (under) context.drawImage(under, 0, 0, columns, rows);
  const gap = 1 / cell, hatch = hidden && hatching(context, cell, dark);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) {
      const isBlank = hidden?.(row, column), side = isBlank ? 1 : 1 - gap;
      context.fillStyle = isBlank ? hatch! : colourOf(values[i]!, scale, dark);
      context.fillRect(column, row, side, side);
    }
  }
  context.lineWidth = 2 / cell;
  if (marked) {
    context.strokeStyle = css(accent(dark));
    const { row, column } = marked;
    context.strokeRect(column ?? 0, row ?? 0, column === undefined ? columns : 1, row === undefined ? rows : 1);
  }
  if (!cursor) return;
  context.strokeStyle = getComputedStyle(canvas).color;
  context.strokeRect(cursor[1], cursor[0], 1, 1);
}

/** The cell with the largest number, of those that hold one. */
function largestCell({ values, columns, hidden }: Values): [row: number, column: number] {
  const at = largest(Array.from(values, (value, i) => (hidden?.(Math.floor(i / columns), i % columns) ? -Infinity : value)));
  return [Math.floor(at / columns), at % columns];
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
