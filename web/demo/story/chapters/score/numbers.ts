/** Numbers as coloured cells. Those of the model can be dragged. A row of them is one stop of the Tab key. */
import type { Colour } from "../../../../base/heat.ts";
import { css } from "../../../colour.ts";
import { h, write } from "../../../dom.ts";
import { oneStop } from "../../../figure/cells.ts";
import { number } from "../../../texts/words.ts";
import { signedTone } from "../../grid.ts";

const LINE = 8; // stacks side by side, also on a phone
const PER_PIXEL = 0.02;
const STEPS: Record<string, number> = { ArrowUp: 0.1, ArrowDown: -0.1, PageUp: 1, PageDown: -1 };
const MOST = 100; // a larger number is of no use, and a softmax of it would overflow the colours

/** What a row of numbers means: its sign at the left, its name for screen readers. */
interface RowOptions {
  sign: string;
  name?(index: number): string;
  /** Takes a changed number; undefined asks for the model's own. Without it numbers stay as they are. */
  change?(index: number, value: number | undefined): void;
}

export type Stacks = ReturnType<typeof buildStacks>;

/** Stacks of numbers side by side: number i of every row stands in stack i. */
export function buildStacks(...options: RowOptions[]) {
  const root = h("div", { className: "stacks" });
  let rows: HTMLElement[][] = [];
  const build = (count: number) => {
    rows = options.map((row) => buildRow(row, count));
    root.replaceChildren(...Array.from({ length: Math.ceil(count / LINE) }, (_, line) => h("div", { className: "stack-line" },
      h("div", { className: "stack", ariaHidden: "true" }, ...options.map(({ sign }) => h("span", { className: "sign" }, sign))),
      ...rows[0]!.slice(line * LINE, (line + 1) * LINE).map((_, i) =>
        h("div", { className: "stack" }, ...rows.map((cells) => cells[line * LINE + i]!))))));
  };
  return {
    root,
    elements: (row: number) => rows[row] ?? [],
    /** Shows the numbers; each row has its own largest, which gets the full colour. */
    draw(numbers: readonly { numbers: Float64Array; top: number; own?: Float64Array }[], dark: boolean): void {
      if (rows[0]?.length !== numbers[0]!.numbers.length) build(numbers[0]!.numbers.length);
      numbers.forEach(({ numbers, top, own }, row) => rows[row]!.forEach((cell, i) => {
        show(cell, numbers[i]!, signedTone(numbers[i]!, top, dark));
        cell.classList.toggle("changed", own !== undefined && own[i] !== numbers[i]);
      }));
    },
  };
}

function show(cell: HTMLElement, value: number, colour: Colour): void {
  cell.dataset.value = String(value);
  write(cell, number(value));
  cell.style.backgroundColor = css(colour);
  cell.style.color = isLight(colour) ? "#000" : "#fff";
  if (cell.role !== "spinbutton") return;
  cell.ariaValueNow = String(Number(value.toFixed(2)));
  cell.ariaValueText = cell.textContent;
}

/** Whether black letters have more contrast to it than white ones: WCAG 2.2's relative luminance. */
function isLight(colour: Colour): boolean {
  const [r, g, b] = colour.map((part) => ((part / 255 + 0.055) / 1.055) ** 2.4) as Colour;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179;
}

function buildRow({ name, change }: RowOptions, count: number): HTMLElement[] {
  const cells = Array.from({ length: count }, () => h("span", { className: "number" }));
  if (!change) return cells;
  oneStop(cells);
  cells.forEach((cell, index) => {
    Object.assign(cell, {
      role: "spinbutton", ariaLabel: name?.(index), ariaValueMin: String(-MOST), ariaValueMax: String(MOST),
    });
    listen(cell, (value) => change(index, value && Math.max(-MOST, Math.min(MOST, value))));
  });
  return cells;
}

/** A mouse drags up and down. A finger drags sideways, because its way up and down scrolls the page. */
function listen(cell: HTMLElement, change: (value: number | undefined) => void): void {
  let from: { x: number; y: number; value: number } | undefined;
  cell.addEventListener("pointerdown", ({ clientX: x, clientY: y, pointerId, button }) => {
    if (button !== 0) return;
    from = { x, y, value: Number(cell.dataset.value) };
    cell.setPointerCapture(pointerId);
  });
  cell.addEventListener("pointermove", ({ clientX, clientY, pointerType }) => {
    if (!from) return;
    const way = clientX - from.x + (pointerType === "touch" ? 0 : from.y - clientY);
    if (way !== 0) change(from.value + way * PER_PIXEL);
  });
  for (const end of ["pointerup", "pointercancel"]) cell.addEventListener(end, () => (from = undefined));
  cell.addEventListener("dblclick", () => change(undefined));
  cell.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step !== undefined) change(Number(cell.dataset.value) + step);
    else if (["Delete", "Backspace"].includes(event.key)) change(undefined);
    else return;
    event.preventDefault();
  });
}
