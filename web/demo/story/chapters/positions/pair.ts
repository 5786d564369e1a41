/** Two thin bars above each other, from one zero: a number before and after. */
import { h } from "../../../dom.ts";

export interface Pair {
  root: HTMLElement;
  /** The bars of numbers from -top to top, or from 0 to top. */
  set(before: number, after: number, top: number): void;
}

export function pair(signed: boolean): Pair {
  const bars = [h("i"), h("i")];
  const root = h("span", { className: signed ? "pair signed" : "pair", aria: { hidden: "true" } }, ...bars);
  const set = (before: number, after: number, top: number) => {
    [before, after].forEach((value, i) => bars[i]!.style.setProperty("--z", (top > 0 ? value / top : 0).toFixed(4)));
  };
  return { root, set };
}
