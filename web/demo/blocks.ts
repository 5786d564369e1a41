import { heat, paint, tone } from "./colour.ts";
import { heatMap, rangeOf, within } from "./overlay.ts";
import { accent, shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";

/** What every token (a row) takes from every token (a column) in the chosen layer and head. */
export function drawBlocks(canvas: HTMLCanvasElement, state: State): void {
  const attention = state.reading?.result.attention;
  const prefix = state.model?.config.prefix.length ?? 1;
  const { gridRows, gridCols } = shapeOf(state.model?.config);
  const tokens = attention?.tokens ?? prefix + gridRows * gridCols;
  const matrix = attention?.at(state.view.layer, state.view.head);
  const range = matrix && rangeOf(matrix);
  const { map, patch } = state.view;
  const marked = map === "patch" ? prefix + patch[0] * gridCols + patch[1] : 0;
  // Two columns more than the matrix has: the row that is shown gets a mark in the first.
  paint(canvas, tokens, tokens + 2, (row, x) => {
    if (x === 0 && row === marked && map !== "rollout") return accent(state.dark);
    if (x < 2) return undefined;
    if (!matrix || !range) return tone(0, state.dark);
    // The root shows the faint weights too: one row's peak would drown the others.
    return heat(Math.sqrt(within(matrix[row * tokens + x - 2], range)), state.dark);
  });
}

/** Builds one small map a layer and head, each a button that chooses it. */
export function buildMaps(
  parent: HTMLElement,
  layers: number,
  heads: number,
  choose: (layer: number, head: number) => void,
): void {
  parent.replaceChildren();
  parent.style.setProperty("--layers", String(layers));
  for (let head = 0; head < heads; head++) {
    for (let layer = 0; layer < layers; layer++) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = `Layer ${layer + 1}, head ${head + 1}`;
      button.setAttribute("aria-label", button.title);
      button.append(document.createElement("canvas"));
      button.addEventListener("click", () => choose(layer, head));
      parent.append(button);
    }
  }
}

/** Fills the small maps, each on a scale of its own. */
export function drawMaps(parent: HTMLElement, state: State): void {
  const { view, model, dark, reading } = state;
  if (!model) return;
  const { gridRows, gridCols } = shapeOf(model.config);
  const attention = reading?.result.attention;
  [...parent.children].forEach((button, index) => {
    const layer = index % model.config.depth;
    const head = Math.floor(index / model.config.depth);
    const map =
      attention &&
      heatMap(attention, { ...view, layer, head, map: view.map === "patch" ? "patch" : "class" });
    const range = map && rangeOf(map);
    paint(button.firstElementChild as HTMLCanvasElement, gridRows, gridCols, (row, col) =>
      map && range ? heat(within(map[row * gridCols + col], range), dark) : tone(0, dark),
    );
    const chosen =
      view.map !== "rollout" &&
      view.layer === layer &&
      (view.head === "mean" || view.head === head);
    button.setAttribute("aria-pressed", String(chosen));
  });
}
