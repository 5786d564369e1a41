/** The filters that cut a patch into a token's numbers, as small pictures in one canvas. */
import { css, tone } from "../../../colour.ts";
import { weightsOf } from "../../../explain/models.ts";
import { readSafetensors } from "../../../../base/safetensors.mjs";
import type { Texts } from "../../../texts/en.ts";
import { number, rough } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import { sized } from "../../../figure/canvas.ts";
import { saveable } from "../../../figure/parts.ts";
import { signedColour, signedScale } from "../../grid.ts";
import { slices } from "../../slices.ts";
import { cosine } from "../../vectors.ts";

/** CSS pixels of a filter's side, and between filters. */
const SIDE = 56, GAP = 7;

export interface Look {
  /** The weight of the strongest colour. */
  top: number;
  dark: boolean;
  /** CSS pixels of a filter's side. */
  pixels: number;
  /** Filters in a row. */
  across: number;
}

export interface Filters {
  readonly side: number;
  /** For each snapshot (D, side, side). */
  readonly all: readonly Float32Array[];
}

/** The filters of all snapshots. */
export async function readFilters(count: number): Promise<Filters> {
  const all: Float32Array[] = [];
  const pause = slices();
  let side = 0;
  for (let at = 0; at < count; at++) {
    const { shape, data } = readSafetensors(await weightsOf("learning", at)).tensors.get("patch_embed.proj.weight")!;
    side = shape.at(-1)!;
    all.push(Float32Array.from(data));
    await pause();
  }
  return { side, all };
}

/** Paints filters (D, side, side) side by side. Returns the index of the largest weight. */
export function paintFilters(canvas: HTMLCanvasElement, filters: Float32Array, side: number, { top, dark, pixels, across }: Look): number {
  const size = side * side, count = filters.length / size;
  const cell = pixels / side, step = side * cell + GAP;
  const [width, height] = [Math.min(count, across) * step - GAP, Math.ceil(count / across) * step - GAP];
  const context = sized(canvas, width, height);
  context.fillStyle = css(tone(0.12, dark));
  context.fillRect(0, 0, width, height);
  let most = 0;
  filters.forEach((value, i) => {
    const filter = Math.floor(i / size), row = Math.floor((i % size) / side), column = i % side;
    if (Math.abs(value) > Math.abs(filters[most]!)) most = i;
    context.fillStyle = signedColour(value, top, dark);
    context.fillRect((filter % across) * step + column * cell, Math.floor(filter / across) * step + row * cell, cell, cell);
  });
  return most;
}

/** Returns the figure and what draws a snapshot's filters in it, on one scale for all snapshots. */
export function buildFilters({ side, all }: Filters, texts: Texts): [HTMLElement, (at: number, dark: boolean) => void] {
  const { learning: words, grid } = texts;
  const size = side * side, scale = signedScale(...all);
  const canvas = saveable(h("canvas", { className: "filters" }), words.filters);
  canvas.setAttribute("role", "img");
  const largest = h("p", { className: "grid-words" }), start = h("figcaption");
  const root = h("div", { className: "grid" },
    h("div", { className: "grid-scroll" }, canvas),
    h("p", { className: "grid-legend" }, grid.signed(rough(scale.signed))),
    largest,
    start);
  const draw = (at: number, dark: boolean) => {
    const filters = all[at]!;
    const most = paintFilters(canvas, filters, side, { top: scale.signed, dark, pixels: SIDE, across: 8 });
    const at1 = [Math.floor(most / size), Math.floor((most % size) / side), most % side].map((n) => n + 1);
    largest.textContent = words.largestWeight(at1[0]!, at1[1]!, at1[2]!, number(filters[most]!));
    start.textContent = words.filtersWords(number(cosine(filters, all[0]!)));
    canvas.setAttribute("aria-label", `${words.filters}. ${largest.textContent}`);
  };
  return [root, draw];
}
