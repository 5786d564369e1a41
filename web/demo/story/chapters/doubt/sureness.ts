/** Whether the measured model is as sure as it is right: the diagram, and what it says in words. */
import type { VitConfig } from "vitrine";
import { h } from "../../../dom.ts";
import { saveable, set, svg } from "../../../figure/parts.ts";
import { decimal, percent, percentage } from "../../../texts/words.ts";
import { type Bin, binOf, binsAt, calibrationError, isMeasured, type Measured, overall, wilson } from "./reliability.ts";
import type { Words } from "./texts/en.ts";

/** "6.7 %", "20 %". */
function edge(share: number): string {
  const tenths = Math.round(share * 1000);
  return percentage(tenths / 1000, tenths % 10 ? 1 : 0);
}

const wordsOf = ({ count, right }: Bin, at: number, bins: number) =>
  ({ from: edge(at / bins), to: edge((at + 1) / bins), count, right, rightShare: percent(right / count) });

/** How often the measured model is right when it is as sure as `p`, or a little surer where nothing was so unsure. */
export function rightAt(p: number, measured: Measured, words: Words["right"]) {
  const bins = binsAt(measured.temperature, measured), own = binOf(p, bins.length);
  const at = bins.findIndex(({ count }, at) => at >= own && count > 0), bin = bins[at]!;
  const [low, high] = wilson(bin.right, bin.count);
  return {
    option: bin.sure < low ? "more" as const : bin.sure > high ? "less" as const : "same" as const,
    words: words.truth({ ...wordsOf(bin, at, bins.length), share: percent(p), model: measured.model, sure: percent(bin.sure) }),
  };
}

export function buildSureness(measured: Measured, words: Words["right"]) {
  const diagram = buildDiagram(words), { model } = measured;
  const here = h("p", { className: "here-says" }), gaps = h("p"), other = h("p", {}, words.other({ model }));
  const { sure, right } = overall(binsAt(1, measured));
  const root = h("div", {},
    h("p", {}, words.lead({ images: measured.images, model })),
    h("div", { className: "side-by-side" },
      h("figure", {}, diagram.root),
      h("div", { className: "diagram-words" }, here, gaps,
        h("p", {}, (sure < right ? words.modest : words.bold)({ sure: percent(sure), right: percent(right) })), other)));
  return {
    root,
    draw(p: number, temperature: number, config: Readonly<VitConfig>): void {
      const bins = binsAt(temperature, measured), at = binOf(p, bins.length), own = bins[at]!;
      const sentenceValues = { ...wordsOf(own, at, bins.length), share: percent(p) };
      diagram.draw(bins, p);
      here.textContent = (own.count > 0 ? words.here : words.hereEmpty)(sentenceValues);
      Object.assign(here.dataset, { p: String(p), bin: String(at), count: String(own.count), right: String(own.right) });
      const [now, before, after] = [temperature, 1, measured.temperature].map((t) => decimal(100 * calibrationError(binsAt(t, measured)), 2));
      gaps.textContent = words.gaps({ now: now!, t: decimal(temperature, 2), before: before!, own: after!, ownT: decimal(measured.temperature, 2) });
      other.hidden = isMeasured(config, measured);
    },
  };
}

// ---- The reliability diagram: how often right over how sure, and how many digits each bin has ----

const SIDE = 280, LEFT = 52, TOP = 22, COUNTS = 44, GAP = 26; // in the figure's units, which are CSS pixels
const BOTTOM = TOP + SIDE, GROUND = BOTTOM + GAP + COUNTS;
const WIDTH = LEFT + SIDE + 16, HEIGHT = GROUND + 40;
const MOST = 5; // decades: the counts' scale is logarithmic, up to 100,000

const x = (share: number) => LEFT + share * SIDE;
const y = (share: number) => BOTTOM - share * SIDE;

function buildDiagram(words: Words["right"]) {
  const counts = svg("g"), points = svg("g"), bin = svg("rect", { class: "bin", y: TOP, height: GROUND - TOP });
  const line = svg("line", { class: "here", y1: TOP - 4, y2: GROUND });
  const mark = svg("text", { class: "here-words", y: TOP - 9 }, words.youAreHere);
  const root = svg("svg", { class: "reliability", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT },
    bin, ...axes(words), counts, points, line, mark);
  return {
    root: saveable(root, words.diagram),
    /** @param p how sure the answer is that is marked. */
    draw(bins: readonly Bin[], p: number): void {
      const width = 1 / bins.length, own = binOf(p, bins.length);
      set(bin, { x: x(own * width), width: width * SIDE });
      set(line, { x1: x(p), x2: x(p) });
      set(mark, { x: Math.min(Math.max(x(p), LEFT + 36), LEFT + SIDE - 30), "text-anchor": "middle" });
      counts.replaceChildren(...bins.map(({ count }, at) => {
        const height = count > 0 ? ((Math.log10(count) + 0.5) / MOST) * COUNTS : 0;
        return svg("rect", { class: "count", x: x(at * width) + 1, width: width * SIDE - 2, y: GROUND - height, height });
      }));
      points.replaceChildren(...bins.flatMap((each, at) => pointOf(each, at === own)));
      const list = bins.filter(({ count }) => count > 0)
        .map(({ count, right, sure }) => words.point({ sure: percent(sure), right: percent(right / count), count })).join("; ");
      root.ariaLabel = `${words.diagram}. ${words.points({ bins: list })}`;
    },
  };
}

function axes(words: Words["right"]): SVGElement[] {
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const share = (value: number) => `${value * 100} %`;
  return [
    svg("rect", { class: "frame", x: LEFT, y: TOP, width: SIDE, height: SIDE }),
    svg("line", { class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    ...ticks.flatMap((tick) => [
      svg("text", { x: x(tick), y: BOTTOM + 14, "text-anchor": "middle" }, share(tick)),
      svg("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, share(tick)),
    ]),
    svg("line", { class: "frame", x1: LEFT, x2: LEFT + SIDE, y1: GROUND, y2: GROUND }),
    svg("text", { x: x(0.5), y: GROUND + 16, "text-anchor": "middle" }, words.counts),
    svg("text", { class: "axis", x: x(0.5), y: GROUND + 34, "text-anchor": "middle" }, `${words.sure} →`),
    svg("text", { class: "axis", transform: `translate(12 ${y(0.5)}) rotate(-90)`, "text-anchor": "middle" }, `${words.right} →`),
  ];
}

function pointOf({ count, right, sure }: Bin, own: boolean): SVGElement[] {
  if (count === 0) return [];
  const [low, high] = wilson(right, count);
  return [
    svg("line", { class: "interval", x1: x(sure), x2: x(sure), y1: y(low), y2: y(high) }),
    svg("circle", { class: own ? "point own" : "point", cx: x(sure), cy: y(right / count), r: own ? 6 : 4.5,
      "data-count": count, "data-right": right, "data-sure": sure }),
  ];
}
