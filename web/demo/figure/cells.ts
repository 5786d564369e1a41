/** The cells of a picture that shows a grid, for pointer and arrow keys. */
import { ARROWS } from "../dom.ts";
import { shapeOf } from "../pixels.ts";
import type { State } from "../state.ts";

type Cell = [row: number, column: number];

/** Where the pointer is on a picture of rows × columns cells: between 0 and their number, unless it is outside. */
export function spotAt({ clientX, clientY }: MouseEvent, picture: Element, rows: number, columns: number): Cell {
  const { left, top, width, height } = picture.getBoundingClientRect();
  return [((clientY - top) / height) * rows, ((clientX - left) / width) * columns];
}

/** The cell there; the nearest for a spot outside. */
export const nearestCell = ([row, column]: Cell, rows: number, columns: number): Cell =>
  [Math.max(0, Math.min(rows - 1, Math.floor(row))), Math.max(0, Math.min(columns - 1, Math.floor(column)))];

/** Makes elements one stop of the Tab key. Arrow keys go from one to the next; `columns` are in a row. */
export function oneStop(elements: readonly HTMLElement[], columns = elements.length): void {
  const stop = (at: number) => elements.forEach((each, i) => (each.tabIndex = i === at ? 0 : -1));
  stop(0);
  elements.forEach((element, at) => {
    element.addEventListener("focus", () => stop(at));
    element.addEventListener("keydown", (event) => {
      const step = ARROWS[event.key], next = step && elements[at + step[0] * columns + step[1]];
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
  });
}

/** Lets pointer and arrow keys choose a patch on a picture that shows the whole grid. */
export function choosePatch(
  canvas: HTMLCanvasElement,
  state: { model?: State["model"]; view: Pick<State["view"], "patch"> },
  choose: (row: number, col: number, pressed: boolean) => void,
  imageSize: () => readonly [number, number] | undefined = () => undefined,
): void {
  const size = () => {
    const { gridRows, gridCols } = shapeOf(state.model?.config, imageSize());
    return [gridRows, gridCols] as const;
  };
  const point = (event: MouseEvent, pressed: boolean) =>
    choose(...nearestCell(spotAt(event, canvas, ...size()), ...size()), pressed);
  // A finger chooses by a tap, which comes as `click`. A finger's swipe scrolls the page.
  const hover = (event: PointerEvent) => {
    if (event.pointerType !== "touch") point(event, event.buttons > 0);
  };
  canvas.addEventListener("pointerdown", hover);
  canvas.addEventListener("pointermove", hover);
  canvas.addEventListener("click", (event) => point(event, true));
  canvas.addEventListener("keydown", (event) => {
    const step = ARROWS[event.key], [row, col] = state.view.patch;
    if (!step) return;
    event.preventDefault();
    choose(...nearestCell([row + step[0], col + step[1]], ...size()), true);
  });
}
