import type { Stroke } from "./ink.ts";
import type { Photo } from "./photo.ts";

/** What lies on the pad: strokes, or a photo and no strokes. */
export interface Sheet {
  strokes: Stroke[];
  photo?: Photo;
}

/** The sheets that undo and redo return to. To take the last change back so that redo does not know it, use `past.pop()`. */
export class History {
  readonly past: Sheet[] = [];
  readonly future: Sheet[] = [];

  /** Call it before `now` changes. Sheets that were undone can then no longer be redone. */
  remember(now: Sheet): void {
    this.past.push(now);
    this.future.length = 0;
  }

  step(way: "undo" | "redo", now: Sheet): Sheet | undefined {
    const [from, to] = way === "undo" ? [this.past, this.future] : [this.future, this.past], other = from.pop();
    if (other) to.push(now);
    return other;
  }
}
