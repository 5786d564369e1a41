/** The walk through the story: the chapters whose question the visitor has answered. */
import { store, stored } from "../storage.ts";

const KEY = "vitrine-walk";

export type Walk = ReturnType<typeof buildWalk>;

/** Answers stay over visits, where the browser keeps anything. */
export function buildWalk(changed: () => void) {
  const answers = storedAnswers();
  const keep = () => {
    store(KEY, JSON.stringify([...answers]));
    changed();
  };
  return {
    /** Whether the first answer was right; undefined before there is one. */
    of: (chapter: string) => answers.get(chapter),
    answer(chapter: string, right: boolean): void {
      if (answers.has(chapter)) return;
      answers.set(chapter, right);
      keep();
    },
    clear(): void {
      answers.clear();
      keep();
    },
  };
}

function storedAnswers(): Map<string, boolean> {
  try {
    const list: unknown = JSON.parse(stored(KEY) ?? "[]");
    return new Map(Array.isArray(list) ? list.filter((one) => Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "boolean") : []);
  } catch {
    return new Map();
  }
}
