/** Turns values into colours. It needs no DOM, because the page and web/cli both use it. */

export type Colour = [red: number, green: number, blue: number];

/* The command's colours. Light: vermilion, multiplied into a drawing on white paper. Dark: a glow,
 * blended over a photo. Lightness changes evenly along both. */
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

/** The colour of attention t (0..1). */
export function heat(t: number, dark: boolean): Colour {
  return along(dark ? NIGHT : DAY, t);
}

/** Between two colours at t (0..1). */
export const mix = <C extends Colour | Tint>(a: C, b: C, t: number): C =>
  a.map((value, i) => value + (b[i]! - value) * t) as C;

/** The colour at t (0..1) of a table whose colours are evenly apart. */
function along<C extends Colour | Tint>(table: readonly C[], t: number): C {
  const at = Math.min(1, Math.max(0, t)) * (table.length - 1);
  const below = Math.min(Math.floor(at), table.length - 2);
  return mix(table[below]!, table[below + 1]!, at - below);
}

/* The page's colours. They suit paper, glass and photos, because low values are transparent. */
const TINTS: Tint[] = [
  [250, 190, 70, 0],
  [250, 176, 60, 0.42],
  [244, 130, 50, 0.72],
  [226, 74, 52, 0.9],
  [196, 24, 70, 1],
];

export type Tint = [red: number, green: number, blue: number, alpha: number];

/** The tint of attention t (0..1). */
export const tint = (t: number): Tint => along(TINTS, t);

/** One scale, from 0 to `top`, for all maps that are seen together. */
export interface Scale {
  readonly top: number;
  /** A patch's value where all patches have equal values; 0 where this has no meaning. */
  readonly uniform: number;
}

/** The scale's top is at least this many times uniform attention. */
const LEAST_TOP = 4;

export function scaleOf(maps: readonly Float32Array[], uniform: number): Scale {
  const most = maps.reduce((top, map) => map.reduce((a, b) => Math.max(a, b), top), 0);
  return { top: Math.max(most, LEAST_TOP * uniform), uniform };
}

/** The value's place on the scale, 0..1. Its root is used, so that small values stay visible. */
export const place = (value: number, { top }: Scale): number =>
  top > 0 ? Math.sqrt(Math.min(1, Math.max(0, value / top))) : 0;

/** The least and the greatest value of a map. They get the ends of the colour scale. */
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

/** The value's place in the range, 0..1; 0 where all values are equal. */
export const within = (value: number, { low, high }: Range): number =>
  high > low ? (value - low) / (high - low) : 0;
