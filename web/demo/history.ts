import type { Stroke } from "./ink.ts";

/** The drawings that undo and redo return to. */
export class History {
  #past: Stroke[][] = [];
  #future: Stroke[][] = [];

  /** Call it before `now` changes. Drawings that were undone can then no longer be redone. */
  remember(now: Stroke[]): void {
    this.#past.push(now);
    this.#future = [];
  }

  /** The drawing before the last change, which is forgotten. */
  takeBack(): Stroke[] | undefined {
    return this.#past.pop();
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  undo(now: Stroke[]): Stroke[] | undefined {
    return swap(this.#past, this.#future, now);
  }

  redo(now: Stroke[]): Stroke[] | undefined {
    return swap(this.#future, this.#past, now);
  }
}

function swap(from: Stroke[][], to: Stroke[][], now: Stroke[]): Stroke[] | undefined {
  const other = from.pop();
  if (other) to.push(now);
  return other;
}
