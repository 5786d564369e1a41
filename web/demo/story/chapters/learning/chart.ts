/** Curves over a training: shares from 0 to 1, and what else the right scale makes of them. */
import { heat } from "../../../../base/heat.ts";
import { css, cssTint, tone } from "../../../colour.ts";
import { h } from "../../../dom.ts";
import { saveable, svg } from "../../../figure/parts.ts";

const HEIGHT = 150, TOP = 10, BOTTOM = 22, SIDE = 44; // CSS pixels

/** In ink, or in the model's own colour. */
type Pen = "ink" | "voice";

export interface Line {
  pen: Pen;
  points: readonly (readonly [at: number, share: number])[];
  /** Marks each point, or none. */
  dots?: boolean;
  more?: Record<string, string | number>;
}

export interface Chart {
  words: string;
  /** The end of the axis across, which begins at 0. */
  most: number;
  ticks: readonly (readonly [at: number, text: string])[];
  /** What 0, a half and 1 are called on an axis. */
  left: { pen: Pen; texts: readonly string[] };
  right?: { pen: Pen; texts: readonly string[] };
  lines: readonly Line[];
  /** A line upright. */
  at?: number;
  dark: boolean;
}

/** Returns the figure and what draws it. */
export function buildChart(label: string, width: number): [HTMLElement, (chart: Chart) => void] {
  const picture = svg("svg", { width, height: TOP + HEIGHT + BOTTOM, "font-family": "system-ui, sans-serif" });
  const root = h("div", { className: "grid" }, h("div", { className: "grid-scroll" }, saveable(picture, label)));
  const y = (share: number) => TOP + (1 - share) * HEIGHT;
  const text = (x: number, y: number, anchor: string, fill: string, content: string) =>
    svg("text", { x, y, "text-anchor": anchor, fill, "font-size": 11 }, content);
  return [root, ({ words, most, ticks, left, right, lines, at, dark }) => {
    const x = (place: number) => SIDE + (place / most) * (width - 2 * SIDE);
    const colours = { ink: css(tone(0.8, dark)), voice: cssTint(heat(1, dark)) };
    const upright = (at: number) => svg("line", { x1: x(at), x2: x(at), y1: TOP, y2: y(0), stroke: css(tone(0.35, dark)) });
    const drawn = ({ pen, points, dots, more }: Line) => [
      svg("polyline", { points: points.map(([at, share]) => `${x(at).toFixed(1)},${y(share).toFixed(1)}`).join(" "), fill: "none", stroke: colours[pen], "stroke-width": 1.5, ...more }),
      ...(dots ? points.map(([at, share]) => svg("circle", { cx: x(at), cy: y(share), r: 3, fill: colours[pen] })) : []),
    ];
    picture.setAttribute("aria-label", words);
    picture.replaceChildren(
      svg("rect", { width: "100%", height: "100%", fill: css(tone(0, dark)) }),
      ...[0, 0.5, 1].flatMap((share, i) => [
        svg("line", { x1: SIDE, x2: width - SIDE, y1: y(share), y2: y(share), stroke: css(tone(0.15, dark)) }),
        text(SIDE - 5, y(share) + 4, "end", colours[left.pen], left.texts[i]!),
        ...(right ? [text(width - SIDE + 5, y(share) + 4, "start", colours[right.pen], right.texts[i]!)] : []),
      ]),
      ...ticks.map(([at, content]) => text(x(at), y(0) + 16, "middle", css(tone(0.65, dark)), content)),
      ...(at === undefined ? [] : [upright(at)]),
      ...lines.flatMap(drawn));
  }];
}
