import { button, h } from "../dom.ts";
import { drawThumbnail } from "../examples.ts";
import type { Stroke } from "../ink.ts";

/** A button that shows a drawing and removes it. Call `draw` once it is in the page, whose colour it has. */
export function thumbnail(strokes: readonly Stroke[], text: string, remove: () => void): { root: HTMLElement; draw(): void } {
  const canvas = h("canvas", { ariaHidden: "true" });
  const root = button(canvas, remove, { className: "thumbnail", ariaLabel: text, title: text });
  return { root, draw: () => drawThumbnail(canvas, strokes) };
}
