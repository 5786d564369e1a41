/** The chosen patch as a list of numbers; below them a filter's weights, and the products. */
import { css, tone } from "../../../colour.ts";
import type { Shape } from "../../../pixels.ts";
import type { Texts } from "../../../texts/en.ts";
import { number } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import { signedColour, signedScale } from "../../grid.ts";
import { lessMotion } from "../../../figure/motion.ts";
import { saveableTable } from "../../table.ts";

type Row = "pixel" | "weight" | "product";

export interface Listed {
  pixels: Float32Array;
  weights?: ArrayLike<number>;
  products?: Float64Array;
  /** How many products are added so far. */
  added: number;
  dark: boolean;
}

export interface Numbers {
  root: HTMLElement;
  /** Makes the columns for patches of another size. */
  fit(shape: Shape, filtered: boolean): void;
  draw(listed: Listed): void;
  /** The pixels fly from the patch in the image to their places in the list. */
  unroll(from: DOMRect, over: HTMLElement): void;
}

const FLIGHT = 550; // milliseconds

export function buildNumbers(texts: Texts["patches"]): Numbers {
  const table = h("table", { id: "patches-numbers" });
  const root = h("div", { className: "numbers", tabIndex: 0 }, saveableTable(table, texts.numbers));
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", texts.numbers);
  const cells: Record<Row, HTMLTableCellElement[]> = { pixel: [], weight: [], product: [] };
  let shape: Shape;

  return {
    root,
    fit(next, filtered) {
      shape = next;
      const places = Array.from({ length: shape.patchRows * shape.patchCols }, (_, i) =>
        texts.place(Math.floor(i / shape.patchCols) + 1, (i % shape.patchCols) + 1));
      const head = h("tr", {}, h("td"), ...places.map((place, i) =>
        h("th", { scope: "col", className: i % shape.patchCols ? "" : "line" }, place)));
      table.replaceChildren(head, ...(Object.keys(cells) as Row[]).map((name) => {
        cells[name] = places.map((_, i) =>
          h("td", { className: i % shape.patchCols ? "" : "line" }, h("i"), h("span")));
        const row = h("tr", { data: { row: name } }, h("th", { scope: "row" }, texts.rows[name]), ...cells[name]);
        row.hidden = !filtered && name !== "pixel";
        return row;
      }));
    },
    draw({ pixels, weights, products, added, dark }) {
      fill(cells.pixel, pixels, (value) => css(tone(value, dark)));
      if (!weights || !products) return;
      const top = signedScale(weights).signed;
      const colour = (value: number) => signedColour(value, top, dark);
      fill(cells.weight, weights, colour);
      fill(cells.product, products, colour);
      cells.product.forEach((cell, i) => cell.classList.toggle("to-come", i >= added));
    },
    unroll(from, over) {
      if (lessMotion()) return;
      const origin = over.getBoundingClientRect();
      const seen = root.getBoundingClientRect();
      const [width, height] = [from.width / shape.patchCols, from.height / shape.patchRows];
      cells.pixel.forEach((cell, i) => {
        const place = cell.firstElementChild as HTMLElement;
        const to = place.getBoundingClientRect();
        if (to.left > seen.right || to.right < seen.left) return; // scrolled out of the list's box
        const x = from.left + (i % shape.patchCols) * width - to.left;
        const y = from.top + Math.floor(i / shape.patchCols) * height - to.top;
        const start = `translate(${x}px, ${y}px) scale(${width / to.width}, ${height / to.height})`;
        fly(place, over, to, origin, start, i * 18);
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
function fly(place: HTMLElement, over: HTMLElement, to: DOMRect, origin: DOMRect, from: string, delay: number): void {
  const copy = h("i", { className: "flying" });
  copy.setAttribute("aria-hidden", "true");
  Object.assign(copy.style, {
    left: `${to.left - origin.left}px`,
    top: `${to.top - origin.top}px`,
    width: `${to.width}px`,
    height: `${to.height}px`,
    backgroundColor: place.style.backgroundColor,
  });
  over.append(copy);
  const timing = { duration: FLIGHT, delay, easing: "cubic-bezier(0.3, 0, 0.2, 1)", fill: "backwards" } as const;
  const flight = copy.animate([{ transform: from }, { transform: "none" }], timing);
  place.animate([{ opacity: 0 }, { opacity: 0 }], { duration: FLIGHT + delay });
  flight.finished.then(() => copy.remove(), () => copy.remove());
}
