/** Loss and test accuracy of the run under way. */
import { css, tone } from "../../../../colour.ts";
import type { Texts } from "../../../../texts/en.ts";
import { decimal, percentage, whole } from "../../../../texts/words.ts";
import { h } from "../../../../dom.ts";
import { saveable, svg } from "../../../../figure/parts.ts";
import { RUBRIC } from "../curves.ts";

const WIDTH = 280, HEIGHT = 170, LEFT = 34, RIGHT = 44, TOP = 10, BOTTOM = 20;
/** More points than pixels would draw the same line. */
const MOST_POINTS = 400;

export interface Course {
  epochs: number;
  /** The mean of the epoch so far, at places counted in epochs. */
  losses: (readonly [at: number, loss: number])[];
  /** After each epoch, 0 to 1. */
  accuracies: number[];
}

/** Returns the figure and what draws a run in it. */
export function buildCurve({ learning: { live: words } }: Texts): [HTMLElement, (course: Course, dark: boolean) => void] {
  const picture = svg("svg", { width: WIDTH, height: HEIGHT, role: "img", "aria-label": words.curve, "font-family": "system-ui, sans-serif" });
  const root = h("div", { className: "grid" },
    h("div", { className: "grid-scroll" }, saveable(picture, words.curve)));
  const text = (x: number, y: number, anchor: string, fill: string, content: string) =>
    svg("text", { x, y, "text-anchor": anchor, fill, "font-size": 11 }, content);
  const draw = ({ epochs, losses, accuracies }: Course, dark: boolean) => {
    const ink = css(tone(0.8, dark)), quiet = css(tone(0.65, dark)), rubric = dark ? RUBRIC.dark : RUBRIC.light;
    const top = Math.max(1, ...losses.map(([, loss]) => loss));
    const x = (at: number) => LEFT + (at / epochs) * (WIDTH - LEFT - RIGHT);
    const y = (share: number) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
    const line = (points: (readonly [number, number])[], stroke: string) =>
      svg("polyline", { points: points.map(([at, share]) => `${x(at).toFixed(1)},${y(share).toFixed(1)}`).join(" "), fill: "none", stroke, "stroke-width": 1.5 });
    const dots = accuracies.map((accuracy, index) => [index + 1, accuracy] as const);
    picture.setAttribute("aria-label", words.curveWords(losses.length ? decimal(losses.at(-1)![1], 2) : "", accuracies.length ? percentage(accuracies.at(-1)!, 1) : ""));
    picture.replaceChildren(
      svg("rect", { width: "100%", height: "100%", fill: css(tone(0, dark)) }),
      ...[0, 0.5, 1].flatMap((share) => [
        svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(share), y2: y(share), stroke: css(tone(0.15, dark)) }),
        text(LEFT - 5, y(share) + 4, "end", rubric, decimal(share * top, 1)),
        text(WIDTH - RIGHT + 5, y(share) + 4, "start", ink, percentage(share, 0)),
      ]),
      ...[0, epochs].map((at) => text(x(at), HEIGHT - 5, "middle", quiet, whole(at))),
      line(losses.map(([at, loss]) => [at, loss / top] as const), rubric),
      line(dots, ink),
      ...dots.map(([at, share]) => svg("circle", { cx: x(at), cy: y(share), r: 3, fill: ink })));
  };
  return [root, draw];
}

/** Every second point is left out when there are too many, but never the last. */
export function thinned(losses: Course["losses"]): Course["losses"] {
  return losses.length <= MOST_POINTS ? losses : losses.filter((_, index) => index % 2 === 0 || index === losses.length - 1);
}
