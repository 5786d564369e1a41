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
  const vertices = new Set([0, stroke.length - 1]);
  const near = new Set<number>(); // the kept points after which the curve is near up to the next one
  for (let before = 0; before < vertices.size; ) {
    before = vertices.size;
    const indices = [...vertices].sort((a, b) => a - b), points = indices.map((i) => stroke[i]!), bent: number[] = [];
    for (let k = 1; k < indices.length; k++) {
      const from = indices[k - 1]!, to = indices[k]!;
      if (near.has(from) || to - from < 2) continue;
      const curve = [...curveAt(points, k - 1), ...curveAt(points, k)];
      let farthest = -1, most = distance ** 2;
      for (let i = from; i <= to; i++) {
        for (const point of whole[i]!) {
          const away = squareTo(point, curve, most);
          if (away > most) [farthest, most] = [i, away];
        }
      }
      near.add(from);
      if (farthest < 0) continue;
      vertices.add(farthest);
      // A point that is kept already needs its neighbours.
      if (farthest === from) vertices.add(from + 1);
      if (farthest === to) vertices.add(to - 1);
      bent.push(...indices.slice(Math.max(0, k - 2), k + 1)); // a point bends the curves beside it too
    }
    for (const from of bent) near.delete(from);
  }
  return stroke.filter((_, i) => vertices.has(i));
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

/**
 * The square of the distance from a point to a line of many points, the pen's width as a third
 * coordinate. Where that is at most `enough`, any value that is.
 */
function squareTo(point: Point, line: readonly Point[], enough: number): number {
  let least = Infinity;
  for (let k = 0; k < line.length && least > enough; k++) {
    const from = line[Math.max(0, k - 1)]!, to = line[k]!;
    const x = to.x - from.x, y = to.y - from.y, w = to.width - from.width;
    const a = point.x - from.x, b = point.y - from.y, c = point.width - from.width;
    const length = x * x + y * y + w * w;
    const t = length > 0 ? Math.min(1, Math.max(0, (a * x + b * y + c * w) / length)) : 0;
    least = Math.min(least, (a - t * x) ** 2 + (b - t * y) ** 2 + (c - t * w) ** 2);
  }
  return least;
}
