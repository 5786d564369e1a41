/** A table of the story as a picture: its words, bars and sliders as SVG, as the page shows them now. */
import { en } from "../texts/en.ts";
import { inLanguage } from "../texts/words.ts";
import { h } from "./dom.ts";
import { saver, svg } from "./figure.ts";

/** A button below a table that saves it. `label` names it. */
export const tableSaver = (label: string, table: HTMLTableElement): HTMLElement =>
  h("div", { className: "figure-tools" }, saver(inLanguage(en).grid.svg, label, () => pictureOf(table)));

function pictureOf(table: HTMLTableElement): SVGSVGElement {
  const { x, y, width, height } = table.getBoundingClientRect();
  const place = (box: DOMRect) => ({ x: box.x - x, y: box.y - y, width: box.width, height: box.height });
  const picture = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    svg("rect", { width, height, fill: getComputedStyle(table).getPropertyValue("--wall") }));
  for (const element of [table, ...table.querySelectorAll<HTMLElement>("*")]) {
    const style = getComputedStyle(element);
    const box = place(element.getBoundingClientRect());
    if (!box.width || !box.height || style.visibility !== "visible") continue;
    if (element instanceof HTMLInputElement) picture.append(...column(box, element, getComputedStyle(table).color));
    else if (!isClear(style.backgroundColor)) picture.append(svg("rect", { ...box, fill: style.backgroundColor }));
    picture.append(...edges(box, style));
    for (const node of element.childNodes) if (node instanceof Text) picture.append(...lines(node, style, place));
  }
  return picture;
}

type Box = { x: number; y: number; width: number; height: number };

const isClear = (colour: string) => colour === "transparent" || /^rgba\(.*, 0\)$/.test(colour);

/** An upright slider: its track, filled up to its value. */
function column({ x, y, width, height }: Box, input: HTMLInputElement, colour: string): SVGElement[] {
  const [least, most] = [Number(input.min), Number(input.max)];
  const full = (height * (input.valueAsNumber - least)) / (most - least);
  const track = { x: x + width / 2 - 3, width: 6 };
  return [svg("rect", { ...track, y, height, fill: "none", stroke: colour }),
    svg("rect", { ...track, y: y + height - full, height: full, fill: colour })];
}

/** The borders above and below a cell. */
function edges({ x, y, width, height }: Box, style: CSSStyleDeclaration): SVGElement[] {
  const at = { Top: y, Bottom: y + height };
  return (["Top", "Bottom"] as const)
    .filter((side) => style[`border${side}Style`] !== "none" && parseFloat(style[`border${side}Width`]) > 0)
    .map((side) => svg("line", { x1: x, x2: x + width, y1: at[side], y2: at[side], stroke: style[`border${side}Color`] }));
}

/** A text as the lines that it is broken into. */
function lines(text: Text, style: CSSStyleDeclaration, place: (box: DOMRect) => Box): SVGElement[] {
  const made: { box: Box; words: string[] }[] = [];
  const range = document.createRange();
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const box = place(range.getBoundingClientRect());
    const last = made.at(-1);
    if (last && Math.abs(last.box.y - box.y) < box.height / 2) last.words.push(word);
    else made.push({ box, words: [word] });
  }
  return made.filter(({ box }) => box.width > 0).map(({ box, words }) =>
    svg("text", {
      x: box.x, y: box.y + box.height / 2, "dominant-baseline": "central", fill: style.color,
      "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight, "font-style": style.fontStyle,
    }, words.join(" ")));
}
