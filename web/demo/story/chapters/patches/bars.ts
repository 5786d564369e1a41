/** A token as bars, up and down from zero; with filters, each above the filter that makes it. */
import { paint } from "../../../colour.ts";
import { h } from "../../../dom.ts";
import { number } from "../../../texts/words.ts";
import type { Choices } from "../../choices.ts";
import { signedScale, signedTone } from "../../grid.ts";
import { largest } from "../../vectors.ts";
import type { Words } from "./texts/en.ts";

/** The patches' projection: D filters, each as many weights as a patch has pixels. */
export interface Filters {
  weights: Float32Array; // (D, n)
  bias: Float32Array | undefined; // (D)
  count: number; // D
  size: number; // n
}

/** Sets a bar to a number on a scale that ends at `top`. */
function setBar(bar: HTMLElement, value: number, top: number): void {
  bar.style.setProperty("--v", Math.max(-1, Math.min(1, value / top)).toFixed(4));
  bar.classList.toggle("below", value < 0);
}

export function buildTokenBars(id: string) {
  const root = h("div", { className: "token-bars", id, role: "img" });
  return {
    root,
    draw(values: Float32Array, top: number, label: string): void {
      root.replaceChildren(...Array.from(values, (value) => {
        const bar = h("i");
        setBar(bar, value, top);
        return bar;
      }));
      root.ariaLabel = label;
      root.dataset.values = Array.from(values, (value) => value.toPrecision(8)).join(" ");
    },
  };
}

export function buildFilterBars(words: Words, choices: Choices, choose: () => void) {
  const list = h("div", { className: "filter-list" }), legend = h("legend");
  let bars: { input: HTMLInputElement; bar: HTMLElement }[] = [];
  return {
    root: h("fieldset", { id: "patches-filters", className: "filters" }, legend, list),
    /** Makes one radio button a filter: its bar above its picture. */
    fit({ count, size, weights }: Filters, columns: number, dark: boolean): void {
      legend.textContent = words.filterLegend({ count });
      list.classList.toggle("few", count <= 16);
      const { signed } = signedScale(weights);
      bars = Array.from({ length: count }, (_, d) => {
        const input = h("input", { type: "radio", name: "patches-filter", value: String(d) });
        input.addEventListener("change", () => {
          choices.set("filter", d);
          choose();
        });
        return { input, bar: h("i") };
      });
      list.replaceChildren(...bars.map(({ input, bar }, d) => {
        const canvas = h("canvas", { className: "crisp" });
        paint(canvas, size / columns, columns, (row, column) => signedTone(weights[d * size + row * columns + column]!, signed, dark));
        return h("label", {}, input, bar, canvas);
      }));
    },
    /** The visitor's choice; before there is one, the filter with the largest bar. */
    chosen(token: Float32Array): number {
      const filter = Number(choices.of("filter") ?? NaN);
      return filter in token ? filter : largest(token.map(Math.abs));
    },
    draw(token: Float32Array, chosen: number, partial: number, top: number): void {
      bars.forEach(({ input, bar }, d) => {
        const value = d === chosen ? partial : token[d]!;
        setBar(bar, value, top);
        input.checked = d === chosen;
        input.ariaLabel = words.filterBar({ filter: d + 1, value: number(value) });
      });
    },
  };
}
