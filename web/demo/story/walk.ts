/** The walk through the story: the chapters whose question the visitor has answered. */
import { store, stored } from "../storage.ts";

const KEY = "vitrine-walk";

export type Walk = ReturnType<typeof buildWalk>;

/** Answers stay over visits, where the browser keeps anything. */
export function buildWalk(changed: () => void) {
  const done = kept();
  const keep = () => {
    store(KEY, JSON.stringify([...done]));
    changed();
  };
  return {
    /** Whether the first answer was right; undefined before there is one. */
    of: (chapter: string) => done.get(chapter),
    answer(chapter: string, right: boolean): void {
      if (done.has(chapter)) return;
      done.set(chapter, right);
      keep();
    },
    clear(): void {
      done.clear();
      keep();
    },
  };
}

function kept(): Map<string, boolean> {
  try {
    const list: unknown = JSON.parse(stored(KEY) ?? "[]");
    return new Map(Array.isArray(list) ? list.filter((one) => Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "boolean") : []);
  } catch {
    return new Map();
  }
}
