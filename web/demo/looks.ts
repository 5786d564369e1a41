/** Where the shown map is hottest, in words. Its code comes after the first prediction. */
import { answerOf } from "./answer.ts";
import { h, write } from "./dom.ts";
import { heatMap, hottest } from "./overlay.ts";
import { shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";
import { allWords, percent, percentage, words } from "./texts/words.ts";
import { type Hotspot, type Where, whereOf } from "./where.ts";

function phraseOf({ kind, position }: Hotspot): string {
  const { looks } = allWords();
  return looks.at({ kind: looks.kinds[kind], position: looks.positions[position] });
}

type Sentence = [before: string, place: string, after: string];

/** One sentence: where the shown map is hottest, by the drawing's own geometry. */
export function looksOf({ reading, view, strokes, photo, model }: State): Sentence {
  const attention = reading?.result.attention, { looks } = allWords();
  if (!attention) return ["", "", ""];
  const where = whereOf(heatMap(attention, view), attention.grid, reading.result.placement, strokes,
    photo && { values: reading.result.input, ...shapeOf(model?.config) });
  return placesOf(heatMap(attention, view), where, (view.map === "patch" ? looks.patch : looks.it)({ place: "{1}" }));
}

/** @param begin the sentence's begin, with {1} for the place. */
export function placesOf(map: Float32Array, { places, patches, share, spread }: Where, begin: string): Sentence {
  const { looks } = allWords();
  if (spread) return [looks.spread({ p: percent(hottest(map)) }), "", ""];
  const values = { patches, all: map.length, share: percentage(share, 0).replace(" ", "\u00a0") };
  const text = begin + (patches === 1 ? looks.holdOne : looks.hold)(values);
  const [before, after] = text.split("{1}");
  return [before!, places.map(phraseOf).reduce((a, b) => looks.both({ a, b })), after!];
}

export function drawLooks(parent: HTMLElement, state: State): void {
  if (answerOf(state).unknown) write(parent, words.answer.onlyThese);
  else writePlaces(parent, looksOf(state));
}

export function writePlaces(parent: HTMLElement, [before, where, after]: Sentence): void {
  if (parent.textContent === before + where + after) return;
  parent.replaceChildren(before, h("em", {}, where), after);
}
