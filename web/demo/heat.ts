/** Values → colours, without a DOM: the page draws its maps with it, and so does web/cli. */

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
  return mix(table[below]!, table[below + 1]!, at - below);
}

export function mix(a: Colour, b: Colour, t: number): Colour {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
}

/* The page's: the same on white paper, black glass and photos, since what is little shows the ground. */
const TINTS: Tint[] = [
  [250, 190, 70, 0],
  [250, 176, 60, 0.42],
  [244, 130, 50, 0.72],
  [226, 74, 52, 0.9],
  [196, 24, 70, 1],
];

export type Tint = [red: number, green: number, blue: number, alpha: number];

/** t in 0..1 → the tint of that much attention. */
export function tint(t: number): Tint {
  const at = Math.min(1, Math.max(0, t)) * (TINTS.length - 1);
  const below = Math.min(Math.floor(at), TINTS.length - 2);
  const [a, b] = [TINTS[below]!, TINTS[below + 1]!];
  return a.map((value, i) => value + (b[i]! - value) * (at - below)) as Tint;
}

/** One scale for all maps that are seen together: from 0 to `top`. */
export interface Scale {
  readonly top: number;
  /** What each patch gets where all get the same; 0 where that means nothing. */
  readonly uniform: number;
}

/** Uniform attention is never the strongest tint. */
const LEAST_TOP = 4;

export function scaleOf(maps: readonly Float32Array[], uniform: number): Scale {
  const most = maps.reduce((top, map) => map.reduce((a, b) => Math.max(a, b), top), 0);
  return { top: Math.max(most, LEAST_TOP * uniform), uniform };
}

/** value → 0..1: by its root, so that the faint is seen beside the strong. */
export const place = (value: number, { top }: Scale): number =>
  top > 0 ? Math.sqrt(Math.min(1, Math.max(0, value / top))) : 0;

/** The least and the greatest of a map, which get the ends of the colour scale. */
export interface Range {
  low: number;
  high: number;
}

export function rangeOf(values: Float32Array): Range {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return { low, high };
}

/** value → 0..1 within the range; 0 where all are alike. */
export const within = (value: number, { low, high }: Range): number =>
  high > low ? (value - low) / (high - low) : 0;
