import { PEN, SIDE } from "../train/handwriting.ts";
import { scaled } from "./figure/canvas.ts";

/** The side of the pad in the drawing's own units, which do not depend on the screen. */
export { PEN, SIDE };
/** Points are multiples of GRAIN, so that a link holds a drawing exactly and in few bytes. */
export const GRAIN = 1 / 8;
export const toGrain = (value: number): number => Math.round(value / GRAIN) * GRAIN;

export interface Point {
  x: number;
  y: number;
  width: number;
}
export type Stroke = Point[];

/** What `make` makes of a stroke. It is made once, and again where the stroke has grown. */
export function ofStroke<Made>(make: (stroke: Stroke) => Made): (stroke: Stroke) => Made {
  const cache = new WeakMap<Stroke, { points: number; made: Made }>();
  return (stroke) => {
    const old = cache.get(stroke);
    if (old?.points === stroke.length) return old.made;
    const made = make(stroke);
    cache.set(stroke, { points: stroke.length, made });
    return made;
  };
}

/** Draws one stroke, smoothed by quadratic curves through the midpoints of its points. */
function drawStroke(context: CanvasRenderingContext2D, stroke: Stroke): void {
  context.lineCap = "round";
  context.lineJoin = "round";
  const first = stroke[0];
  if (!first) return;
  let from = first;
  const segment = (control: Point, to: Point) => {
    context.beginPath();
    context.lineWidth = (from.width + to.width) / 2;
    context.moveTo(from.x, from.y);
    context.quadraticCurveTo(control.x, control.y, to.x, to.y);
    context.stroke();
    from = to;
  };
  for (let i = 1; i + 1 < stroke.length; i++) segment(stroke[i], middle(stroke[i], stroke[i + 1]));
  const last = stroke[stroke.length - 1];
  // A curve without length is not drawn, so a dot is a very short line.
  segment(last, stroke.length === 1 ? { ...last, x: last.x + 0.01 } : last);
}

export function drawStrokes(context: CanvasRenderingContext2D, strokes: readonly Stroke[], colour: string): void {
  context.strokeStyle = colour;
  for (const stroke of strokes) drawStroke(context, stroke);
}

/** A point of the line from `a` to `b`: its middle, unless `t` says how far it is. */
export function middle(a: Point, b: Point, t = 1 / 2): Point {
  const between = (from: number, to: number) => from + (to - from) * t;
  return { x: between(a.x, b.x), y: between(a.y, b.y), width: between(a.width, b.width) };
}

/** The canvases' widths, as the browser laid them out last. Reading `clientWidth` while a frame is drawn would lay out the page again. */
const widths = new WeakMap<Element, number>();
let observer: ResizeObserver | undefined;

function widthOf(canvas: HTMLCanvasElement): number {
  observer ??= new ResizeObserver((changes) => {
    for (const { target } of changes) widths.set(target, target.clientWidth);
  });
  if (!widths.has(canvas)) {
    widths.set(canvas, canvas.clientWidth);
    observer.observe(canvas);
  }
  return widths.get(canvas)!;
}

/** Clears a canvas at the screen's resolution. Returns its context, in pad units. A pad has as many squares side by side as `across`. */
export function inPadUnits(canvas: HTMLCanvasElement, across = 1): CanvasRenderingContext2D {
  const width = widthOf(canvas) || SIDE;
  return scaled(canvas, width, width / across, SIDE * across, SIDE);
}

/** What the library takes as an image. */
export const drawingOf = <Strokes>(strokes: Strokes, unfinished = false, across = 1) =>
  ({ strokes, width: SIDE * across, height: SIDE, unfinished });
