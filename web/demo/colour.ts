import { mix, type Colour } from "./heat.ts";

export const css = ([r, g, b]: Colour): string =>
  `rgb(${Math.round(r)} ${Math.round(g)} ${Math.round(b)})`;

/** Ink t of 0..1 on the paper of the theme. */
export function tone(t: number, dark: boolean): Colour {
  return dark ? mix([19, 28, 27], [228, 238, 233], t) : mix([252, 253, 252], [22, 40, 43], t);
}

/** Writes rows × cols colours into a canvas of that very size. */
export function paint(
  canvas: HTMLCanvasElement,
  rows: number,
  cols: number,
  colourAt: (row: number, col: number) => Colour | undefined,
): void {
  if (canvas.width !== cols || canvas.height !== rows) {
    canvas.width = cols;
    canvas.height = rows;
  }
  const image = new ImageData(cols, rows);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++, i += 4) {
      const colour = colourAt(row, col);
      if (!colour) continue; // stays transparent
      image.data.set(colour, i);
      image.data[i + 3] = 255;
    }
  }
  canvas.getContext("2d")!.putImageData(image, 0, 0);
}
