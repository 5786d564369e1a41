/** A product of a matrix's row and a list, number by number: inputs, weights, products. */
import { h, write } from "../dom.ts";
import { lessMotion } from "../figure/motion.ts";
import { saveable, tableRow } from "../figure/parts.ts";
import { number } from "../texts/words.ts";
import { signedColour, signedScale } from "./grid.ts";

const ROWS = ["input", "weight", "product"] as const;
type Row = (typeof ROWS)[number];

interface Listed {
  inputs: ArrayLike<number>;
  colour(input: number): string;
  dark: boolean;
}

interface Weighted extends Listed {
  weights: ArrayLike<number>;
  bias: number;
  model: number; // the sum that the model computed
  added?: number; // how many products are added so far; all without it
}

interface ProductWords {
  numbers: string;
  rows: Readonly<Record<Row, string>>;
  sum(values: Record<"added" | "all" | "sum" | "bias" | "value", string | number>): string;
  model(values: { value: string }): string;
}

const FLIGHT = 550; // milliseconds

export const productsOf = (inputs: ArrayLike<number>, weights: ArrayLike<number>): Float64Array =>
  Float64Array.from(inputs, (input, i) => input * weights[i]!);

/** `id` begins the ids of the table and of the sum. */
export function buildProduct(id: string, words: ProductWords) {
  const table = saveable(h("table", { id: `${id}-numbers` }), words.numbers);
  const root = h("div", { className: "numbers", tabIndex: 0, role: "group", ariaLabel: words.numbers }, table);
  const byHand = h("output", { id: `${id}-sum`, ariaLive: "off" }), theirs = h("span", { className: "theirs" });
  let cells: Record<Row, HTMLTableCellElement[]> = { input: [], weight: [], product: [] };

  return {
    root,
    output: byHand,
    sum: h("p", {}, byHand, " ", theirs),
    /** Makes a column for each place. A gap comes before each group of `groupSize` places. */
    fit(places: readonly string[], groupSize: number, weighted = true): void {
      const className = (i: number) => (i % groupSize ? "" : "first-of-group");
      const made = () => places.map((_, i) => h("td", { className: className(i) }, h("i"), h("span")));
      cells = { input: made(), weight: made(), product: made() };
      table.replaceChildren(
        h("tr", {}, h("td"), ...places.map((place, i) => h("th", { scope: "col", className: className(i) }, place))),
        ...ROWS.map((name) => {
          const row = tableRow(words.rows[name], cells[name], { row: name });
          row.hidden = !weighted && name !== "input";
          return row;
        }));
    },
    draw: ({ inputs, colour }: Listed) => fill(cells.input, inputs, colour),
    /** Draws the products and their sum. Returns that sum with the bias. */
    multiply({ inputs, colour, weights, bias, model, added = inputs.length, dark }: Weighted): number {
      const top = signedScale(weights).signed, products = productsOf(inputs, weights);
      const signed = (value: number) => signedColour(value, top, dark);
      fill(cells.input, inputs, colour);
      fill(cells.weight, weights, signed);
      fill(cells.product, products, signed);
      cells.product.forEach((cell, i) => cell.classList.toggle("to-come", i >= added));
      const sum = products.subarray(0, added).reduce((all, product) => all + product, 0), value = sum + bias;
      write(byHand, words.sum({ added, all: inputs.length, sum: number(sum, 4), bias: number(bias, 4), value: number(value, 4) }));
      write(theirs, words.model({ value: number(model, 4) }));
      Object.assign(byHand.dataset, { sum: value, model });
      return value;
    },
    /** The inputs fly to their places from a picture of so many columns on the screen. */
    unroll(from: DOMRect, columns: number, ground: HTMLElement) {
      if (lessMotion()) return;
      const origin = ground.getBoundingClientRect(), box = root.getBoundingClientRect();
      const [width, height] = [from.width / columns, from.height / (cells.input.length / columns)];
      cells.input.forEach((cell, i) => {
        const place = cell.firstElementChild as HTMLElement, to = place.getBoundingClientRect();
        if (to.left > box.right || to.right < box.left) return; // scrolled out of the list's box
        const x = from.left + (i % columns) * width - to.left;
        const y = from.top + Math.floor(i / columns) * height - to.top;
        const start = `translate(${x}px, ${y}px) scale(${width / to.width}, ${height / to.height})`;
        fly(place, ground, to, origin, start, i * 18);
      });
    },
  };
}

function fill(cells: HTMLTableCellElement[], values: ArrayLike<number>, colour: (value: number) => string): void {
  cells.forEach((cell, i) => {
    const [block, text] = cell.children as unknown as [HTMLElement, HTMLElement];
    block.style.backgroundColor = colour(values[i]!);
    text.textContent = number(values[i]!);
  });
}

/** Flies a copy, because the list's box would cut off what leaves it. */
function fly(place: HTMLElement, ground: HTMLElement, to: DOMRect, origin: DOMRect, from: string, delay: number): void {
  const copy = h("i", { className: "flying", ariaHidden: "true" });
  Object.assign(copy.style, {
    left: `${to.left - origin.left}px`, top: `${to.top - origin.top}px`, width: `${to.width}px`, height: `${to.height}px`,
    backgroundColor: place.style.backgroundColor,
  });
  ground.append(copy);
  const timing = { duration: FLIGHT, delay, easing: "cubic-bezier(0.3, 0, 0.2, 1)", fill: "backwards" } as const;
  const flight = copy.animate([{ transform: from }, { transform: "none" }], timing);
  place.animate([{ opacity: 0 }, { opacity: 0 }], { duration: FLIGHT + delay });
  flight.finished.then(() => copy.remove(), () => copy.remove());
}
