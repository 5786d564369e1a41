/** Turns values into colours. It needs no DOM, because the page and web/cli both use it. */

export type Colour = [red: number, green: number, blue: number];

/** A colour and its opacity, 0..1. */
export type Tint = [red: number, green: number, blue: number, alpha: number];

/** As --heat-mid and --voice in the page's base.css. */
const HEAT: Record<"light" | "dark", [middle: Colour, top: Colour]> = {
  light: [[255, 185, 138], [197, 51, 26]],
  dark: [[138, 59, 22], [255, 138, 76]],
};

/**
 * The colour of a value by its part (0..1) of the scale's top, on light or dark paper. It can lie over
 * paper, ink and photos, because 0 is transparent. From half of the top on it is opaque.
 */
export function heat(part: number, dark: boolean): Tint {
  const [middle, top] = HEAT[dark ? "dark" : "light"], at = Math.min(1, Math.max(0, part));
  return [...(at < 0.5 ? middle : mix(middle, top, 2 * at - 1)), Math.min(1, 2 * at)];
}

/** Between two colours at t (0..1). */
export const mix = <C extends Colour>(a: C, b: C, t: number): C =>
  a.map((value, i) => value + (b[i]! - value) * t) as C;

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

/** The value's place in the range, 0..1; 0 where all values are equal. */
export const within = (value: number, { low, high }: Range): number =>
  high > low ? (value - low) / (high - low) : 0;
