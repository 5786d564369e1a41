/** The chapter's drawings: a search by query, keys and values; how far products spread. */
import { saveable, set, svg } from "../../../figure/parts.ts";
import type { Scene } from "../../scene.ts";
import { dot, rowOf } from "../../vectors.ts";
import { softmax } from "./head.ts";
import type { Words } from "./texts/en.ts";

/** A query meets three keys; the better one fits, the more of its value comes back. It shows no real numbers. */
export function buildSearch({ search, searchWords: words }: Words): SVGSVGElement {
  const row = (x: number, y: number, name: string, opacity: number) => svg("g", { opacity },
    svg("rect", { class: "card", x, y, width: 76, height: 24, rx: 6 }), svg("text", { class: "sign", x: x + 12, y: y + 16 }, name),
    ...[26, 36, 46, 56].map((at, i) => svg("rect", { class: (i + name.length + y) % 3 ? "plus" : "minus", x: x + at, y: y + 8, width: 8, height: 8, opacity: 0.35 + 0.2 * ((i * y) % 3) })));
  const title = (x: number, name: string, does: string) => [
    svg("text", { class: "name", x, y: 12 }, name), svg("text", { x, y: 27 }, does)];
  const fits = [0.15, 1, 0.45], y = (at: number) => 36 + 30 * at;
  return svg("svg", { class: "search", viewBox: "0 0 400 128", role: "img", "aria-label": search },
    ...title(38, words.query, words.asks), ...title(190, words.keys, words.matched), ...title(342, words.values, words.returned),
    row(0, y(1), "q", 1),
    ...fits.flatMap((fit, at) => [
      svg("path", { d: `M78 ${y(1) + 12}C114 ${y(1) + 12} 112 ${y(at) + 12} 150 ${y(at) + 12}`, "stroke-width": 0.6 + 4 * fit }),
      row(152, y(at), "k", 1),
      svg("path", { d: `M230 ${y(at) + 12}H302`, "stroke-width": 0.6 + 4 * fit }),
      row(304, y(at), "v", 0.3 + 0.7 * fit),
    ]));
}

/**
 * Why scores are divided by √d: how far one head's products q·k (T,T) spread, by their standard deviations, and what a
 * softmax makes of them: the largest share of a query, the mean of all queries, with the division and without.
 */
export function spreadOf({ result: { trace }, layer, head }: Scene) {
  const scores = trace.scores(layer, head), tokens = Math.sqrt(scores.length);
  const queries = trace.queries(layer, head), keys = trace.keys(layer, head), d = queries.length / tokens;
  const products = Float64Array.from(scores, (_, i) => dot(rowOf(queries, Math.floor(i / tokens), d), rowOf(keys, i % tokens, d)));
  const root = Math.sqrt(d), raw = deviation(products);
  const peak = (of: (score: number, i: number) => number) => {
    const values = Float64Array.from(scores, of);
    let sum = 0;
    for (let query = 0; query < tokens; query++) sum += Math.max(...softmax(rowOf(values, query, tokens)));
    return sum / tokens;
  };
  // A score may hold a bias for positions, which nothing divides.
  const without = peak((score, i) => score + products[i]! * (1 - 1 / root));
  return { products, d, raw, scaled: raw / root, with: peak((score) => score), without };
}

function deviation(list: Float64Array): number {
  const mean = list.reduce((sum, value) => sum + value, 0) / list.length;
  return Math.sqrt(list.reduce((sum, value) => sum + (value - mean) ** 2, 0) / list.length);
}

const BINS = 48, [WIDTH, HEIGHT] = [420, 60];

export function buildSpread(words: Words) {
  const rows = ["undivided", "divided"] as const;
  const bars = rows.map((name, at) => Array.from({ length: BINS }, (_, bin) =>
    svg("rect", { class: name, x: (bin * WIDTH) / BINS + 0.5, width: WIDTH / BINS - 1, "data-row": at })));
  const names = rows.map((_, at) => svg("text", { x: 4, y: at * (HEIGHT + 16) + 16 }));
  const ends = [svg("text", { y: 2 * HEIGHT + 34 }), svg("text", { x: WIDTH / 2, y: 2 * HEIGHT + 34, "text-anchor": "middle" }, "0"), svg("text", { x: WIDTH, y: 2 * HEIGHT + 34, "text-anchor": "end" })];
  const root = svg("svg", { class: "spread", viewBox: `0 0 ${WIDTH} ${2 * HEIGHT + 38}`, role: "img", "aria-label": words.undivided },
    ...bars.flat(), ...names, ...ends);
  const draw = ({ products, d }: ReturnType<typeof spreadOf>) => {
    const most = products.reduce((top, value) => Math.max(top, Math.abs(value)), 0), label = words.rootFigure({ d });
    [1, 1 / Math.sqrt(d)].forEach((factor, at) => {
      const counts = new Float64Array(BINS);
      for (const value of products) counts[Math.min(BINS - 1, Math.floor(((value * factor) / most + 1) * (BINS / 2)))]!++;
      const top = Math.max(...counts), floor = at * (HEIGHT + 16) + HEIGHT + 4;
      bars[at]!.forEach((bar, bin) => set(bar, { y: floor - (HEIGHT * counts[bin]!) / top, height: (HEIGHT * counts[bin]!) / top }));
    });
    names[0]!.textContent = words.undivided;
    names[1]!.textContent = words.divided({ d });
    ends[0]!.textContent = `−${most.toFixed(0)}`;
    ends[2]!.textContent = most.toFixed(0);
    set(root, { "aria-label": label });
  };
  return { root: saveable(root, words.rootTitle), draw };
}
