import { OFFERED } from "../train/handwriting.ts";
import { button } from "./dom.ts";
import { animate } from "./figure/motion.ts";
import type { Stroke } from "./ink.ts";
import { words } from "./texts/words.ts";
import { cut, wayOf } from "./way.ts";

export const DIGITS = Array.from("0123456789", (digit) => OFFERED.find(({ label }) => label === digit)!);

export const OPENING = DIGITS[3]!.strokes;

export function buildExamples(parent: HTMLElement, examples: readonly { label: string; strokes: Stroke[] }[], choose: (strokes: Stroke[]) => void): void {
  parent.replaceChildren(...examples.map(({ label, strokes }) => {
    const title = words.pad.example({ label });
    return button(label, () => choose(strokes), { title, ariaLabel: title });
  }));
}

/** Calls `show` with more and more of the drawing. The function it returns stops that. */
export function writeOut(
  strokes: Stroke[],
  milliseconds: number,
  show: (strokes: Stroke[], done: boolean) => void,
): () => void {
  const way = wayOf(strokes);
  return animate(milliseconds, (t) => show(cut(way, way.length * (t * t * (3 - 2 * t))), t === 1));
}
