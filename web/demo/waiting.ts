import type { State } from "./state.ts";

/** The text in the answer's place while there is no answer. */
export function waitingFor({ strokes, model, answered, version }: State, loading: boolean): string {
  if (strokes.length === 0) return "Waiting for ink";
  if (!model) return loading ? "Loading" : "No model";
  return answered === version ? "More ink" : "Reading";
}
