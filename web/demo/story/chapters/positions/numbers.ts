/** Orders of patches, and how far logits are apart. It needs no page. */
import { decimal, number } from "../../../texts/words.ts";

/** Without positions only rounding changes the logits. Larger changes than this are real. */
export const ROUNDING = 1e-4;

export function largestChange(a: Float32Array, b: Float32Array): number {
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

export const isInOrder = (order: readonly number[]): boolean => order.every((patch, place) => patch === place);

/**
 * An attention matrix (T,T) of scrambled patches with its rows and columns put back: token i of the image has
 * row and column i again.
 */
export function putBack(matrix: Float32Array, order: readonly number[], prefix: number): Float32Array {
  const T = prefix + order.length, back = new Float32Array(T * T);
  const tokenAt = (place: number) => (place < prefix ? place : prefix + order[place - prefix]!);
  matrix.forEach((value, i) => (back[tokenAt(Math.floor(i / T)) * T + tokenAt(i % T)] = value));
  return back;
}

/** 0.00000048 → "4.8 × 10⁻⁷"; 3.14159 → "3.14" */
export function briefly(value: number): string {
  if (value === 0 || value >= 0.01) return number(value);
  const [digits, power] = value.toExponential(1).split("e");
  return `${decimal(Number(digits), 1)}\u00a0×\u00a010${[...power!].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("")}`;
}
