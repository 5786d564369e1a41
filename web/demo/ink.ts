/** The side of the pad in the drawing's own units, which do not depend on the screen. */
export const SIDE = 280;
export const PEN = 10; // thin enough to leave the holes of a small 8 open
/** Points are multiples of GRAIN, so that a link holds a drawing exactly and in few bytes. */
export const GRAIN = 1 / 8;
export const toGrain = (value: number): number => Math.round(value / GRAIN) * GRAIN;

export interface Point {
  x: number;
  y: number;
  width: number;
}
export type Stroke = Point[];

/** Box and mass of the ink, in pad units. */
export interface Ink {
  left: number;
  top: number;
  width: number;
  height: number;
  x: number; // centre of mass
  y: number;
}

/** Draws one stroke, smoothed by quadratic curves through the midpoints of its points. */
export function drawStroke(context: CanvasRenderingContext2D, stroke: Stroke): void {
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

function middle(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, width: (a.width + b.width) / 2 };
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

/** Clears a canvas at the screen's resolution. Returns its context, in pad units. */
export function inPadUnits(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const side = Math.round(widthOf(canvas) * devicePixelRatio) || SIDE;
  if (canvas.width !== side) canvas.width = canvas.height = side;
  const context = canvas.getContext("2d")!;
  context.setTransform(side / SIDE, 0, 0, side / SIDE, 0, 0);
  context.clearRect(0, 0, SIDE, SIDE);
  return context;
}

/** What the library takes as an image. */
export const drawingOf = <Strokes>(strokes: Strokes, unfinished = false) =>
  ({ strokes, width: SIDE, height: SIDE, unfinished });

/** The paper to measure on. It is made when it is first needed, so that scripts without a page load this module. */
let paper: CanvasRenderingContext2D | undefined;

function blankPaper(): CanvasRenderingContext2D {
  if (!paper) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = SIDE;
    paper = canvas.getContext("2d", { willReadFrequently: true })!;
  }
  paper.fillStyle = "#fff";
  paper.fillRect(0, 0, SIDE, SIDE);
  return paper;
}

/** Draws about as the model's own brush does, to find out where the ink is. */
export function rasterise(strokes: Stroke[]): ImageData {
  const pen = blankPaper();
  pen.strokeStyle = "#000";
  for (const stroke of strokes) drawStroke(pen, stroke);
  return pen.getImageData(0, 0, SIDE, SIDE);
}

const FAINT = 255 / 16; // src/image/digit.c leaves fainter ink out of the box

/** Measures the ink's box and mass. Returns undefined for blank paper. */
export function measure({ data, width, height }: ImageData): Ink | undefined {
  let left = width,
    top = height,
    right = -1,
    bottom = -1;
  let mass = 0,
    x = 0,
    y = 0;
  for (let row = 0, i = 0; row < height; row++) {
    for (let col = 0; col < width; col++, i += 4) {
      const ink = 255 - data[i];
      if (ink <= FAINT) continue;
      if (col < left) left = col;
      if (col > right) right = col;
      if (row < top) top = row;
      bottom = row;
      mass += ink;
      x += ink * (col + 0.5);
      y += ink * (row + 0.5);
    }
  }
  if (mass === 0) return undefined;
  return { left, top, width: right + 1 - left, height: bottom + 1 - top, x: x / mass, y: y / mass };
}
