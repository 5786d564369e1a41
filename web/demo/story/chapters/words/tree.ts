/** A beam search as a tree: step by step the beginnings that were kept, and the way to the text that won. */
import { h } from "../../../dom.ts";
import { saveable, set, svg } from "../../../figure/parts.ts";
import { atLeastAThousandth } from "../../../texts/words.ts";
import { type Node, pathOf, type Search, writtenIn } from "./search.ts";
import type { Words } from "./texts/en.ts";

const WIDE = 101, TALL = 40, NAME = 80, MARGIN = 4;

export function buildTree(words: Words) {
  const picture = saveable(svg("svg", { class: "tree" }), words.beams), says = h("figcaption");
  const root = h("figure", {}, h("div", { className: "grid-scroll", tabIndex: 0, role: "region", ariaLabel: words.beams }, picture), says);
  return {
    root,
    /** @param nameOf a token's text */
    draw({ steps, best }: Search, nameOf: (id: number) => string, text: string): void {
      const most = Math.max(...steps.map(({ length }) => length)), width = MARGIN + steps.length * WIDE, height = most * TALL;
      const places = new Map<Node, [x: number, y: number]>(), won = new Set(pathOf(best));
      steps.forEach((nodes, step) => nodes.forEach((node, row) => places.set(node, [MARGIN + step * WIDE, row * TALL])));
      const nodes = [...places.keys()];
      set(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
      picture.replaceChildren(
        ...nodes.flatMap((node) => {
          const from = node.parent && places.get(node.parent), [x, y] = places.get(node)!;
          if (!from) return [];
          const [left, down] = [from[0] + NAME, from[1] + TALL / 2], right = x, middle = (left + right) / 2;
          return [svg("path", { class: won.has(node) ? "won" : "", d: `M${left} ${down}C${middle} ${down} ${middle} ${y + TALL / 2} ${right} ${y + TALL / 2}` })];
        }),
        ...nodes.map((node) => {
          const [x, y] = places.get(node)!;
          return svg("g", { class: won.has(node) ? "won" : "" },
            svg("rect", { x, y: y + 2, width: NAME, height: TALL - 4, rx: 8 }),
            svg("text", { x: x + NAME / 2, y: y + 17, "text-anchor": "middle", class: "word" }, nameOf(node.id).trim() || words.end),
            svg("text", { x: x + NAME / 2, y: y + 31, "text-anchor": "middle" }, atLeastAThousandth(Math.exp(node.score))));
        }));
      says.textContent = words.wrote({ text });
      root.dataset.ids = writtenIn(best).join(" ");
    },
  };
}
