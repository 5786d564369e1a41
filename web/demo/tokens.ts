import { paint, tone } from "./colour.ts";
import { mix } from "./heat.ts";
import { accent, isChosen, shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";

/** The sequence the blocks get, in reading order: the class token, then every patch. */
export function drawTokens(canvas: HTMLCanvasElement, state: State): void {
  const { cols, patchRows, patchCols, gridRows, gridCols } = shapeOf(state.model?.config);
  const input = state.reading?.result.input;
  const prefix = state.model?.config.prefix.length ?? 1;
  const tokens = prefix + gridRows * gridCols;
  const across = Math.ceil(Math.sqrt(tokens));
  const down = Math.ceil(tokens / across);
  paint(canvas, down * (patchRows + 1) - 1, across * (patchCols + 1) - 1, (y, x) => {
    const row = y % (patchRows + 1),
      col = x % (patchCols + 1);
    const token = Math.floor(y / (patchRows + 1)) * across + Math.floor(x / (patchCols + 1));
    if (row === patchRows || col === patchCols || token >= tokens) return undefined;
    if (token < prefix) return accent(state.dark);
    const patch = token - prefix;
    const top = Math.floor(patch / gridCols),
      left = patch % gridCols;
    const ink = tone(
      input?.[(top * patchRows + row) * cols + left * patchCols + col] ?? 0,
      state.dark,
    );
    return isChosen(state, top, left) ? mix(ink, accent(state.dark), 0.6) : ink;
  });
}
