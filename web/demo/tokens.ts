import { accent, paint, tone } from "./colour.ts";
import { isChosen, shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";
import { signedScale, signedTone } from "./story/grid.ts";

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
