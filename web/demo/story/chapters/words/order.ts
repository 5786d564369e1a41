/** The order of looking: the number's ink, and below it where each written word looked, column by column of the patches. */
import { cssHeat } from "../../../colour.ts";
import { h } from "../../../dom.ts";
import { saveable, set, svg } from "../../../figure/parts.ts";
import { middle, type Point, type Stroke } from "../../../ink.ts";
import { LANGUAGES } from "../../../number/languages.ts";
import type { Words } from "./texts/en.ts";
import { columnsOf, nameOf, placeOf, type Transcription } from "./view.ts";

/** The curves that the pen's ink has: see drawStroke. */
function pathOf(stroke: Stroke): string {
  const at = ({ x, y }: Point) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  return `M${at(stroke[0]!)}${stroke.slice(1, -1).map((point, i) => `Q${at(point)} ${at(middle(point, stroke[i + 2]!))}`).join("")}L${at(stroke.at(-1)!)}`;
}

const NAME = 104, WIDE = 336, INK = WIDE / 4, ROW = 20;

export function buildOrder(words: Words) {
  const picture = saveable(svg("svg", { class: "order" }), words.order), says = h("figcaption");
  const root = h("figure", {}, picture, says);
  return {
    root,
    draw({ result, strokes, language, dark, shape }: Transcription): void {
      const { name } = LANGUAGES[language], { placement, tokens } = result, columns = columnsOf(result);
      const rows = tokens.flatMap((token, at) => (nameOf(token) ? [{ word: nameOf(token)!, shares: columns[at]! }] : []));
      const step = WIDE / shape.gridCols, height = INK + 8 + rows.length * ROW, most = Math.max(...rows.flatMap(({ shares }) => [...shares]));
      set(picture, { viewBox: `0 0 ${NAME + WIDE} ${height}`, "aria-label": `${words.order}: ${name}` });
      const x = (at: number) => NAME + ((at - placement.left) / placement.width) * WIDE, y = (at: number) => ((at - placement.top) / placement.height) * INK;
      const top = (row: number) => INK + 8 + row * ROW;
      const spots = rows.flatMap(({ shares }, row) => {
        const place = placeOf(shares);
        return place === undefined ? [] : [{ place, cx: NAME + (place + 0.5) * step, cy: top(row) + ROW / 2 }];
      });
      const ways = spots.slice(1).map((to, at) => ({ from: spots[at]!, to, back: to.place < spots[at]!.place }));
      picture.replaceChildren(
        ...strokes.map((stroke) => svg("path", {
          class: "ink", "stroke-width": Math.max(2, (stroke[0]!.width / placement.height) * INK),
          d: pathOf(stroke.map((point) => ({ ...point, x: x(point.x), y: y(point.y) }))),
        })),
        ...rows.flatMap(({ word, shares }, row) => [
          svg("text", { x: NAME - 8, y: top(row) + 14, "text-anchor": "end" }, word),
          ...Array.from(shares, (share, column) => svg("rect", {
            x: NAME + column * step, y: top(row), width: step - 1, height: ROW - 1, rx: 2, fill: cssHeat(share / most, dark), class: "share",
          })),
        ]),
        ...ways.map(({ from, to, back }) => svg("path", { class: back ? "way back" : "way", d: `M${from.cx} ${from.cy}L${to.cx} ${to.cy}` })),
        ...spots.map(({ cx, cy }) => svg("circle", { class: "way", cx, cy, r: 3.5 })));
      const times = ways.filter(({ back }) => back).length;
      says.textContent = words.back({ language: name, n: times });
      Object.assign(root.dataset, { places: spots.map(({ place }) => place).join(" "), back: times });
    },
  };
}
