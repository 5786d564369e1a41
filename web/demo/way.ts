/** A drawing as one way of the pen. */
import { middle, PEN, type Point, type Stroke } from "./ink.ts";

interface Spot extends Point {
  stroke: number;
  at: number; // the way of the pen up to here, in pad units
}

/** A drawing as one way of the pen, which can be cut at any length. */
export interface Way {
  spots: readonly Spot[];
  length: number;
}

/** The way of the pen through all strokes. A lift counts as a pen's width, so that dots count too. */
export function wayOf(strokes: readonly Stroke[]): Way {
  const spots: Spot[] = [];
  strokes.forEach((points, stroke) =>
    points.forEach((point) => {
      const last = spots.at(-1);
      const step = !last ? 0 : last.stroke === stroke ? Math.hypot(point.x - last.x, point.y - last.y) : PEN;
      spots.push({ ...point, stroke, at: (last?.at ?? 0) + step });
    }));
  return { spots, length: spots.at(-1)?.at ?? 0 };
}

/** The strokes as they were when the pen had gone so far. */
export function cut({ spots }: Way, length: number): Stroke[] {
  const strokes: Stroke[] = [];
  for (const [i, { x, y, width, stroke, at }] of spots.entries()) {
    if (at <= length) {
      (strokes[stroke] ??= []).push({ x, y, width });
      continue;
    }
    const from = spots[i - 1]!;
    if (from.stroke === stroke && length > from.at) strokes[stroke]!.push(middle(from, spots[i]!, (length - from.at) / (spots[i]!.at - from.at)));
    break;
  }
  return strokes;
}
