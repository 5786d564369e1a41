/** Leaves out points of strokes without which the drawn curve stays where it is. */
import { middle, type Point, type Stroke } from "./ink.ts";

/** Samples of each curve between the middles of two lines. */
const SAMPLES = 4;

/**
 * The stroke with few of its points, whose curve passes within `distance` pad units of the whole
 * stroke's. Corners keep the points beside them, because a curve only comes near its control points.
 */
export function thinned(stroke: Stroke, distance: number): Stroke {
  const whole = stroke.map((_, i) => curveAt(stroke, i));
  const kept = new Set([0, stroke.length - 1]);
  for (let before = 0; before < kept.size; ) {
    before = kept.size;
    const indices = [...kept].sort((a, b) => a - b);
    const curves = indices.map((_, k) => curveAt(indices.map((i) => stroke[i]!), k));
    for (let k = 1; k < indices.length; k++) {
      const near = [...curves[k - 1]!, ...curves[k]!];
      let farthest = -1, most = distance;
      for (let i = indices[k - 1]!; i <= indices[k]!; i++) {
        const away = Math.max(...whole[i]!.map((point) => distanceTo(point, near)));
        if (away > most && !(kept.has(i) && indices[k]! - indices[k - 1]! < 2)) [farthest, most] = [i, away];
      }
      if (farthest < 0) continue;
      kept.add(farthest);
      // A point that is kept already needs its neighbours.
      if (farthest === indices[k - 1]) kept.add(farthest + 1);
      if (farthest === indices[k]) kept.add(farthest - 1);
    }
  }
  return stroke.filter((_, i) => kept.has(i));
}

/** The curve that the stroke's point `i` controls, as drawStroke draws it: the first one begins at point 0. */
function curveAt(stroke: Stroke, i: number): Point[] {
  const control = stroke[i]!;
  if (i === 0) return [control];
  const from = i > 1 ? middle(stroke[i - 1]!, control) : stroke[0]!;
  const to = i + 1 < stroke.length ? middle(control, stroke[i + 1]!) : control;
  return Array.from({ length: SAMPLES + 1 }, (_, k) => {
    const t = k / SAMPLES;
    return middle(middle(from, control, t), middle(control, to, t), t);
  });
}

/** From a point to a line of many points, the pen's width as a third coordinate. */
function distanceTo(point: Point, line: readonly Point[]): number {
  let least = distanceToPiece(point, line[0]!, line[0]!);
  for (let k = 1; k < line.length; k++) least = Math.min(least, distanceToPiece(point, line[k - 1]!, line[k]!));
  return least;
}

function distanceToPiece(point: Point, from: Point, to: Point): number {
  const [x, y, w] = [to.x - from.x, to.y - from.y, to.width - from.width];
  const length = x * x + y * y + w * w;
  const along = (point.x - from.x) * x + (point.y - from.y) * y + (point.width - from.width) * w;
  const t = length > 0 ? Math.min(1, Math.max(0, along / length)) : 0;
  return Math.hypot(point.x - from.x - t * x, point.y - from.y - t * y, point.width - from.width - t * w);
}
