/** The first steps of the way from ink to answer: the image, its patches, their tokens. */
import { accent, paint, tone } from "./colour.ts";
import { mix } from "../base/heat.ts";
import { shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";
import { signedScale, signedTone } from "./story/grid.ts";

const isChosen = ({ view }: State, row: number, col: number): boolean =>
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

/**
 * Draws tokens (T,D), one a row: the prefix, then the patches. There are two columns more than a token has
 * numbers; the first marks the chosen patch. Returns the end of the colours' scale.
 */
export function drawTokens(canvas: HTMLCanvasElement, tokens: Float32Array | undefined, state: State): number {
  const { gridRows, gridCols } = shapeOf(state.model?.config), prefix = state.model?.config.prefix.length ?? 1;
  const rows = prefix + gridRows * gridCols, width = tokens ? tokens.length / rows : 64;
  const { signed } = signedScale(tokens ?? []), { dark } = state;
  paint(canvas, rows, width + 2, (token, x) => {
    const patch = token - prefix;
    if (x === 0 && patch >= 0 && isChosen(state, Math.floor(patch / gridCols), patch % gridCols)) return accent(dark);
    if (x < 2) return undefined;
    return tokens ? signedTone(tokens[token * width + x - 2]!, signed, dark) : tone(0, dark);
  });
  return signed;
}
