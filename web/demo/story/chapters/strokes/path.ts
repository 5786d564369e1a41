/** A drawing as one way of the pen, which can be cut at any length. Needs no page. */
import { PEN, type Point, type Stroke } from "../../../ink.ts";

interface Spot extends Point {
  stroke: number;
  at: number; // the way of the pen up to here, in pad units
}

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

/** Where the second and later strokes begin, along the way. */
export const beginsOf = ({ spots }: Way): number[] =>
  spots.filter(({ stroke }, i) => i > 0 && stroke !== spots[i - 1]!.stroke).map(({ at }) => at);

/** The strokes as they were when the pen had gone so far. */
export function cut({ spots }: Way, length: number): Stroke[] {
  const strokes: Stroke[] = [];
  for (const [i, { x, y, width, stroke, at }] of spots.entries()) {
    if (at <= length) {
      (strokes[stroke] ??= []).push({ x, y, width });
      continue;
    }
    const from = spots[i - 1]!;
    if (from.stroke === stroke && length > from.at) strokes[stroke]!.push(between(from, spots[i]!, length));
    break;
  }
  return strokes;
}

function between(a: Spot, b: Spot, length: number): Point {
  const t = (length - a.at) / (b.at - a.at);
  const mix = (from: number, to: number) => from + (to - from) * t;
  return { x: mix(a.x, b.x), y: mix(a.y, b.y), width: mix(a.width, b.width) };
}

/** Whether the pen has gone on from where it was, so that what was known of `before` still holds. */
export const goesOn = (now: Way, before: Way): boolean =>
  now.length >= before.length &&
  before.spots.every((spot, i) => {
    const same = now.spots[i];
    return same?.x === spot.x && same.y === spot.y && same.width === spot.width && same.stroke === spot.stroke;
  });

const FIRST_STEP = 4; // pad units
const MOST = 80;

/**
 * The lengths at which a drawing is read: 40 to 80 in even steps, fewer for a very short one, and
 * the whole. Steps only double, so that a drawing that grows keeps what was read of it.
 */
export function moments(length: number): number[] {
  let step = FIRST_STEP;
  while (length / step > MOST) step *= 2;
  return [...Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step), length];
}

/** The answers in turn: where each began. */
export function runsOf<Sample extends { label: string }>(samples: readonly Sample[]): Sample[] {
  return samples.filter(({ label }, i) => label !== samples[i - 1]?.label);
}
