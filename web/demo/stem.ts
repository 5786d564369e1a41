/** What convolutions of 3×3 see, and what those of a stem do. A stem's convolutions have padding 1 and their own strides. */
import type { VitConfig } from "vitrine";
import { accent, css, paintInk } from "./colour.ts";
import { shapeOf } from "./pixels.ts";
import type { State } from "./state.ts";

/** From the first to the last place along one side, counted from 0. Beyond the image is only padding. */
type Span = readonly [first: number, last: number];

export const stridesOf = ({ stem }: Pick<VitConfig, "stem">): number[] =>
  stem.map((layer) => (typeof layer === "number" ? 2 : layer[1]));

/** How many pixels a place is wide after convolutions of these strides. */
const unitOf = (strides: readonly number[]): number => strides.reduce((product, stride) => product * stride, 1);

export const lengthOf = ([first, last]: Span): number => last - first + 1;

/** The pixels that some places of a map depend on through the convolutions before it, which have these strides. */
export const receptiveField = (places: Span, strides: readonly number[]): Span =>
  strides.reduceRight<Span>(([first, last], stride) => [first * stride - 1, last * stride + 1], places);

/**
 * Along one side, what the patch at `index` reaches in each map, in pixels: first in the image, last
 * in the last convolution's maps.
 */
function reachOf(config: Readonly<VitConfig>, patchSize: number, index: number): Span[] {
  const strides = stridesOf(config);
  const whole = unitOf(strides);
  const places: Span = [(index * patchSize) / whole, ((index + 1) * patchSize) / whole - 1];
  return [0, ...strides].map((_, map) => {
    const [first, last] = receptiveField(places, strides.slice(map)), unit = unitOf(strides.slice(0, map));
    return [first * unit, (last + 1) * unit - 1];
  });
}

/** How many pixels a patch sees through the stem: "29 × 29". */
export function fieldOf(config: Readonly<VitConfig>): string {
  const sides = config.patch_size.map((size) => reachOf(config, size, 0)[0]);
  return sides.map(lengthOf).join("\u00a0×\u00a0");
}

/** The sizes of the last convolution's maps: "7 × 7 × 64". */
export function mapsOf(config: Readonly<VitConfig>): string {
  const unit = unitOf(stridesOf(config)), last = config.stem.at(-1)!;
  return [...config.image_size.map((side) => side / unit), typeof last === "number" ? last : last[0]].join("\u00a0×\u00a0");
}

const ZOOM = 8; // canvas pixels for a pixel of the image, so that lines are thinner than pixels
const image = document.createElement("canvas"); // the model's image, a canvas pixel for each of its pixels

/** Draws the image and, around the chosen patch, what it reaches in each map of the stem. */
export function drawStem(canvas: HTMLCanvasElement, state: State): void {
  const config = state.model?.config;
  if (!config?.stem.length) return;
  const { rows, cols, patchRows, patchCols } = shapeOf(config);
  paintInk(image, state.reading?.result.input ?? [], rows, cols, state.dark);
  canvas.width = cols * ZOOM;
  canvas.height = rows * ZOOM;
  const context = canvas.getContext("2d")!;
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const [row, col] = state.view.patch;
  const down = reachOf(config, patchRows, row), across = reachOf(config, patchCols, col);
  context.strokeStyle = css(accent(state.dark));
  context.lineWidth = ZOOM / 3;
  down.forEach((vertical, at) => {
    const [top, bottom] = within(vertical, rows), [left, right] = within(across[at], cols);
    context.globalAlpha = at === 0 ? 1 : 0.6;
    context.strokeRect(left, top, right - left, bottom - top);
  });
  context.globalAlpha = 1;
}

/** A span's edges on the canvas, inside the image. */
function within([first, last]: Span, size: number): [number, number] {
  const line = ZOOM / 6;
  return [Math.max(0, first) * ZOOM + line, Math.min(size, last + 1) * ZOOM - line];
}
