/** What the chapter computes from a trace. T are the tokens, D is their width. It needs no DOM. */
import type { Trace } from "vitrine";
import { decimal, number } from "../../../texts/words.ts";
import { dot, rowOf } from "../../vectors.ts";

/** The bias of relative positions in one head (T,T): its scores less q·k/√d. */
export function biasOf(trace: Trace, layer: number, head: number): Float32Array {
  const scores = trace.scores(layer, head);
  const [q, k] = [trace.queries(layer, head), trace.keys(layer, head)];
  const T = Math.sqrt(scores.length), d = q.length / T;
  return scores.map((score, i) => {
    const [query, key] = [rowOf(q, Math.floor(i / T), d), rowOf(k, i % T, d)];
    return score - dot(query, key) / Math.sqrt(d);
  });
}

/**
 * A bias between patches as a picture (2·rows−1, 2·columns−1): the middle is the patch's bias with
 * itself, the cell one to the right its bias with the patch to its right.
 */
export function byOffset(bias: Float32Array, prefix: number, rows: number, columns: number): Float32Array {
  const T = prefix + rows * columns, across = 2 * columns - 1;
  const token = (row: number, column: number) => prefix + row * columns + column;
  return Float32Array.from({ length: (2 * rows - 1) * across }, (_, i) => {
    const down = Math.floor(i / across) - rows + 1, right = (i % across) - columns + 1;
    const [row, column] = [Math.max(0, -down), Math.max(0, -right)]; // a patch that has this neighbour
    return bias[token(row, column) * T + token(row + down, column + right)]!;
  });
}

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
