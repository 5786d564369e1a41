import { accent, paint, tone } from "./colour.ts";
import { isChosen, shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";

/** Draws the image cut into patches, with a gap of one pixel between them. */
export function drawPatches(canvas: HTMLCanvasElement, state: State): void {
  const { cols, patchRows, patchCols, gridRows, gridCols } = shapeOf(state.model?.config);
  const input = state.reading?.result.input;
  paint(canvas, gridRows * (patchRows + 1) + 1, gridCols * (patchCols + 1) + 1, (y, x) => {
    const top = Math.floor((y - 1) / (patchRows + 1)),
      row = y - 1 - top * (patchRows + 1);
    const left = Math.floor((x - 1) / (patchCols + 1)),
      col = x - 1 - left * (patchCols + 1);
    if (row === patchRows || col === patchCols) return ringAt(state, y, x);
    return tone(input?.[(top * patchRows + row) * cols + left * patchCols + col] ?? 0, state.dark);
  });
}

/** The gap's colour: the accent around the chosen patch, otherwise none. */
function ringAt(state: State, y: number, x: number) {
  const { patchRows, patchCols } = shapeOf(state.model?.config);
  const [row, col] = state.view.patch;
  const top = row * (patchRows + 1),
    left = col * (patchCols + 1);
  const within = y >= top && y <= top + patchRows + 1 && x >= left && x <= left + patchCols + 1;
  return within && isChosen(state, row, col) ? accent(state.dark) : undefined;
}
