/** Leaves out points of strokes that lie on the line between their neighbours: Douglas & Peucker 1973. */
import type { Point, Stroke } from "./ink.ts";

/** The stroke with so few points that those left out are within `distance` pad units of it. */
export function thinned(stroke: Stroke, distance: number): Stroke {
  const kept = new Set([0, stroke.length - 1]);
  const spans: [first: number, last: number][] = [[0, stroke.length - 1]];
  for (let span = spans.pop(); span; span = spans.pop()) {
    const [first, last] = span;
    let farthest = first, most = distance;
    for (let i = first + 1; i < last; i++) {
      const away = distanceTo(stroke[i]!, stroke[first]!, stroke[last]!);
      if (away > most) [farthest, most] = [i, away];
    }
    if (farthest === first) continue;
    kept.add(farthest);
    spans.push([first, farthest], [farthest, last]);
  }
  return stroke.filter((_, i) => kept.has(i));
}

/** From a point to the line between two others, the pen's width as a third coordinate. */
function distanceTo(point: Point, from: Point, to: Point): number {
  const [x, y, w] = [to.x - from.x, to.y - from.y, to.width - from.width];
  const length = x * x + y * y + w * w;
  const along = (point.x - from.x) * x + (point.y - from.y) * y + (point.width - from.width) * w;
  const t = length > 0 ? Math.min(1, Math.max(0, along / length)) : 0;
  return Math.hypot(point.x - from.x - t * x, point.y - from.y - t * y, point.width - from.width - t * w);
}
