import type { State } from "./state.ts";

/** What stands in the answer's place while there is none. */
export function waitingFor({ strokes, model, answered, version }: State, loading: boolean): string {
  if (strokes.length === 0) return "Waiting for ink";
  if (!model) return loading ? "Loading" : "No model";
  return answered === version ? "More ink" : "Reading";
}
