import type { VitConfig } from "vitrine";
import { accent, paint, tone } from "./colour.ts";
import { mix } from "../base/heat.ts";
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

/** @param size the image's own, if it is not the config's */
export function shapeOf(config: Readonly<VitConfig> | undefined, size: readonly [number, number] | undefined = config?.image_size): Shape {
  const [rows, cols] = size ?? [28, 28];
  const [patchRows, patchCols] = config?.patch_size ?? [4, 4];
  const [down, across] = config?.patch_stride ?? [patchRows, patchCols];
  return {
    rows,
    cols,
    patchRows,
    patchCols,
    gridRows: Math.floor((rows - patchRows) / down) + 1,
    gridCols: Math.floor((cols - patchCols) / across) + 1,
  };
}

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
