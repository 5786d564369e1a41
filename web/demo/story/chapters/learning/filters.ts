/** The filters that cut a patch into a token's numbers, as small pictures in one canvas. */
import { readSafetensors } from "../../../../base/safetensors.mjs";
import { css, tone } from "../../../colour.ts";
import { h } from "../../../dom.ts";
import { sized } from "../../../figure/canvas.ts";
import { saveable } from "../../../figure/parts.ts";
import { rough } from "../../../texts/words.ts";
import { signedColour } from "../../grid.ts";
import type { Words } from "../../texts/en.ts";

const GAP = 7; // CSS pixels
/** Filters that fit beside each other on a phone, small or large. All patch sizes divide their pixels. */
const SMALL = { pixels: 28, across: 8 }, LARGE = { pixels: 56, across: 4 };
/** More filters are drawn small. */
const FEW = 16;

export interface Filters {
  side: number;
  weights: Float32Array; // (D, side, side)
}

export function filtersOf(file: Uint8Array): Filters {
  const { shape, data } = readSafetensors(file).tensors.get("patch_embed.proj.weight")!;
  return { side: shape.at(-1)!, weights: Float32Array.from(data) };
}

/** Returns the figure and what draws filters in it, on a scale that ends at ±top. */
export function buildFilters(label: string, { grid }: Words): [HTMLElement, (filters: Filters, top: number, dark: boolean) => void] {
  const canvas = saveable(h("canvas", { className: "filters" }), label), legend = h("p", { className: "grid-legend" });
  const root = h("div", { className: "grid" }, h("div", { className: "grid-scroll" }, canvas), legend);
  return [root, ({ side, weights }, top, dark) => {
    const size = side * side, count = weights.length / size, { pixels, across } = count > FEW ? SMALL : LARGE;
    const cell = pixels / side, step = pixels + GAP;
    const [width, height] = [Math.min(count, across) * step - GAP, Math.ceil(count / across) * step - GAP];
    const context = sized(canvas, width, height);
    context.fillStyle = css(tone(0.12, dark));
    context.fillRect(0, 0, width, height);
    weights.forEach((value, i) => {
      const filter = Math.floor(i / size), row = Math.floor((i % size) / side), column = i % side;
      context.fillStyle = signedColour(value, top, dark);
      context.fillRect((filter % across) * step + column * cell, Math.floor(filter / across) * step + row * cell, cell, cell);
    });
    legend.textContent = grid.signed({ top: rough(top) });
  }];
}
