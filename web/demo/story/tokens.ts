/** Names of tokens, and the picture of what the model sees. */
import { paint, tone } from "../colour.ts";
import type { Texts } from "../texts/en.ts";
import { h } from "./dom.ts";
import type { Scene } from "./scene.ts";

/** "class token", "prefix token 2" or "row 4, column 3". */
export function tokenName(token: number, { config, shape }: Scene, { story }: Texts): string {
  const { prefix } = config;
  if (token < prefix.length) return prefix[token] === "class" ? story.classToken : story.prefixToken(token + 1);
  const patch = token - prefix.length;
  return story.patch(Math.floor(patch / shape.gridCols) + 1, (patch % shape.gridCols) + 1);
}

/** The model's image in the theme's ink, one canvas pixel each. Heat is laid over it. */
export function paperOf({ result, shape: { rows, cols }, dark }: Scene): HTMLCanvasElement {
  const canvas = h("canvas");
  paint(canvas, rows, cols, (row, col) => tone(result.input[row * cols + col]!, dark));
  return canvas;
}
