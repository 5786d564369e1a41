/** Numbers as coloured cells. Those of the model can be dragged. A row of them is one stop of the Tab key. */
import { css } from "../../../colour.ts";
import type { Colour } from "../../../../base/heat.ts";
import { number } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import { signedTone } from "../../grid.ts";
import { write } from "../../../write.ts";

const LINE = 8; // stacks side by side, also on a phone
const PER_PIXEL = 0.02;
const STEPS: Record<string, number> = { ArrowUp: 0.1, ArrowDown: -0.1, PageUp: 1, PageDown: -1 };
const WAYS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
const MOST = 100; // a larger number is of no use, and a softmax of it would overflow the colours

/** What a row of numbers means: its sign at the left, its name for screen readers. */
export interface RowOptions {
  sign: string;
  name(index: number): string;
  /** Takes a changed number; undefined asks for the model's own. Without it numbers stay as they are. */
  change?(index: number, value: number | undefined): void;
}

interface Cell {
  root: HTMLElement;
  value: number;
}

/** Stacks of numbers side by side: number i of every row stands in stack i. */
export class Stacks {
  readonly root = h("div", { className: "stacks" });
  readonly #rows: { cells: Cell[]; options: RowOptions }[];

  constructor(rows: readonly RowOptions[]) {
    this.#rows = rows.map((options) => ({ cells: [], options }));
  }

  /** Shows the numbers; each row has its own largest, which gets the full colour. */
  draw(rows: readonly { numbers: Float64Array; top: number; own?: Float64Array }[], dark: boolean): void {
    if (this.#rows[0]!.cells.length !== rows[0]!.numbers.length) this.#build(rows[0]!.numbers.length);
    rows.forEach(({ numbers, top, own }, row) => {
      this.#rows[row]!.cells.forEach((cell, i) => {
        show(cell, numbers[i]!, signedTone(numbers[i]!, top, dark));
        cell.root.classList.toggle("changed", own !== undefined && own[i] !== numbers[i]);
      });
    });
  }

  /** The elements of one row. */
  elements = (row: number): HTMLElement[] => this.#rows[row]!.cells.map(({ root }) => root);

  #build(count: number): void {
    for (const row of this.#rows) row.cells = Array.from({ length: count }, (_, i) => made(row, i));
    const lines = Array.from({ length: Math.ceil(count / LINE) }, (_, line) => {
      const signs = this.#rows.map(({ options }) => h("span", { className: "sign" }, options.sign));
      const stacks = Array.from({ length: Math.min(LINE, count - line * LINE) }, (_, i) =>
        h("div", { className: "stack" }, ...this.#rows.map(({ cells }) => cells[line * LINE + i]!.root)));
      return h("div", { className: "stack-line" }, h("div", { className: "stack", aria: { hidden: "true" } }, ...signs), ...stacks);
    });
    this.root.replaceChildren(...lines);
  }
}

function show(cell: Cell, value: number, colour: Colour): void {
  const { root } = cell;
  cell.value = value;
  const text = number(value);
  root.dataset.value = String(value);
  write(root, text);
  root.style.backgroundColor = css(colour);
  root.style.color = isLight(colour) ? "#000" : "#fff";
  if (root.role !== "spinbutton") return;
  root.ariaValueNow = String(Number(value.toFixed(2)));
  root.ariaValueText = text;
}

/** Whether black letters have more contrast to it than white ones: WCAG 2.2's relative luminance. */
function isLight(colour: Colour): boolean {
  const [r, g, b] = colour.map((part) => ((part / 255 + 0.055) / 1.055) ** 2.4) as Colour;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179;
}

function made(row: { cells: Cell[]; options: RowOptions }, index: number): Cell {
  const { name, change } = row.options;
  const root = h("span", { className: "number" });
  const cell: Cell = { root, value: 0 };
  if (!change) return cell;
  root.role = "spinbutton";
  root.tabIndex = index === 0 ? 0 : -1;
  root.addEventListener("focus", () => {
    for (const other of row.cells) other.root.tabIndex = other === cell ? 0 : -1;
  });
  root.addEventListener("keydown", ({ key }) => row.cells[index + (WAYS[key] ?? NaN)]?.root.focus());
  root.ariaLabel = name(index);
  root.ariaValueMin = String(-MOST);
  root.ariaValueMax = String(MOST);
  listen(cell, (value) => change(index, value === undefined ? value : Math.max(-MOST, Math.min(MOST, value))));
  return cell;
}

/** A mouse drags up and down. A finger drags sideways, because its way up and down scrolls the page. */
function listen(cell: Cell, change: (value: number | undefined) => void): void {
  const { root } = cell;
  let from: { x: number; y: number; value: number } | undefined;
  root.addEventListener("pointerdown", ({ clientX: x, clientY: y, pointerId, button }) => {
    if (button !== 0) return;
    from = { x, y, value: cell.value };
    root.setPointerCapture(pointerId);
  });
  root.addEventListener("pointermove", ({ clientX, clientY, pointerType }) => {
    if (!from) return;
    const up = pointerType === "touch" ? 0 : from.y - clientY;
    const way = clientX - from.x + up;
    if (way !== 0) change(from.value + way * PER_PIXEL);
  });
  for (const name of ["pointerup", "pointercancel"]) root.addEventListener(name, () => (from = undefined));
  root.addEventListener("dblclick", () => change(undefined));
  root.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step !== undefined) change(cell.value + step);
    else if (["Delete", "Backspace"].includes(event.key)) change(undefined);
    else if (!(event.key in WAYS)) return;
    event.preventDefault();
  });
}
