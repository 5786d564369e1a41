/** What figures share beside their canvas: SVG elements, a button that saves a picture, a button that plays. */
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

type Picture = HTMLCanvasElement | SVGSVGElement;

const figures = new WeakMap<Element, { label: string; picture: () => Picture }>();

/** Lets the visitor save a figure, from its chapter's list: a canvas as PNG, an SVG as it is. `label` names figure and file. */
export function saveable<Figure extends Element>(figure: Figure, label: string, picture: () => Picture = () => figure as Element as Picture): Figure {
  figures.set(figure, { label, picture });
  figure.setAttribute("data-figure", "");
  return figure;
}

/** A folded list of the figures that are shown in a part of the page; each is saved by a press. */
export function buildSaves(text: string, root: HTMLElement): HTMLElement {
  const list = h("ul"), saves = h("details", { className: "saves" }, h("summary", {}, text), list);
  saves.addEventListener("toggle", () => {
    const shown = [...root.querySelectorAll("[data-figure]")].filter((figure) => figure.checkVisibility());
    list.replaceChildren(...shown.map((figure) => {
      const { label, picture } = figures.get(figure)!;
      return h("li", {}, button(label, () => savePicture(picture(), label), { className: "plain small" }));
    }));
  });
  return saves;
}

function savePicture(picture: Picture, label: string): void {
  const file = label.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  if (picture instanceof HTMLCanvasElement) return void save(picture, `${file}.png`);
  download(new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" }), `${file}.svg`);
}

/** Returns what moves a slider from its least to its greatest value. A touch of the slider stops it. */
export function playing({ input, move }: Slider, milliseconds: number): () => void {
  let stop = () => {};
  for (const touch of ["pointerdown", "keydown"]) input.addEventListener(touch, () => stop());
  return () => {
    stop();
    stop = animate(milliseconds, (over) => {
      if (input.isConnected) move(Number(input.min) + over * (Number(input.max) - Number(input.min)));
    });
  };
}

/** A button that plays. Visitors who want less motion get none, because the slider does the same. */
export const player = (text: string, play: () => void): HTMLButtonElement => button(text, play, { hidden: lessMotion() });

/** The colour of the paper that is drawn on: the page itself has a gradient. */
export const paperColour = (): string => getComputedStyle(document.querySelector(".sheet")!).backgroundColor;

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "text-anchor"];

/** A copy that looks the same without the page's style sheet. The figure must be in the page. */
export function withStyles<E extends SVGElement>(figure: E): E {
  const copy = figure.cloneNode(true) as E;
  const to = [copy, ...copy.querySelectorAll("*")];
  [figure, ...figure.querySelectorAll("*")].forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const name of STYLES) to[at]!.setAttribute(name, style.getPropertyValue(name));
    to[at]!.removeAttribute("class");
  });
  return copy;
}
