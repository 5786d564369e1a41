/** Two curves over the snapshots: right answers on test images, and the visitor's digit. */
import { css, tone } from "../../../colour.ts";
import { h } from "../../../dom.ts";
import { saveable, svg } from "../../../figure/parts.ts";
import type { Texts } from "../../../texts/en.ts";
import { percentage, whole } from "../../../texts/words.ts";

/** CSS pixels of a stop, as wide as a cell of the grid above, and of the labels beside both. */
export const STOP = 14, LABELS = 40;
const HEIGHT = 150, TOP = 10, BOTTOM = 22, RIGHT = 18;
export const RUBRIC = { light: "#a82d23", dark: "#ffab5c" };

export interface Curves {
  at: number;
  /** For each stop, 0 to 1. */
  accuracy: ArrayLike<number>;
  digit?: { label: string; p: ArrayLike<number> };
  dark: boolean;
}

/** Returns the figure and what draws it. */
export function buildCurves(steps: readonly number[], { learning: texts }: Texts): [HTMLElement, (shown: Curves) => void] {
  const width = LABELS + steps.length * STOP + RIGHT;
  const picture = svg("svg", { width, height: TOP + HEIGHT + BOTTOM, role: "img", "aria-label": texts.curves });
  const root = h("div", { className: "grid" },
    h("div", { className: "grid-scroll" }, saveable(picture, texts.curves)));
  const x = (at: number) => LABELS + (at + 0.5) * STOP;
  const y = (share: number) => TOP + (1 - share) * HEIGHT;

  const line = (values: ArrayLike<number>, from: number, to: number, attributes: Record<string, string | number>) => {
    const points = Array.from({ length: to - from + 1 }, (_, i) => `${x(from + i)},${y(values[from + i]!).toFixed(1)}`);
    return svg("polyline", { points: points.join(" "), fill: "none", "stroke-width": 2, "stroke-linejoin": "round", ...attributes });
  };
  /** The curve up to the chosen stop, and what is to come, faint. */
  const curve = (values: ArrayLike<number>, at: number, attributes: Record<string, string | number>) => [
    line(values, at, steps.length - 1, { ...attributes, opacity: 0.25 }),
    line(values, 0, at, attributes),
    svg("circle", { cx: x(at), cy: y(values[at]!), r: 4, fill: attributes.stroke! }),
  ];
  const axes = (ink: string, faint: string) => [
    ...[0, 0.5, 1].flatMap((share) => [
      svg("line", { x1: LABELS, x2: width - RIGHT, y1: y(share), y2: y(share), stroke: faint }),
      svg("text", { x: LABELS - 5, y: y(share) + 4, "text-anchor": "end", fill: ink, "font-size": 11 }, percentage(share, 0)),
    ]),
    ...ticks(steps.length).map((at) =>
      svg("text", { x: x(at), y: TOP + HEIGHT + 16, "text-anchor": "middle", fill: ink, "font-size": 11 },
        whole(steps[at]!))),
  ];

  const draw = ({ at, accuracy, digit, dark }: Curves) => {
    const ink = css(tone(0.8, dark)), rubric = dark ? RUBRIC.dark : RUBRIC.light;
    picture.setAttribute("aria-label", texts.curvesWords(digit?.label));
    picture.setAttribute("font-family", "system-ui, sans-serif");
    picture.replaceChildren(
      svg("rect", { width: "100%", height: "100%", fill: css(tone(0, dark)) }),
      ...axes(css(tone(0.65, dark)), css(tone(0.15, dark))),
      svg("line", { x1: x(at), x2: x(at), y1: TOP, y2: TOP + HEIGHT, stroke: css(tone(0.35, dark)) }),
      ...curve(accuracy, at, { stroke: ink }),
      ...(digit ? curve(digit.p, at, { stroke: rubric, "stroke-dasharray": "5 3" }) : []));
  };
  return [root, draw];
}

/** Stops whose steps are written: every fifth, and the last. */
const ticks = (count: number): number[] => Array.from({ length: Math.ceil(count / 5) }, (_, i) => Math.min(i * 5, count - 1));
