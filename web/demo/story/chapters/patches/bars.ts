/** A token as bars, up and down from zero; with filters, each above the filter that makes it. */
import { number } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import type { Choices } from "../../choices.ts";
import { signedColour, signedScale } from "../../grid.ts";
import { largest } from "../../vectors.ts";
import type { Filters } from "./embed.ts";
import type { Words } from "./texts/en.ts";

/** Sets a bar to a number on a scale that ends at `top`. */
function setBar(bar: HTMLElement, value: number, top: number): void {
  bar.style.setProperty("--v", Math.max(-1, Math.min(1, value / top)).toFixed(4));
  bar.classList.toggle("below", value < 0);
}

export class TokenBars {
  readonly root = h("div", { className: "token-bars" });

  constructor(id: string) {
    this.root.id = id;
    this.root.setAttribute("role", "img");
  }

  draw(values: ArrayLike<number>, top: number, label: string): void {
    while (this.root.childElementCount < values.length) this.root.append(h("i"));
    while (this.root.childElementCount > values.length) this.root.lastElementChild!.remove();
    [...this.root.children].forEach((bar, d) => setBar(bar as HTMLElement, values[d]!, top));
    this.root.setAttribute("aria-label", label);
    this.root.dataset.values = Array.from(values, (value) => value.toPrecision(8)).join(" ");
  }
}

export class FilterBars {
  readonly root: HTMLFieldSetElement;
  chosen = 0;
  readonly #texts: Words;
  readonly #choices: Choices;
  readonly #choose: () => void;
  readonly #list = h("div", { className: "filter-list" });
  readonly #legend = h("legend");

  constructor(words: Words, choices: Choices, choose: () => void) {
    this.#texts = words;
    this.#choices = choices;
    this.#choose = choose;
    this.root = h("fieldset", { id: "patches-filters", className: "filters" },
      this.#legend, this.#list);
  }

  /** Makes one radio button a filter: its bar above its picture. */
  fit(filters: Filters, columns: number, dark: boolean): void {
    this.#legend.textContent = this.#texts.filterLegend({ count: filters.count });
    this.#list.classList.toggle("few", filters.count <= 16);
    const { signed } = signedScale(filters.weights);
    this.#list.replaceChildren(...Array.from({ length: filters.count }, (_, d) => {
      const input = h("input", { type: "radio", name: "patches-filter", value: String(d) });
      input.addEventListener("change", () => {
        this.#choices.set("filter", d);
        this.#choose();
      });
      const canvas = h("canvas", { className: "crisp" });
      paintFilter(canvas, filters, d, columns, signed, dark);
      return h("label", {}, input, h("i"), canvas);
    }));
  }

  /** Takes the visitor's choice; before there is one, the filter with the largest bar. */
  follow(token: Float32Array): void {
    const wanted = Number(this.#choices.of("filter") ?? NaN);
    this.chosen = wanted in token ? wanted : largest(token.map(Math.abs));
  }

  draw(token: Float32Array, top: number, partial: number): void {
    [...this.#list.children].forEach((label, d) => {
      const [input, bar] = label.children as unknown as [HTMLInputElement, HTMLElement];
      const value = d === this.chosen ? partial : token[d]!;
      setBar(bar, value, top);
      input.checked = d === this.chosen;
      input.setAttribute("aria-label", this.#texts.filterBar({ filter: d + 1, value: number(value) }));
    });
  }
}

/** Paints a filter's weights where their pixels lie. */
function paintFilter(
  canvas: HTMLCanvasElement,
  { weights, size }: Filters,
  d: number,
  columns: number,
  top: number,
  dark: boolean,
): void {
  const rows = size / columns;
  Object.assign(canvas, { width: columns, height: rows });
  const context = canvas.getContext("2d")!;
  for (let i = 0; i < size; i++) {
    context.fillStyle = signedColour(weights[d * size + i]!, top, dark);
    context.fillRect(i % columns, Math.floor(i / columns), 1, 1);
  }
}
