/** Numbers to try, written with the digits that the first tab offers. */
import { OFFERED } from "../../train/handwriting.ts";
import { SIDE, type Stroke } from "../ink.ts";

/** Squares of the pad, side by side. */
export const ACROSS = 4;
/** From the middle of a digit to that of the next one. */
const STEP = 196;

export function strokesOf(number: string): Stroke[] {
  const left = (SIDE * ACROSS - SIDE - STEP * (number.length - 1)) / 2;
  return [...number].flatMap((digit, at) =>
    OFFERED.find(({ label }) => label === digit)!.strokes.map((stroke) => stroke.map((point) => ({ ...point, x: point.x + left + at * STEP }))));
}

export const EXAMPLES = ["7", "42", "365", "1984", "4273"].map((label) => ({ label, strokes: strokesOf(label) }));
export const OPENING = EXAMPLES.at(-1)!.strokes;
