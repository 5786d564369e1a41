import type { VitConfig } from "vitrine";
import { paint, tone } from "./colour.ts";
import { mix, type Colour } from "../base/heat.ts";
import type { State } from "./state.ts";

/** The sizes of the model's image, its patches and their grid. */
export interface Shape {
  rows: number;
  cols: number;
  patchRows: number;
  patchCols: number;
  gridRows: number;
  gridCols: number;
}

export function shapeOf(config: Readonly<VitConfig> | undefined): Shape {
  const [rows, cols] = config?.image_size ?? [28, 28];
  const [patchRows, patchCols] = config?.patch_size ?? [4, 4];
  return {
    rows,
    cols,
    patchRows,
    patchCols,
    gridRows: Math.floor(rows / patchRows),
    gridCols: Math.floor(cols / patchCols),
  };
}

/** The colour that marks the chosen patch in all figures. Attention never has this colour. */
export const accent = (dark: boolean): Colour => (dark ? [127, 208, 203] : [13, 90, 95]);

export const isChosen = ({ view }: State, row: number, col: number): boolean =>
  view.map === "patch" && view.patch[0] === row && view.patch[1] === col;

/** Draws the image exactly as the model gets it. */
export function drawPixels(canvas: HTMLCanvasElement, state: State): void {
  const { rows, cols, patchRows, patchCols } = shapeOf(state.model?.config);
  const input = state.reading?.result.input;
  paint(canvas, rows, cols, (row, col) => {
    const ink = tone(input?.[row * cols + col] ?? 0, state.dark);
    const chosen = isChosen(state, Math.floor(row / patchRows), Math.floor(col / patchCols));
    return chosen ? mix(ink, accent(state.dark), 0.45) : ink;
  });
}

/** Lets pointer and arrow keys choose a patch on a picture that shows the whole grid. */
export function choosePatch(
  canvas: HTMLCanvasElement,
  state: { model?: State["model"]; view: Pick<State["view"], "patch"> },
  choose: (row: number, col: number, pressed: boolean) => void,
): void {
  const point = (event: MouseEvent, pressed: boolean) => {
    const { gridRows, gridCols } = shapeOf(state.model?.config);
    const box = canvas.getBoundingClientRect();
    const cell = (at: number, size: number, count: number) =>
      Math.min(count - 1, Math.max(0, Math.floor((at / size) * count)));
    choose(
      cell(event.clientY - box.top, box.height, gridRows),
      cell(event.clientX - box.left, box.width, gridCols),
      pressed,
    );
  };
  // A finger chooses by a tap, which comes as `click`. A finger's swipe scrolls the page.
  const hover = (event: PointerEvent) => {
    if (event.pointerType !== "touch") point(event, event.buttons > 0);
  };
  canvas.addEventListener("pointerdown", hover);
  canvas.addEventListener("pointermove", hover);
  canvas.addEventListener("click", (event) => point(event, true));
  canvas.addEventListener("keydown", (event) => {
    const { gridRows, gridCols } = shapeOf(state.model?.config);
    const [row, col] = state.view.patch;
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[
      event.key
    ];
    if (!step) return;
    event.preventDefault();
    choose(
      Math.min(gridRows - 1, Math.max(0, row + step[0])),
      Math.min(gridCols - 1, Math.max(0, col + step[1])),
      true,
    );
  });
}
