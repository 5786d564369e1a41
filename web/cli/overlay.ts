/** Draws a heat map over the image that the model saw. */
import type { VitConfig } from "vitrine";
import { type Colour, heat } from "../base/heat.ts";
import type { Photo } from "./photos.ts";

/** Pictures are enlarged by a whole factor until their shorter side has this many pixels. */
const LEAST_SIDE = 448;

const OUTLINE = 3;

export interface HeatMap {
  readonly values: Float32Array;
  readonly grid: readonly [rows: number, columns: number];
  /** The patch that the map belongs to. It is outlined. */
  readonly patch?: readonly [row: number, column: number] | undefined;
}

/** A way to draw a map: over a photo, which is mostly dark, or under ink on paper. */
interface Paint {
  readonly dark: boolean;
  blend(light: number, colour: number, alpha: number): number;
  readonly outline: Colour;
}

/** The photo shows through the hottest patch too. */
const MOST_ALPHA = 0.75;
const OVER: Paint = {
  dark: true,
  blend: (light, colour, alpha) => light + (colour - light) * alpha * MOST_ALPHA,
  outline: [255, 255, 255],
};
const UNDER: Paint = {
  dark: false,
  blend: (light, colour, alpha) => light * (1 - alpha + (alpha * colour) / 255),
  outline: [0, 0, 0],
};

/** @param input (C,H,W), prepared as the config's `prepare` says */
export function overlay(input: Float32Array, config: Readonly<VitConfig>, map: HeatMap): Photo {
  const [rows, columns] = config.image_size;
  const factor = Math.max(1, Math.ceil(LEAST_SIDE / Math.min(rows, columns)));
  const [height, width] = [rows * factor, columns * factor];
  const light = lightOf(input, config);
  const paint = config.prepare?.kind === "digit" ? UNDER : OVER;
  const most = map.values.reduce((a, b) => Math.max(a, b), 0) || 1;
  const colours = Array.from(map.values, (value) => heat(value / most, paint.dark));
  const cell = cells(map, height, width);
  const data = new Uint8ClampedArray(height * width * 3);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      const pixel = Math.floor(y / factor) * columns + Math.floor(x / factor);
      const { patch, outlined } = cell(y, x);
      for (let c = 0; c < 3; c++) {
        data[at + c] = outlined
          ? paint.outline[c]!
          : paint.blend(light(c, pixel), colours[patch]![c]!, colours[patch]![3]);
      }
    }
  }
  return { data: new Uint8Array(data.buffer), width, height, channels: 3 };
}

/** Undoes the last step of `prepare`: red, green or blue, 0 to 255. A digit is dark on white. */
function lightOf(
  input: Float32Array,
  { image_size: [rows, columns], channels, prepare }: Readonly<VitConfig>,
): (colour: number, pixel: number) => number {
  const size = rows * columns;
  const value = (colour: number, pixel: number): number => {
    const c = channels < 3 ? 0 : colour;
    const raw = input[c * size + pixel]!;
    if (prepare?.kind === "digit") return 1 - raw;
    return prepare?.kind === "photo" ? raw * prepare.std[c]! + prepare.mean[c]! : raw;
  };
  return (colour, pixel) => Math.min(255, Math.max(0, 255 * value(colour, pixel)));
}

/** For a pixel of the picture: its patch, and whether it is on the edge of the outlined patch. */
function cells({ grid: [rows, columns], patch }: HeatMap, height: number, width: number) {
  const [cellHeight, cellWidth] = [height / rows, width / columns];
  const edge = (at: number, size: number) => Math.min(at % size, size - 1 - (at % size)) < OUTLINE;
  return (y: number, x: number): { patch: number; outlined: boolean } => {
    const [row, column] = [Math.floor(y / cellHeight), Math.floor(x / cellWidth)];
    const inPatch = patch !== undefined && patch[0] === row && patch[1] === column;
    return {
      patch: row * columns + column,
      outlined: inPatch && (edge(y, cellHeight) || edge(x, cellWidth)),
    };
  };
}
