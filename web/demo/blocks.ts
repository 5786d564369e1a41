import type { Attention } from "vitrine";
import { paint, tone } from "./colour.ts";
import { heat, rangeOf, within } from "./heat.ts";
import { heatMap } from "./overlay.ts";
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

/** What small maps are drawn from. */
type Shown = Pick<State, "model" | "dark"> & {
  view: Omit<State["view"], "map"> & { map: string };
  reading?: { result: { attention?: Attention } };
};

/** Builds one small map a layer and head, each a button that chooses it. */
export function buildMaps(
  parent: HTMLElement,
  layers: number,
  heads: number,
  choose: (layer: number, head: number) => void,
): void {
  parent.replaceChildren();
  parent.style.setProperty("--layers", String(layers));
  parent.onkeydown = (event) => moveFocus(event, parent, layers);
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

/** Arrow keys go from map to map: one stop of the Tab key for all of them. */
function moveFocus(event: KeyboardEvent, parent: HTMLElement, layers: number): void {
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -layers, ArrowDown: layers };
  const step = steps[event.key as keyof typeof steps];
  const maps = [...parent.children] as HTMLElement[];
  const next = step && maps[maps.indexOf(document.activeElement as HTMLElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** Fills the small maps, each on a scale of its own. */
export function drawMaps(parent: HTMLElement, state: Shown): void {
  const { view, model, dark, reading } = state;
  if (!model) return;
  const { gridRows, gridCols } = shapeOf(model.config);
  const attention = reading?.result.attention;
  [...parent.children].forEach((button, index) => {
    const layer = index % model.config.depth;
    const head = Math.floor(index / model.config.depth);
    const map =
      attention?.kept.includes(layer) &&
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
  const stop = parent.querySelector("[aria-pressed=true]") ?? parent.firstElementChild;
  for (const button of parent.children) (button as HTMLElement).tabIndex = button === stop ? 0 : -1;
}
