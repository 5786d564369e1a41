/** Beam search, step by step, as `read` does it (src/text/generate.c), and its tree: the beginnings that were kept, and the way to the text that won. */
import type { Vit } from "vitrine";
import { h } from "../../../dom.ts";
import { saveable, set, svg } from "../../../figure/parts.ts";
import type { Stroke } from "../../../ink.ts";
import { imageOf } from "../../../number/store.ts";
import { atLeastAThousandth } from "../../../texts/words.ts";
import type { Words } from "./texts/en.ts";

/** A beginning of a text: its last token, and the beginning before it. */
interface Node {
  id: number;
  step: number; // from 1 on; the language's token is step 0
  score: number; // the sum of the logarithms
  parent?: Node;
}

/** The way to a beginning, from the language's token on. */
const pathOf = (node: Node): Node[] => [...(node.parent ? pathOf(node.parent) : []), node];
const idsOf = (node: Node): number[] => pathOf(node).map(({ id }) => id);
/** The tokens that were written, after the language's. */
export const outputIds = (node: Node): number[] => idsOf(node).slice(1);

/** All beginnings that were kept, by steps, and the one that won. */
interface Search {
  steps: Node[][];
  best: Node;
}

/** The logarithms of the shares of each token after these. */
type Continue = (ids: number[]) => Promise<Float64Array>;

/** @param most how many tokens there may be, the first one included. */
export async function search(first: number, end: number, beams: number, most: number, next: Continue): Promise<Search> {
  const steps: Node[][] = [], hypotheses: { node: Node; mean: number }[] = [];
  let running: Node[] = [{ id: first, step: 0, score: 0 }];
  const finish = (node: Node) => {
    hypotheses.push({ node, mean: node.score / node.step });
    if (hypotheses.length > beams) hypotheses.splice(hypotheses.reduce((worst, { mean }, at) => (mean < hypotheses[worst]!.mean ? at : worst), 0), 1);
  };
  for (let step = 1; ; step++) {
    const shares = await Promise.all(running.map((node) => next(idsOf(node))));
    const choices = running.flatMap((parent, at) => Array.from(shares[at]!, (log, id): Node => ({ id, step, score: parent.score + log, parent })))
      .sort((a, b) => b.score - a.score).slice(0, 2 * beams);
    const survivors: Node[] = [], over: Node[] = [];
    for (const [rank, node] of choices.entries()) {
      if (survivors.length === beams) break;
      if (node.id !== end) survivors.push(node);
      else if (rank < beams) {
        over.push(node);
        finish(node);
      }
    }
    running = survivors;
    steps.push([...survivors, ...over].sort((a, b) => b.score - a.score));
    const isOver = hypotheses.length === beams && Math.min(...hypotheses.map(({ mean }) => mean)) >= choices[0]!.score / step;
    if (!isOver && step + 1 < most) continue;
    if (!isOver) for (const node of running) finish(node);
    return { steps, best: hypotheses.reduce((a, b) => (b.mean >= a.mean ? b : a)).node };
  }
}

/** Continues by running the tokens so far. */
export const continuing = (model: Vit, strokes: Stroke[]): Continue => async (ids) => {
  const { logits } = await model.read(imageOf(strokes), { force: ids });
  const last = Float64Array.from(logits!.subarray(-model.config.decoder!.vocabulary)), most = Math.max(...last);
  const sum = Math.log(last.reduce((all, logit) => all + Math.exp(logit - most), 0)) + most;
  return last.map((logit) => logit - sum);
};

const WIDE = 101, TALL = 40, NAME = 80, MARGIN = 4;

export function buildTree(words: Words) {
  const picture = saveable(svg("svg", { class: "tree" }), words.beams), says = h("figcaption");
  const root = h("figure", {}, h("div", { className: "grid-scroll", tabIndex: 0, role: "region", ariaLabel: words.beams }, picture), says);
  return {
    root,
    /** @param nameOf a token's text */
    draw({ steps, best }: Search, nameOf: (id: number) => string, text: string): void {
      const most = Math.max(...steps.map(({ length }) => length)), width = MARGIN + steps.length * WIDE, height = most * TALL;
      const places = new Map<Node, [x: number, y: number]>(), bestPath = new Set(pathOf(best));
      steps.forEach((nodes, step) => nodes.forEach((node, row) => places.set(node, [MARGIN + step * WIDE, row * TALL])));
      const nodes = [...places.keys()];
      set(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
      picture.replaceChildren(
        ...nodes.flatMap((node) => {
          const from = node.parent && places.get(node.parent), [x, y] = places.get(node)!;
          if (!from) return [];
          const [left, down] = [from[0] + NAME, from[1] + TALL / 2], right = x, middle = (left + right) / 2;
          return [svg("path", { class: bestPath.has(node) ? "won" : "", d: `M${left} ${down}C${middle} ${down} ${middle} ${y + TALL / 2} ${right} ${y + TALL / 2}` })];
        }),
        ...nodes.map((node) => {
          const [x, y] = places.get(node)!;
          return svg("g", { class: bestPath.has(node) ? "won" : "" },
            svg("rect", { x, y: y + 2, width: NAME, height: TALL - 4, rx: 8 }),
            svg("text", { x: x + NAME / 2, y: y + 17, "text-anchor": "middle", class: "word" }, nameOf(node.id).trim() || words.end),
            svg("text", { x: x + NAME / 2, y: y + 31, "text-anchor": "middle" }, atLeastAThousandth(Math.exp(node.score))));
        }));
      says.textContent = words.wrote({ text });
      root.dataset.ids = outputIds(best).join(" ");
    },
  };
}
