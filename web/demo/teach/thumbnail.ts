import { button, h } from "../dom.ts";
import { drawStrokes, SIDE, type Stroke } from "../ink.ts";

const PIXELS = 96;

/** A button that shows a drawing and removes it. Call `draw` once it is in the page, whose colour it has. */
export function thumbnail(strokes: readonly Stroke[], text: string, remove: () => void): { root: HTMLElement; draw(): void } {
  const canvas = h("canvas", { ariaHidden: "true", width: PIXELS, height: PIXELS }), context = canvas.getContext("2d")!;
  context.scale(PIXELS / SIDE, PIXELS / SIDE);
  const root = button(canvas, remove, { className: "thumbnail", ariaLabel: text, title: text });
  const draw = () => {
    context.clearRect(0, 0, SIDE, SIDE);
    drawStrokes(context, strokes, getComputedStyle(canvas).color);
  };
  return { root, draw };
}
