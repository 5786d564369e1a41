/** Where the shown map is hottest, in words. */
import { percent } from "./logits.ts";
import { heatMap, hottest } from "./overlay.ts";
import { shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";
import { percentage, words } from "./texts/words.ts";
import { type Place, whereOf } from "./where.ts";

/** The end of the shown map's scale; empty without a map. */
export function scaleEnd({ reading, view }: State): string {
  const { attention } = reading?.result ?? {};
  return attention ? words.looks.onePatch(percent(hottest(heatMap(attention, view)))) : "";
}

const placed = ({ kind, position }: Place): string =>
  words.looks.at(words.looks.kinds[kind], words.looks.positions[position]);

/** One sentence: where the shown map is hottest, by the drawing's own geometry. The second part of three is the place. */
export function looksOf({ reading, view, strokes, photo, model }: State): [before: string, place: string, after: string] {
  const attention = reading?.result.attention, { looks } = words;
  if (!attention) return ["", "", ""];
  const map = heatMap(attention, view);
  const { places, patches, share, spread } = whereOf(map, attention.grid, reading.result.placement, strokes,
    photo && { values: reading.result.input, ...shapeOf(model?.config) });
  if (spread) return [looks.spread(percent(hottest(map))), "", ""];
  const text = (view.map === "patch" ? looks.patch : looks.it) + looks.hold(patches, map.length, percentage(share, 0).replace(" ", "\u00a0"));
  const [before, after] = text.split("{1}");
  return [before!, places.map(placed).reduce(looks.both), after!];
}
