export type Colour = [red: number, green: number, blue: number];

/* Attention's colours. By day a wash of vermilion on white paper, by night a glow on
 * black glass: the first is multiplied into the drawing, the second screened over it,
 * so zero leaves it as it is. Lightness changes evenly along both. */
const DAY: Colour[] = [
  [255, 255, 255],
  [254, 236, 200],
  [253, 208, 146],
  [249, 170, 102],
  [239, 125, 74],
  [219, 80, 62],
  [186, 42, 66],
  [140, 17, 70],
];
const NIGHT: Colour[] = [
  [0, 0, 0],
  [30, 12, 42],
  [72, 18, 66],
  [122, 28, 76],
  [176, 46, 70],
  [222, 82, 58],
  [247, 140, 66],
  [255, 214, 128],
];

/** t in 0..1 → the colour of that much attention. */
export function heat(t: number, dark: boolean): Colour {
  const table = dark ? NIGHT : DAY;
  const at = Math.min(1, Math.max(0, t)) * (table.length - 1);
  const below = Math.min(Math.floor(at), table.length - 2);
  return mix(table[below], table[below + 1], at - below);
}

export function mix(a: Colour, b: Colour, t: number): Colour {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
}

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
