/** Where the shown map is hottest, in words. Its code comes after the first prediction. */
import { answerOf } from "./answer.ts";
import { h } from "./dom.ts";
import { percent } from "./logits.ts";
import { heatMap, hottest } from "./overlay.ts";
import { shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";
import { percentage, words } from "./texts/words.ts";
import { type Place, whereOf } from "./where.ts";
import { write } from "./write.ts";

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

export function drawLooks(parent: HTMLElement, state: State): void {
  if (answerOf(state).unknown) return write(parent, words.answer.onlyThese);
  const [before, where, after] = looksOf(state);
  if (parent.textContent === before + where + after) return;
  parent.replaceChildren(before, h("em", {}, where), after);
}
