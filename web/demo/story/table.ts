/** A table of the story as a picture: its words, bars and sliders as SVG, as the page shows them now. */
import { h } from "../dom.ts";
import { paperColour, saveable, svg } from "../figure/parts.ts";

/** Lets the visitor save a table under a name. */
export const saveableTable = (table: HTMLTableElement, label: string): HTMLTableElement =>
  saveable(table, label, () => pictureOf(table));

function pictureOf(table: HTMLTableElement): SVGSVGElement {
  const { x, y, width, height } = table.getBoundingClientRect();
  const place = (box: DOMRect) => ({ x: box.x - x, y: box.y - y, width: box.width, height: box.height });
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` },
    svg("rect", { width, height, ...paint("fill", paperColour()) }), ...drawn(table, place));
}

type Box = { x: number; y: number; width: number; height: number };
type ToBox = (box: DOMRect) => Box;

/** An element, and in it its words and its elements. */
function drawn(element: Element, place: ToBox): SVGElement[] {
  const style = getComputedStyle(element), box = place(element.getBoundingClientRect());
  if (!box.width || !box.height || style.visibility !== "visible") return [];
  const own = element instanceof HTMLInputElement
    ? column(box, element)
    : [...ground(box, style), ...edges(box, style)];
  const within = [...element.childNodes].flatMap((node) =>
    node instanceof Text ? lines(node, style, place) : node instanceof Element ? drawn(node, place) : []);
  return style.opacity === "1" ? [...own, ...within] : [svg("g", { opacity: style.opacity }, ...own, ...within)];
}

function ground(box: Box, { backgroundColor }: CSSStyleDeclaration): SVGElement[] {
  const painted = paint("fill", backgroundColor);
  return painted["fill-opacity"] ? [svg("rect", { ...box, ...painted })] : [];
}

/** An upright slider: its track, filled up to its value. */
function column({ x, y, width, height }: Box, input: HTMLInputElement): SVGElement[] {
  const colour = getComputedStyle(input.closest("table")!).color;
  const [least, most] = [Number(input.min), Number(input.max)];
  const full = (height * (input.valueAsNumber - least)) / (most - least);
  const track = { x: x + width / 2 - 3, width: 6 };
  return [svg("rect", { ...track, y, height, fill: "none", ...paint("stroke", colour) }),
    svg("rect", { ...track, y: y + height - full, height: full, ...paint("fill", colour) })];
}

/** The borders, which meet those of the neighbours in the middle. */
function edges({ x, y, width, height }: Box, style: CSSStyleDeclaration): SVGElement[] {
  const [right, bottom] = [x + width, y + height];
  const sides = { Top: [x, y, right, y], Right: [right, y, right, bottom], Bottom: [x, bottom, right, bottom], Left: [x, y, x, bottom] };
  return (Object.keys(sides) as (keyof typeof sides)[]).filter((side) => parseFloat(style[`border${side}Width`]) > 0).map((side) => {
    const [x1, y1, x2, y2] = sides[side] as [number, number, number, number];
    return svg("line", { x1, y1, x2, y2, ...paint("stroke", style[`border${side}Color`]) });
  });
}

/** A text as the lines that it is broken into. */
function lines(text: Text, style: CSSStyleDeclaration, place: ToBox): SVGElement[] {
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
      x: box.x, y: box.y + box.height / 2, "dominant-baseline": "central", ...paint("fill", style.color),
      "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight, "font-style": style.fontStyle,
    }, words.join(" ")));
}

const pixel = h("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true })!;

/** A colour as programs other than browsers read it, too: they know neither color() nor rgb() with a slash. */
function paint(what: "fill" | "stroke", colour: string): Record<string, string | number> {
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = colour;
  pixel.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
  return { [what]: `rgb(${r}, ${g}, ${b})`, [`${what}-opacity`]: a! / 255 };
}
