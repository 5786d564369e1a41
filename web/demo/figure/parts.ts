/** What figures share: SVG elements, a list that saves them, a button that plays. */
import { button, h, type Slider } from "../dom.ts";
import { animate, lessMotion } from "./motion.ts";
import { download, save } from "../save.ts";

type Attributes = Record<string, string | number>;

/** svg("path", { d: "M0 0" }) is that element. The attributes are presentation, not style. */
export function svg<T extends keyof SVGElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[T] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, attributes);
  element.append(...children);
  return element;
}

export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

type Figure = HTMLCanvasElement | SVGSVGElement | HTMLTableElement;

/** Names a figure for screen readers, and lets the visitor save it from its chapter's list, in a file of that name. */
export function saveable<Type extends Figure>(figure: Type, label: string): Type {
  figure.dataset.figure = label;
  figure.ariaLabel ??= label;
  if (!(figure instanceof HTMLTableElement)) figure.role ??= "img";
  return figure;
}

export const figure = (title: string, ...inside: Node[]): HTMLElement => h("figure", {}, h("h3", {}, title), ...inside);

type Cell = HTMLTableCellElement | string;
const cellOf = (cell: Cell) => (typeof cell === "string" ? h("td", {}, cell) : cell);

/** A row of a table, which begins with its name. */
export const tableRow = (name: string, cells: readonly Cell[], data: Record<string, string> = {}): HTMLTableRowElement =>
  h("tr", { data }, h("th", { scope: "row" }, name), ...cells.map(cellOf));

/** A table that can be saved. A column without a heading has an empty cell. */
export const buildTable = (label: string, headings: readonly string[], rows: readonly HTMLTableRowElement[], className = ""): HTMLTableElement =>
  saveable(h("table", { className },
    h("thead", {}, h("tr", {}, ...headings.map((text) => (text ? h("th", { scope: "col" }, text) : h("td"))))), h("tbody", {}, ...rows)), label);

/** A folded list of the figures that are shown in a part of the page; each is saved by a press. */
export function buildSaves(text: string, root: HTMLElement): HTMLElement {
  const list = h("ul"), saves = h("details", { className: "saves" }, h("summary", {}, text), list);
  saves.addEventListener("toggle", () => {
    const figures = [...root.querySelectorAll<Figure>("[data-figure]")].filter((figure) => figure.checkVisibility());
    list.replaceChildren(...figures.map((figure) =>
      h("li", {}, button(figure.dataset.figure!, () => saveFigure(figure), { className: "plain small" }))));
  });
  return saves;
}

/** A canvas as PNG, an SVG as the page shows it, a table as its numbers. */
function saveFigure(figure: Figure): void {
  const file = figure.dataset.figure!.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  if (figure instanceof HTMLCanvasElement) return void save(figure, `${file}.png`);
  const [text, type, ending] = figure instanceof HTMLTableElement ? [csvOf(figure), "text/csv", "csv"]
    : [new XMLSerializer().serializeToString(withStyles(figure)), "image/svg+xml", "svg"];
  download(new Blob([text], { type }), `${file}.${ending}`);
}

/** The visible rows, as RFC 4180 has them. Programs read a minus that is a hyphen. */
const csvOf = (table: HTMLTableElement): string =>
  [...table.rows].filter((row) => row.checkVisibility())
    .map(({ cells }) => [...cells].map(({ textContent }) => `"${textContent!.trim().replaceAll("−", "-").replaceAll('"', '""')}"`).join()).join("\r\n");

/**
 * A button that moves a slider from its least to its greatest value. A touch of the slider stops it. Visitors who want
 * less motion get no such button, because the slider does the same.
 */
export function player(text: string, { input, move }: Slider, milliseconds: number): HTMLButtonElement {
  let stop = () => {};
  for (const touch of ["pointerdown", "keydown"]) input.addEventListener(touch, () => stop());
  return button(text, () => {
    stop();
    stop = animate(milliseconds, (over) => {
      if (input.isConnected) move(Number(input.min) + over * (Number(input.max) - Number(input.min)));
    });
  }, { hidden: lessMotion() });
}

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "paint-order", "font-family", "font-size", "text-anchor"];

/** A copy that looks the same without the page's style sheet. */
function withStyles(figure: SVGSVGElement): SVGSVGElement {
  const copy = figure.cloneNode(true) as SVGSVGElement;
  const to = [copy, ...copy.querySelectorAll("*")];
  [figure, ...figure.querySelectorAll("*")].forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const name of STYLES) to[at]!.setAttribute(name, style.getPropertyValue(name));
    to[at]!.removeAttribute("class");
  });
  return copy;
}
