/** Curves on two axes, in ink, quiet ink or the model's own colour. */
import { saveable, svg } from "../figure/parts.ts";

const HEIGHT = 150, TOP = 10, FOOT = 22, TITLE = 16; // CSS pixels

type Pen = "ink" | "quiet" | "voice";

export interface Line {
  pen: Pen;
  points: readonly (readonly [at: number, share: number])[]; // shares are of the upright axis, from 0 to 1
  dots?: boolean; // marks each point, or none
  dash?: string;
  opacity?: number;
  name?: string; // stands at its end
}

/** What 0, a half and 1 are called on an upright axis. */
interface Axis {
  pen: Pen;
  texts: readonly string[];
}

interface Chart {
  words?: string;
  most: number; // the end of the axis across, which begins at 0
  ticks: readonly (readonly [at: number, text: string])[];
  left: Axis;
  right?: Axis;
  lines: readonly Line[];
  at?: number; // where an upright line stands
}

/** There is room for words before the axes and after them. `title` names the axis across. */
export function buildChart(label: string, width: number, [before, after]: readonly [number, number], title = "") {
  const floor = TOP + HEIGHT, height = floor + FOOT + (title ? TITLE : 0), end = width - after;
  const root = saveable(svg("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}` }), label);
  const y = (share: number) => TOP + (1 - share) * HEIGHT;
  const text = (pen: Pen, x: number, y: number, anchor: string, content: string) => svg("text", { class: pen, x, y, "text-anchor": anchor }, content);
  const draw = ({ words = label, most, ticks, left, right, lines, at }: Chart) => {
    const x = (place: number) => before + (place / most) * (end - before);
    const drawLine = ({ pen, points, dots, dash = "none", opacity = 1, name = "" }: Line) => {
      const spots = points.map(([at, share]) => [x(at), y(share)] as const), [lastX, lastY] = spots.at(-1) ?? [0, 0];
      return [
        svg("path", { class: pen, d: spots.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""), "stroke-dasharray": dash, opacity }),
        ...(dots ? spots.map(([cx, cy]) => svg("circle", { class: pen, cx, cy, r: 3 })) : []),
        ...(name ? [text(pen, lastX + 6, lastY + 4, "start", name)] : []),
      ];
    };
    root.ariaLabel = words;
    root.replaceChildren(
      ...[0, 0.5, 1].flatMap((share, i) => [
        svg("path", { class: "rule", d: `M${before} ${y(share)}H${end}` }),
        text(left.pen, before - 5, y(share) + 4, "end", left.texts[i]!),
        ...(right ? [text(right.pen, end + 5, y(share) + 4, "start", right.texts[i]!)] : []),
      ]),
      ...ticks.map(([at, content]) => text("quiet", x(at), floor + 16, "middle", content)),
      text("quiet", (before + end) / 2, height - 4, "middle", title),
      ...(at === undefined ? [] : [svg("path", { class: "now", d: `M${x(at)} ${TOP}V${floor}` })]),
      ...lines.flatMap(drawLine));
  };
  return { root, draw };
}
