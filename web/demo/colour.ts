import { heat, mix, place, type Colour, type Scale, type Tint } from "../base/heat.ts";

export const css = ([r, g, b]: Colour): string =>
  `rgb(${Math.round(r)} ${Math.round(g)} ${Math.round(b)})`;

export const cssTint = ([r, g, b, a]: Tint): string =>
  `rgb(${Math.round(r)} ${Math.round(g)} ${Math.round(b)} / ${a.toFixed(3)})`;

/** The colour of heat, from 0 to 1. */
export const cssHeat = (part: number, dark: boolean): string => cssTint(heat(part, dark));

/** Paints the colours from 0 to the scale's top, and a tick at uniform attention. */
export function paintScale(canvas: HTMLCanvasElement, scale: Scale | undefined, dark: boolean): void {
  const context = canvas.getContext("2d")!;
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  for (let x = 0; x < width; x++) {
    context.fillStyle = cssHeat(x / (width - 1), dark);
    context.fillRect(x, 0, 1, height);
  }
  if (!scale?.uniform) return;
  context.fillStyle = getComputedStyle(canvas).color;
  context.fillRect(Math.round(place(scale.uniform, scale) * (width - 2)), 0, 2, height);
}

/** The colour of ink of strength t (0..1) on the theme's paper. */
export const tone = (t: number, dark: boolean): Colour =>
  dark ? mix([23, 26, 29], [243, 239, 231], t) : mix([255, 254, 251], [23, 33, 43], t);

/** The colour that marks the chosen patch in all figures. Attention never has this colour. */
export const accent = (dark: boolean): Colour => (dark ? [127, 208, 203] : [13, 90, 95]);

/** Paints an image (rows, cols), whose values are ink from 0 to 1. */
export const paintInk = (canvas: HTMLCanvasElement, image: ArrayLike<number>, rows: number, cols: number, dark: boolean): void =>
  paint(canvas, rows, cols, (row, col) => tone(image[row * cols + col] ?? 0, dark));

/** Paints rows × cols colours, one canvas pixel each. */
export function paint(
  canvas: HTMLCanvasElement,
  rows: number,
  cols: number,
  colourAt: (row: number, col: number) => Colour | Tint | undefined,
): void {
  if (canvas.width !== cols || canvas.height !== rows) {
    canvas.width = cols;
    canvas.height = rows;
  }
  const image = new ImageData(cols, rows);
  const { data } = image;
  for (let row = 0, i = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++, i += 4) {
      const colour = colourAt(row, col);
      if (!colour) continue; // the pixel stays transparent
      data[i] = colour[0];
      data[i + 1] = colour[1];
      data[i + 2] = colour[2];
      data[i + 3] = 255 * (colour[3] ?? 1);
    }
  }
  canvas.getContext("2d")!.putImageData(image, 0, 0);
}
