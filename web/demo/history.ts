import type { Stroke } from "./ink.ts";
import type { Photo } from "./photo.ts";

/** What lies on the pad: strokes, or a photo and no strokes. */
export interface Sheet {
  strokes: Stroke[];
  photo?: Photo;
}

/** The sheets that undo and redo return to. */
export class History {
  #past: Sheet[] = [];
  #future: Sheet[] = [];

  /** Call it before `now` changes. Sheets that were undone can then no longer be redone. */
  remember(now: Sheet): void {
    this.#past.push(now);
    this.#future = [];
  }

  /** The sheet before the last change, which is forgotten. */
  takeBack(): Sheet | undefined {
    return this.#past.pop();
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  undo(now: Sheet): Sheet | undefined {
    return swap(this.#past, this.#future, now);
  }

  redo(now: Sheet): Sheet | undefined {
    return swap(this.#future, this.#past, now);
  }
}

function swap(from: Sheet[], to: Sheet[], now: Sheet): Sheet | undefined {
  const other = from.pop();
  if (other) to.push(now);
  return other;
}
