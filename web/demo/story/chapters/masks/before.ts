/** What came before the Transformer, and what other Transformers for pictures change: a drawing and a sentence each. */
import { h } from "../../../dom.ts";
import { saveable, svg } from "../../../figure/parts.ts";
import { linked } from "../../prose.ts";
import type { Words } from "./texts/en.ts";

type Name = Exclude<keyof Words["before"], "title">;

const WIDE = 220, TALL = 120;
const range = (count: number) => Array.from({ length: count }, (_, i) => i);

const box = (x: number, y: number, width: number, height = width, name = "box") => svg("rect", { class: name, x, y, width, height, rx: 1.5 });
const state = (x: number, y: number, name = "box") => svg("circle", { class: name, cx: x, cy: y, r: 9 });
const line = (x1: number, y1: number, x2: number, y2: number, width = 1.2, name = "line") =>
  svg("line", { class: name, x1, y1, x2, y2, "stroke-width": width });
const arrow = (x1: number, y1: number, x2: number, y2: number) => {
  const turn = Math.atan2(y2 - y1, x2 - x1), wing = (side: number) => `L${x2 - 6 * Math.cos(turn + side)} ${y2 - 6 * Math.sin(turn + side)}`;
  return svg("path", { class: "line", d: `M${x1} ${y1}L${x2} ${y2}${wing(0.5)}M${x2} ${y2}${wing(-0.5)}` });
};
/** A grid of cells; each cell is as hot as `heat` says. */
const grid = (x: number, y: number, side: number, cells: number, heat: (row: number, column: number) => number = () => 0) =>
  range(cells * cells).flatMap((i) => {
    const [row, column, step] = [Math.floor(i / cells), i % cells, side / cells], hot = heat(row, column);
    const place = [x + column * step, y + row * step, step] as const;
    const cell = box(...place), over = box(...place, step, "hot");
    over.setAttribute("opacity", String(hot));
    return hot > 0 ? [cell, over] : [cell];
  });
const near = (row: number, column: number) => (r: number, c: number) => Math.max(0, 1 - 0.45 * Math.hypot(r - row, c - column));

const DRAWINGS: Record<Name, () => SVGElement[]> = {
  recurrent: () => [
    ...range(4).flatMap((i) => [box(10 + i * 28, 92, 14), arrow(17 + i * 28, 90, 17 + i * 28, 72), ...(i < 3 ? [arrow(27 + i * 28, 60, 35 + i * 28, 60)] : [])]),
    ...range(3).map((i) => state(17 + i * 28, 60)), state(101, 60, "hot"),
    ...range(3).flatMap((i) => [arrow((i ? 137 : 111) + (i ? (i - 1) * 32 : 0), 60, 126 + i * 32, 60), state(136 + i * 32, 60), arrow(136 + i * 32, 49, 136 + i * 32, 32), box(129 + i * 32, 14, 14)]),
  ],
  alignment: () => [
    ...range(5).flatMap((i) => [line(110, 32, 30 + i * 40, 70, [1, 6, 3, 1, 0.6][i]!, "ray"), state(30 + i * 40, 80), box(23 + i * 40, 100, 14), ...(i < 4 ? [arrow(40 + i * 40, 80, 60 + i * 40, 80)] : [])]),
    state(110, 24, "hot"), arrow(76, 24, 100, 24), state(66, 24),
  ],
  caption: () => [
    ...grid(12, 12, 84, 6, near(1.5, 1.5)), ...grid(124, 12, 84, 6, near(3.5, 4)),
    box(33, 104, 42, 8), arrow(78, 108, 142, 108), box(145, 104, 42, 8),
  ],
  t2t: () => [
    ...grid(6, 18, 84, 6), box(6, 18, 42, 42, "ring"), box(34, 18, 42, 42, "ring other"), box(6, 46, 42, 42, "ring other"),
    arrow(96, 60, 112, 60), ...grid(118, 32, 56, 4), box(118, 32, 28, 28, "ring"), arrow(179, 60, 191, 60), ...grid(196, 50, 20, 2),
  ],
  swin: () => [
    ...grid(10, 16, 88, 8), ...range(4).map((i) => box(10 + 44 * (i % 2), 16 + 44 * (i >> 1), 44, 44, "ring")),
    ...grid(122, 16, 88, 8),
    ...range(9).map((i) => {
      const [from, size] = [[0, 22, 66], [22, 44, 22]] as const, column = i % 3, row = Math.floor(i / 3);
      return box(122 + from[column]!, 16 + from[row]!, size[column]!, size[row], "ring");
    }),
  ],
  mvit: () => [
    ...grid(6, 10, 64, 8), box(6, 92, 64, 6, "hot"), arrow(76, 42, 90, 42),
    ...grid(96, 10, 64, 4), box(96, 92, 64, 12, "hot"), arrow(164, 42, 174, 42),
    ...grid(178, 26, 36, 2), box(178, 92, 36, 24, "hot"),
  ],
  detr: () => [
    ...grid(10, 14, 92, 6), box(22, 26, 34, 44, "ring"), box(62, 58, 34, 34, "ring other"),
    ...range(4).flatMap((i) => [...(i < 2 ? [line(152, 26 + i * 24, i ? 96 : 56, i ? 74 : 46, 2.5, "ray")] : [line(152, 26 + i * 24, 104, 36 + i * 18, 0.8)]), state(162, 26 + i * 24, i < 2 ? "hot" : "box"), arrow(173, 26 + i * 24, 190, 26 + i * 24), box(194, 19 + i * 24, 14, 14, i < 2 ? "ring" : "box")]),
  ],
};

export const drawBefore = (words: Words["before"]): HTMLElement =>
  h("div", { className: "before" }, ...(Object.keys(DRAWINGS) as Name[]).map((name) => {
    const picture = svg("svg", { class: "sketch", viewBox: `0 0 ${WIDE} ${TALL}` }, ...DRAWINGS[name]());
    const { name: title, says } = words[name];
    return h("figure", {}, saveable(picture, title), h("figcaption", {}, h("strong", {}, title), " ", ...linked(says)));
  }));
