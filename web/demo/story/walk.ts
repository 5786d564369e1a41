/** The walk through the story. */
const KEY = "vitrine-walk";

/** The chapters whose question the visitor has answered. They stay over visits, where the browser keeps anything. */
export class Walk {
  readonly #done: Map<string, boolean>;
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.#done = kept();
  }

  /** Whether the first answer was right; undefined before there is one. */
  of(chapter: string): boolean | undefined {
    return this.#done.get(chapter);
  }

  answer(chapter: string, right: boolean): void {
    if (this.#done.has(chapter)) return;
    this.#done.set(chapter, right);
    this.#keep();
  }

  clear(): void {
    this.#done.clear();
    this.#keep();
  }

  #keep(): void {
    try {
      localStorage.setItem(KEY, JSON.stringify([...this.#done]));
    } catch {
      // Storage may be forbidden; the walk then lasts as long as the page.
    }
    this.#changed();
  }
}

function kept(): Map<string, boolean> {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return new Map(Array.isArray(list) ? list.filter((one) => Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "boolean") : []);
  } catch {
    return new Map();
  }
}
