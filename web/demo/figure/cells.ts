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

/** Calls `take` where a pointer is, and where it presses. A finger only taps, because its swipe scrolls the page. */
export function onPointer(figure: HTMLElement | SVGElement, take: (event: MouseEvent) => void): void {
  for (const type of ["pointerdown", "pointermove"] as const)
    figure.addEventListener(type, (event) => (event as PointerEvent).pointerType === "touch" || take(event as PointerEvent));
  figure.addEventListener("click", (event) => take(event as MouseEvent));
}

/** Calls `take` with the way of an arrow key. Where it returns false, the key scrolls the page. */
export function onArrows(figure: HTMLElement | SVGElement, take: (rows: number, columns: number) => unknown): void {
  figure.addEventListener("keydown", (event) => {
    const step = ARROWS[(event as KeyboardEvent).key];
    if (step && take(...step) !== false) event.preventDefault();
  });
}

/** Makes elements one stop of the Tab key. Arrow keys go from one to the next; `columns` are in a row. */
export function oneStop(elements: readonly HTMLElement[], columns = elements.length): void {
  const stop = (at: number) => elements.forEach((each, i) => (each.tabIndex = i === at ? 0 : -1));
  stop(0);
  elements.forEach((element, at) => {
    element.addEventListener("focus", () => stop(at));
    onArrows(element, (down, across) => {
      const next = elements[at + down * columns + across];
      next?.focus();
      return next !== undefined;
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
  onPointer(canvas, (event) =>
    choose(...nearestCell(spotAt(event, canvas, ...size()), ...size()), event.type === "click" || event.buttons > 0));
  onArrows(canvas, (down, across) => {
    const [row, col] = state.view.patch;
    choose(...nearestCell([row + down, col + across], ...size()), true);
  });
}
