/** The strip: the classes' probabilities, stacked, over the way of the pen. */
import { type Colour, heat } from "../../../../base/heat.ts";
import { css, tone } from "../../../colour.ts";
import { svg } from "../../../figure/parts.ts";
import type { Sample } from "./sweep.ts";
import type { Words } from "./texts/en.ts";

/* How dark the ink of the bands is: neighbours differ. */
const TONES = [0.42, 0.16, 0.32, 0.1, 0.5, 0.22, 0.38, 0.13, 0.28, 0.46];

/** A shade of ink; the model's colour for the class that it reads in the end. */
export const colourOfClass = (index: number, last: number, dark: boolean): string =>
  css(index === last ? (heat(1, dark).slice(0, 3) as Colour) : tone(TONES[index % TONES.length]!, dark));

export const HEIGHT = 170;
const SURE = 6; // the line below
const FOOT = 24; // room for the words below
const LEAST_LABEL = 20; // a band must be this high, and as wide as LEAST_WIDTH, to hold its label
const LEAST_WIDTH = 10;

interface StripView {
  samples: readonly Sample[];
  labels: readonly string[];
  length: number;
  begins: readonly number[]; // where the second and later strokes begin
  at: number; // the chosen moment
  width: number; // CSS pixels
  dark: boolean;
  knowsDoubt: boolean; // whether the model says when it is sure
  colour(index: number): string; // of a class
}

export function drawStrip(root: SVGSVGElement, texts: Words["strokes"], view: StripView): void {
  const { samples, length, begins, at, width, dark } = view;
  const paper = css(tone(0, dark)), ink = css(tone(0.75, dark));
  const x = (way: number) => (length > 0 ? (way / length) * width : width);
  const tall = HEIGHT + SURE + FOOT;
  root.setAttribute("viewBox", `0 0 ${width} ${tall}`);
  root.setAttribute("height", String(tall));
  root.setAttribute("font-family", "sans-serif");
  const now = Math.min(Math.max(x(at), 2), width - 2);
  const starts = begins.map((way, i) => [x(way), texts.stroke({ n: i + 2 })] as const);
  root.replaceChildren(
    svg("rect", { width, height: tall, fill: paper }),
    ...bands(view, x, paper),
    ...(view.knowsDoubt ? sureLine(samples, x, ink) : []),
    ...starts.map(([left]) =>
      svg("path", { d: `M${left} 0V${HEIGHT}`, stroke: paper, "stroke-width": 1.5, "stroke-dasharray": "3 4" })),
    ...words([[4, texts.start], ...starts, [width - 4, texts.end]], width, ink),
    svg("path", { d: `M${now} 0V${HEIGHT + SURE}`, stroke: paper, "stroke-width": 6 }),
    svg("path", { d: `M${now} 0V${HEIGHT + SURE}`, stroke: css(tone(1, dark)), "stroke-width": 2.5, class: "now" }),
  );
}

/** One band a class, the first at the bottom, and its label wherever it is high enough. */
function bands({ samples, labels, colour, dark }: StripView, x: (way: number) => number, paper: string): SVGElement[] {
  const below = samples.map(() => 0);
  const shapes: SVGElement[] = [], texts: SVGElement[] = [];
  labels.forEach((label, k) => {
    const floor = [...below];
    samples.forEach(({ p }, i) => (below[i]! += p[k]!));
    const point = (share: number[]) => (i: number) =>
      `${x(samples[i]!.at).toFixed(1)} ${(HEIGHT * (1 - share[i]!)).toFixed(1)}`;
    const order = samples.map((_, i) => i);
    const d = `M${order.map(point(below)).join("L")}L${order.reverse().map(point(floor)).join("L")}Z`;
    shapes.push(svg("path", { d, fill: colour(k), stroke: paper, "stroke-width": 0.75, "data-class": label }));
    for (const i of thickest(samples.map(({ p }) => p[k]!), samples.map(({ at }) => x(at)))) {
      const middle = HEIGHT * (1 - (floor[i]! + below[i]!) / 2);
      const left = Math.min(Math.max(x(samples[i]!.at), 8), x(samples.at(-1)!.at) - 8);
      texts.push(svg("text", {
        x: left, y: middle + 5, fill: css(tone(1, dark)), stroke: paper, "stroke-width": 3, "paint-order": "stroke", "text-anchor": "middle", "font-size": 15, "font-weight": 600,
      }, label));
    }
  });
  return [...shapes, ...texts];
}

/** The middle of the thickest place in each stretch where a band can hold a label. */
function thickest(shares: number[], lefts: number[]): number[] {
  const middles: number[] = [];
  let from = 0;
  for (let i = 0; i <= shares.length; i++) {
    if ((shares[i] ?? 0) * HEIGHT >= LEAST_LABEL) continue;
    if (i > from && lefts[i - 1]! - lefts[from]! >= LEAST_WIDTH) {
      const top = Math.max(...shares.slice(from, i)) * 0.95;
      const high = Array.from({ length: i - from }, (_, j) => from + j).filter((j) => shares[j]! >= top);
      middles.push(high[high.length >> 1]!);
    }
    from = i + 1;
  }
  return middles;
}

/** A line below, drawn where the answer is not uncertain. */
function sureLine(samples: readonly Sample[], x: (way: number) => number, ink: string): SVGElement[] {
  return samples.flatMap(({ at, uncertain }, i) => {
    const next = samples[i + 1];
    if (uncertain || !next) return [];
    return [svg("rect", { x: x(at), y: HEIGHT + 3, width: x(next.at) - x(at) + 0.5, height: SURE - 3, fill: ink })];
  });
}

/** Words below the strip. One that would lie on another is left out; the ends stay. */
function words(all: (readonly [x: number, text: string])[], width: number, ink: string): SVGElement[] {
  const reach = (text: string) => text.length * 7;
  const end = all.at(-1)!;
  let free = 0;
  return all.flatMap(([left, text]) => {
    const last = text === end[1];
    if (!last && (left < free || left + reach(text) > width - reach(end[1]))) return [];
    free = left + reach(text) + 8;
    return [svg("text", {
      x: left, y: HEIGHT + SURE + 15, fill: ink, "font-size": 12, "text-anchor": last ? "end" : "start",
    }, text)];
  });
}
