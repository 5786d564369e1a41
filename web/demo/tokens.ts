import { paint, tone } from "./colour.ts";
import { mix } from "../base/heat.ts";
import { accent, isChosen, shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";

/** Draws the tokens, one a row: the prefix, then each patch with its pixels in one line. */
export function drawTokens(canvas: HTMLCanvasElement, state: State): void {
  const { cols, patchRows, patchCols, gridRows, gridCols } = shapeOf(state.model?.config);
  const input = state.reading?.result.input;
  const prefix = state.model?.config.prefix.length ?? 1;
  paint(canvas, prefix + gridRows * gridCols, patchRows * patchCols, (token, x) => {
    if (token < prefix) return accent(state.dark);
    const top = Math.floor((token - prefix) / gridCols);
    const left = (token - prefix) % gridCols;
    const row = top * patchRows + Math.floor(x / patchCols);
    const col = left * patchCols + (x % patchCols);
    const ink = tone(input?.[row * cols + col] ?? 0, state.dark);
    return isChosen(state, top, left) ? mix(ink, accent(state.dark), 0.6) : ink;
  });
}
