import type { Attention, Placement } from "vitrine";
import { accent, css, cssHeat, tone } from "./colour.ts";
import { type Scale, scaleOf } from "../base/heat.ts";
import { shapeOf, type Shape } from "./pixels.ts";
import type { State, View } from "./state.ts";
import { percent, words } from "./texts/words.ts";

/** Heat maps that were made. A frame asks for most of them several times. */
const made = new WeakMap<Attention, Map<string, Float32Array>>();

/** The chosen heat map over the grid, in row order. */
export function heatMap(attention: Attention, view: View): Float32Array {
  const maps = made.get(attention) ?? new Map<string, Float32Array>();
  made.set(attention, maps);
  const name = [view.map, view.layer, view.head, ...(view.map === "patch" ? view.patch : [])].join();
  const map = maps.get(name) ?? makeMap(attention, view);
  maps.set(name, map);
  return map;
}

function makeMap(attention: Attention, { map, layer, head, patch }: View): Float32Array {
  if (map === "rollout") return attention.rollout();
  if (map === "patch") return attention.fromPatch(patch[0], patch[1], layer, head);
  return attention.fromClass(layer, head);
}

/** One scale for maps that are seen together. */
export function scaleOfAll(attention: Attention, view: View): Scale {
  const small = { ...view, map: view.map === "patch" ? "patch" : "class" } as const;
  const maps = attention.kept.flatMap((layer) =>
    Array.from({ length: attention.heads }, (_, head) => heatMap(attention, { ...small, layer, head })));
  const [rows, columns] = attention.grid;
  return scaleOf([...maps, heatMap(attention, view)], 1 / (rows * columns));
}

/** The place of the first patch on the pad. All patches have its size. */
const firstPatchOf = (placement: Placement, { rows, cols, patchRows, patchCols }: Shape) =>
  ({ ...placement, width: (placement.width / cols) * patchCols, height: (placement.height / rows) * patchRows });

/** The patch under a point of the pad, if there is one. */
export function patchAt(state: State, x: number, y: number): [number, number] | undefined {
  if (!state.reading) return undefined;
  const shape = shapeOf(state.model?.config);
  const { left, top, width, height } = firstPatchOf(state.reading.result.placement, shape);
  const row = Math.floor((y - top) / height), col = Math.floor((x - left) / width);
  const inside = row >= 0 && col >= 0 && row < shape.gridRows && col < shape.gridCols;
  return inside ? [row, col] : undefined;
}

/** The hottest patch of a map, which is the end of the map's own scale. */
export const hottest = (map: Float32Array): number => map.reduce((most, value) => Math.max(most, value), 0);

/** Under the hottest patch a photo still shows through. A drawing's ink lies over the map. */
const THROUGH = 0.75;

/** The end of the shown map's scale; empty without a map. */
export function scaleEnd({ reading, view }: State): string {
  const { attention } = reading?.result ?? {};
  return attention ? words.maps.onePatch({ p: percent(hottest(heatMap(attention, view))) }) : "";
}

/** Paints each patch's colour where the patch lies, in a context in pad units. Returns what outlines a patch. */
export function paintMap(context: CanvasRenderingContext2D, map: Float32Array, placement: Placement, shape: Shape, dark: boolean, strength = 1) {
  const most = hottest(map), { left, top, width, height } = firstPatchOf(placement, shape);
  const gap = Math.min(0.7, width / 12); // a digit may be small in its photo
  const cell = (row: number, col: number, gap: number) => {
    context.beginPath();
    context.roundRect(left + col * width + gap, top + row * height + gap, width - 2 * gap, height - 2 * gap, 3);
  };
  context.globalAlpha = strength;
  map.forEach((value, at) => {
    cell(Math.floor(at / shape.gridCols), at % shape.gridCols, gap);
    context.fillStyle = cssHeat(value / most, dark);
    context.fill();
  });
  context.globalAlpha = 1;
  context.strokeStyle = css(tone(0.14, dark));
  context.lineWidth = 0.7;
  context.strokeRect(left, top, width * shape.gridCols, height * shape.gridRows);
  return cell;
}

/** Paints the shown map in a context in pad units. */
export function paintOverlay(context: CanvasRenderingContext2D, state: State): void {
  const { reading, view, dark, photo } = state;
  if (!reading?.result.attention) return;
  const { attention, placement } = reading.result;
  const cell = paintMap(context, heatMap(attention, view), placement, shapeOf(state.model?.config), dark, view.strength * (photo ? THROUGH : 1));
  if (view.map !== "patch") return;
  cell(view.patch[0], view.patch[1], 0);
  context.strokeStyle = css(accent(dark));
  context.lineWidth = 2.5;
  context.stroke();
}

/** The patch with most of a map: "Most on row 4, column 3: 19 %." */
export function mostOf(map: Float32Array, columns: number): string {
  const at = map.indexOf(hottest(map));
  const [row, column] = [Math.floor(at / columns) + 1, (at % columns) + 1];
  return words.maps.most({ row, column, p: percent(map[at]) });
}

/** The overlay in words for a screen reader: its kind of map, and where most of the map is. */
export function describe(state: State): string {
  const { attention } = state.reading?.result ?? {};
  const explanation = explain(state);
  return attention ? `${explanation} ${mostOf(heatMap(attention, state.view), attention.grid[1])}` : explanation;
}

export const headsOf = ({ head }: Pick<View, "head">): string =>
  head === "mean" ? words.maps.allHeads : words.maps.head({ head: head + 1 });

export function explain({ view, reading }: State): string {
  const { maps } = words;
  if (!reading) return maps.none;
  const { layer, patch } = view;
  const heads = headsOf(view);
  return {
    class: maps.ofClass({ layer: layer + 1, heads }),
    patch: maps.ofPatch({ row: patch[0] + 1, column: patch[1] + 1, layer: layer + 1, heads }),
    rollout: maps.toClass,
  }[view.map];
}
