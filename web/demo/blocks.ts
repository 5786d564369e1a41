import type { Attention, Vit } from "vitrine";
import { paint, tone } from "./colour.ts";
import { button, h } from "./dom.ts";
import { heat, place, type Scale } from "../base/heat.ts";
import { oneStop } from "./figure/cells.ts";
import { heatMap } from "./overlay.ts";
import { shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";
import { words } from "./texts/words.ts";

type MapsView = Pick<State, "dark"> & {
  model?: Pick<Vit, "config">;
  view: Omit<State["view"], "map"> & { map: string };
  reading?: { result: { attention?: Attention } };
};

/** Builds one small map for each layer and head. Each map is a button that chooses it. */
export function buildMaps(
  parent: HTMLElement,
  layers: number,
  heads: number,
  choose: (layer: number, head: number) => void,
): void {
  const maps = Array.from({ length: heads * layers }, (_, at) => {
    const layer = at % layers, head = Math.floor(at / layers), title = words.maps.button({ layer: layer + 1, head: head + 1 });
    const data = { ...(head === 0 && { layer: String(layer + 1) }), ...(layer === 0 && { head: String(head + 1) }) };
    return button(h("canvas"), () => choose(layer, head), { title, ariaLabel: title, data });
  });
  parent.style.setProperty("--layers", String(layers));
  parent.replaceChildren(...maps);
  oneStop(maps, layers);
}

/** Fills the small maps with colours on one scale. */
export function drawMaps(
  parent: HTMLElement,
  state: MapsView,
  scale: Scale | undefined,
  partOf: (value: number, scale: Scale) => number = place,
): void {
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
    paint(button.firstElementChild as HTMLCanvasElement, gridRows, gridCols, (row, col) =>
      map && scale ? heat(partOf(map[row * gridCols + col], scale), dark) : tone(0, dark),
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
