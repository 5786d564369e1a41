import type { State } from "./state.ts";
import { words } from "./texts/words.ts";

/** The text in the answer's place while there is no answer. */
export function waitingFor({ strokes, model, answered, version }: State, loading: boolean): string {
  if (strokes.length === 0) return words.waiting.ink;
  if (!model) return loading ? words.waiting.loading : words.waiting.noModel;
  return answered === version ? words.waiting.more : words.waiting.reading;
}
