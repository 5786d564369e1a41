/** A product of a matrix's row and a list, number by number: inputs, weights, products. */
import { h } from "../dom.ts";
import { lessMotion } from "../figure/motion.ts";
import { saveable } from "../figure/parts.ts";
import { number } from "../texts/words.ts";
import { signedColour, signedScale } from "./grid.ts";

const ROWS = ["input", "weight", "product"] as const;
type Row = (typeof ROWS)[number];

export interface Listed {
  inputs: ArrayLike<number>;
  colour(input: number): string;
  weights?: ArrayLike<number>;
  products?: ArrayLike<number>;
  /** How many products are added so far; all without it. */
  added?: number;
  dark: boolean;
}

const FLIGHT = 550; // milliseconds

/** Each input times its weight. */
export const productsOf = (inputs: ArrayLike<number>, weights: ArrayLike<number>): Float64Array =>
  Float64Array.from(inputs, (input, i) => input * weights[i]!);

/** The sum of the first `count` numbers. */
export function sumOf(numbers: ArrayLike<number>, count = numbers.length): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += numbers[i]!;
  return sum;
}

export function buildProduct(label: string, names: Readonly<Record<Row, string>>) {
  const table = h("table");
  const root = h("div", { className: "numbers", tabIndex: 0 }, saveable(table, label));
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", label);
  const cells: Record<Row, HTMLTableCellElement[]> = { input: [], weight: [], product: [] };

  return {
    root,
    /** Makes a column for each place. A gap comes before each group of `grouped` places. */
    fit(places: readonly string[], grouped: number, weighted = true) {
      const className = (i: number) => (i % grouped ? "" : "first-of-group");
      const head = h("tr", {}, h("td"), ...places.map((place, i) => h("th", { scope: "col", className: className(i) }, place)));
      table.replaceChildren(head, ...ROWS.map((name) => {
        cells[name] = places.map((_, i) => h("td", { className: className(i) }, h("i"), h("span")));
        const row = h("tr", { data: { row: name } }, h("th", { scope: "row" }, names[name]), ...cells[name]);
        row.hidden = !weighted && name !== "input";
        return row;
      }));
    },
    draw({ inputs, colour, weights, products, added = inputs.length, dark }: Listed) {
      fill(cells.input, inputs, colour);
      if (!weights || !products) return;
      const top = signedScale(weights).signed;
      const signed = (value: number) => signedColour(value, top, dark);
      fill(cells.weight, weights, signed);
      fill(cells.product, products, signed);
      cells.product.forEach((cell, i) => cell.classList.toggle("to-come", i >= added));
    },
    /** The inputs fly to their places from a picture of so many columns on the screen. */
    unroll(from: DOMRect, columns: number, ground: HTMLElement) {
      if (lessMotion()) return;
      const origin = ground.getBoundingClientRect(), seen = root.getBoundingClientRect();
      const [width, height] = [from.width / columns, from.height / (cells.input.length / columns)];
      cells.input.forEach((cell, i) => {
        const place = cell.firstElementChild as HTMLElement, to = place.getBoundingClientRect();
        if (to.left > seen.right || to.right < seen.left) return; // scrolled out of the list's box
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
  const copy = h("i", { className: "flying" });
  copy.setAttribute("aria-hidden", "true");
  Object.assign(copy.style, {
    left: `${to.left - origin.left}px`,
    top: `${to.top - origin.top}px`,
    width: `${to.width}px`,
    height: `${to.height}px`,
    backgroundColor: place.style.backgroundColor,
  });
  ground.append(copy);
  const timing = { duration: FLIGHT, delay, easing: "cubic-bezier(0.3, 0, 0.2, 1)", fill: "backwards" } as const;
  const flight = copy.animate([{ transform: from }, { transform: "none" }], timing);
  place.animate([{ opacity: 0 }, { opacity: 0 }], { duration: FLIGHT + delay });
  flight.finished.then(() => copy.remove(), () => copy.remove());
}
