/** Names of tokens, and the picture of what the model sees. */
import type { Classification } from "vitrine";
import { paintInk } from "../colour.ts";
import type { Shape } from "../pixels.ts";
import { h } from "../dom.ts";
import type { Scene } from "./scene.ts";
import type { Words } from "./texts/en.ts";

/** A model's tokens: the prefix, then the patches of a grid. */
type Tokens = Pick<Scene, "config" | "shape">;

/** The patch of a token; undefined for one of the prefix. */
export function patchOfToken(token: number, { config, shape: { gridCols } }: Tokens): [row: number, col: number] | undefined {
  const patch = token - config.prefix.length;
  return patch < 0 ? undefined : [Math.floor(patch / gridCols), patch % gridCols];
}

/** "class token", "prefix token 2" or "row 4, column 3". */
export function tokenName(token: number, tokens: Tokens, words: Words): string {
  const patch = patchOfToken(token, tokens);
  if (patch) return words.patch({ row: patch[0] + 1, col: patch[1] + 1 });
  return tokens.config.prefix[token] === "class" ? words.classToken : words.prefixToken({ n: token + 1 });
}

/** The page's chosen patch on another model's grid, which may be smaller. */
export const patchIn = ({ patch: [row, col] }: Pick<Scene, "patch">, rows: number, columns: number): [row: number, col: number] =>
  [Math.min(row, rows - 1), Math.min(col, columns - 1)];

/** The pixels of a patch, line by line, as places in the model's image. */
export function pixelsOf(patch: number, { cols, patchRows, patchCols, gridCols }: Shape): number[] {
  const top = Math.floor(patch / gridCols) * patchRows, left = (patch % gridCols) * patchCols;
  return Array.from({ length: patchRows * patchCols }, (_, i) => (top + Math.floor(i / patchCols)) * cols + left + (i % patchCols));
}

/** A copy of the model's image, in which the pixels of one patch are others. */
export function withPatch(image: Float32Array, patch: number, shape: Shape, change: (pixel: number) => number): Float32Array {
  const copy = image.slice();
  for (const at of pixelsOf(patch, shape)) copy[at] = change(image[at]!);
  return copy;
}

/** How much ink is in each patch: the sum of its pixels. */
export function inkOf({ result: { input }, shape: { cols, patchRows, patchCols, gridRows, gridCols } }: Pick<Scene, "result" | "shape">): Float32Array {
  const ink = new Float32Array(gridRows * gridCols);
  input.forEach((value, i) => (ink[Math.floor(i / cols / patchRows) * gridCols + Math.floor((i % cols) / patchCols)]! += value));
  return ink;
}

/** The model's image in the theme's ink, one canvas pixel each. Heat is laid over it. */
export function paperOf({ result, shape: { rows, cols }, dark }: Pick<Scene, "shape" | "dark"> & { result: Classification }): HTMLCanvasElement {
  const canvas = h("canvas");
  paintInk(canvas, result.input, rows, cols, dark);
  return canvas;
}
