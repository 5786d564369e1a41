import { OFFERED } from "../train/handwriting.ts";
import { button } from "./dom.ts";
import { animate } from "./figure/motion.ts";
import { drawStroke, SIDE, type Stroke } from "./ink.ts";
import { words } from "./texts/words.ts";

/** One drawing of each digit. */
const DIGITS = Array.from("0123456789", (digit) => OFFERED.find(({ label }) => label === digit)!);

/** The drawing that the page opens with. */
export const OPENING = DIGITS[3]!.strokes;

/** Builds a button for each digit. */
export function buildExamples(parent: HTMLElement, choose: (strokes: Stroke[]) => void): void {
  parent.replaceChildren(...DIGITS.map(({ label, strokes }) => {
    const title = words.pad.example(label);
    return button(label, () => choose(strokes), { title, ariaLabel: title });
  }));
}

/** Draws a small picture of a drawing, in the canvas's CSS colour. */
export function drawThumbnail(canvas: HTMLCanvasElement, strokes: readonly Stroke[]): void {
  canvas.width = canvas.height = 96;
  const context = canvas.getContext("2d")!;
  context.scale(96 / SIDE, 96 / SIDE);
  context.strokeStyle = getComputedStyle(canvas).color;
  for (const stroke of strokes) drawStroke(context, stroke);
}

/** Calls `show` with more and more of the drawing. The function it returns stops that. */
export function writeOut(
  strokes: Stroke[],
  milliseconds: number,
  show: (strokes: Stroke[], done: boolean) => void,
): () => void {
  const total = strokes.reduce((sum, stroke) => sum + pathLength(stroke), 0);
  return animate(milliseconds, (t) => show(upTo(strokes, total * (t * t * (3 - 2 * t))), t === 1));
}

const distance = (a: { x: number; y: number }, b: { x: number; y: number }) =>
  Math.hypot(b.x - a.x, b.y - a.y);

function pathLength(stroke: Stroke): number {
  let sum = 0;
  for (let i = 1; i < stroke.length; i++) sum += distance(stroke[i - 1], stroke[i]);
  return sum;
}

/** The first `length` units of the drawing. */
function upTo(strokes: Stroke[], length: number): Stroke[] {
  const shown: Stroke[] = [];
  for (const stroke of strokes) {
    if (length <= 0) break;
    const part = [stroke[0]];
    for (let i = 1; i < stroke.length && length > 0; i++) {
      const [a, b] = [stroke[i - 1], stroke[i]];
      const step = distance(a, b);
      const t = step > length ? length / step : 1;
      part.push({ x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t, width: b.width });
      length -= step;
    }
    shown.push(part);
  }
  return shown;
}
