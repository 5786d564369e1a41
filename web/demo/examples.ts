import { drawStroke, PEN, SIDE, type Stroke } from "./ink.ts";
import { words } from "./texts/words.ts";

/* Our own handwriting: strokes as points in pad units. The brush rounds off the points.
 * A point given twice stays a corner. */
const DRAWINGS: [label: string, strokes: [x: number, y: number][][]][] = [
  ["2", [
    [[84, 98], [88, 62], [126, 40], [170, 52], [188, 88], [176, 132], [138, 176], [96, 216],
     [78, 232], [78, 232], [112, 222], [150, 232], [206, 226]],
  ]],
  ["3", [
    [[88, 74], [112, 44], [158, 44], [182, 76], [168, 116], [124, 130], [124, 130], [176, 140],
     [196, 182], [172, 226], [124, 236], [80, 212]],
  ]],
  ["4", [
    [[118, 44], [104, 92], [82, 158], [82, 158], [132, 160], [206, 150]],
    [[170, 92], [164, 150], [156, 242]],
  ]],
  ["5", [
    [[104, 52], [104, 52], [98, 92], [92, 128], [92, 128], [124, 112], [166, 116], [190, 148],
     [190, 190], [164, 226], [122, 234], [86, 218], [78, 206]],
    [[104, 52], [150, 54], [194, 48]],
  ]],
  ["7", [
    [[80, 58], [130, 60], [200, 50], [200, 50], [170, 104], [142, 160], [126, 238]],
    [[104, 144], [142, 142], [184, 134]],
  ]],
  ["8", [
    [[184, 74], [156, 44], [112, 46], [92, 82], [116, 120], [162, 148], [188, 190], [162, 234],
     [114, 234], [88, 194], [112, 152], [158, 122], [186, 92], [182, 68]],
  ]],
];

export const EXAMPLES: { label: string; strokes: Stroke[] }[] = DRAWINGS.map(
  ([label, strokes]) => ({
    label,
    strokes: strokes.map((points) => points.map(([x, y]) => ({ x, y, width: PEN }))),
  }),
);

/** Builds one small button for each drawing. */
export function buildExamples(parent: HTMLElement, choose: (strokes: Stroke[]) => void): void {
  parent.replaceChildren();
  for (const { label, strokes } of EXAMPLES) {
    const button = document.createElement("button");
    button.type = "button";
    button.title = words.pad.example(label);
    button.setAttribute("aria-label", button.title);
    button.append(document.createElement("canvas"));
    button.addEventListener("click", () => choose(strokes));
    parent.append(button);
  }
}

export function drawExamples(parent: HTMLElement): void {
  [...parent.children].forEach((button, index) => {
    const canvas = button.firstElementChild as HTMLCanvasElement;
    canvas.width = canvas.height = 96;
    const context = canvas.getContext("2d")!;
    context.scale(96 / SIDE, 96 / SIDE);
    context.strokeStyle = getComputedStyle(canvas).color;
    for (const stroke of EXAMPLES[index].strokes) drawStroke(context, stroke);
  });
}

/** Calls `show` with more and more of the drawing. The function it returns stops that. */
export function writeOut(
  strokes: Stroke[],
  milliseconds: number,
  show: (strokes: Stroke[]) => void,
): () => void {
  const total = strokes.reduce((sum, stroke) => sum + pathLength(stroke), 0);
  let frame = 0;
  const begin = performance.now();
  const step = (now: number) => {
    const t = Math.min(1, Math.max(0, (now - begin) / milliseconds));
    show(upTo(strokes, total * (t * t * (3 - 2 * t))));
    if (t < 1) frame = requestAnimationFrame(step);
  };
  frame = requestAnimationFrame(step);
  return () => cancelAnimationFrame(frame);
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
