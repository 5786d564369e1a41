/** What attention costs beside the MLP, by the model's own shapes, as the image grows. */
import type { VitConfig } from "vitrine";
import { h } from "../../../dom.ts";
import { saveable, set, svg } from "../../../figure/parts.ts";
import { tag, whole } from "../../../texts/words.ts";
import { write } from "../../../write.ts";
import { millions } from "../../millions.ts";
import type { Scene, Story } from "../../scene.ts";
import type { Words } from "./texts/en.ts";

const WINDOW = 7 * 7; // tokens, as in Swin: Liu et al., arXiv:2103.14030
const LEAST = 7, MOST = 32, FIRST = 16; // patches along a side

/** The multiplications of one block with T tokens: of q·k and of the mix of values, of the MLP, and of the first in windows. */
const COSTS = {
  between: (T: number, { width: D }: Readonly<VitConfig>) => 2 * T * T * D,
  mlp: (T: number, { width: D, mlp_width: M }: Readonly<VitConfig>) => 2 * T * D * M,
  windows: (T: number, { width: D }: Readonly<VitConfig>) => 2 * T * WINDOW * D,
};
const NAMES = Object.keys(COSTS) as (keyof typeof COSTS)[];

const WIDE = 300, TALL = 150, LEFT = 56, TOP = 10, RIGHT = 122, GROUND = TOP + TALL;

export function buildCost(story: Story, words: Words["cost"]) {
  const axes = svg("g"), ticks = svg("g"), now = svg("line", { class: "now", y1: TOP, y2: GROUND }), equal = svg("path", { class: "equal" }), equalWords = svg("text", { y: TOP + 30 });
  const lines = NAMES.map((name) => svg("path", { class: name }));
  const dots = NAMES.map((name) => svg("circle", { class: name, r: 3.5 }));
  const labels = NAMES.map((name) => svg("text", { class: name, x: LEFT + WIDE + 6 }, words[name]));
  const chart = svg("svg", { class: "cost-chart", viewBox: `0 0 ${LEFT + WIDE + RIGHT} ${GROUND + 36}` },
    axes, ticks, now, ...lines, ...dots, ...labels, equal, equalWords,
    svg("text", { x: LEFT + WIDE / 2, y: GROUND + 32, "text-anchor": "middle" }, words.axis));
  set(axes, { class: "axes" });
  axes.append(svg("path", { d: `M${LEFT} ${TOP}V${GROUND}H${LEFT + WIDE}` }));
  const says = h("p", { className: "cost-at" }), text = h("span");
  let scene: Scene | undefined;
  const side = story.choices.slider("side", "", [LEAST, MOST, 1], FIRST, () => show());
  side.input.id = "masks-side";
  side.label.replaceChildren(text, side.input);

  const show = () => {
    if (!scene) return;
    const { config, shape: { patchRows } } = scene, tokensOf = (grid: number) => grid * grid + config.prefix.length;
    const grid = side.input.valueAsNumber, T = tokensOf(grid), last = tokensOf(MOST), top = COSTS.between(last, config);
    const x = (tokens: number) => LEFT + (WIDE * tokens) / last, y = (count: number) => GROUND - (TALL * count) / top;
    write(text, words.side({ patch: patchRows }));
    const [between, mlp, windows] = NAMES.map((name) => millions(COSTS[name](T, config))) as [string, string, string];
    write(says, words.at({ side: grid * patchRows, tokens: T, between, mlp, windows }));
    Object.assign(says.dataset, { tokens: T, ...Object.fromEntries(NAMES.map((name) => [name, COSTS[name](T, config)])) });
    side.input.setAttribute("aria-valuetext", says.textContent!);
    set(now, { x1: x(T), x2: x(T) });
    NAMES.forEach((name, at) => {
      const cost = COSTS[name], points = Array.from({ length: 41 }, (_, i) => (last * i) / 40);
      set(lines[at]!, { d: `M${points.map((tokens) => `${x(tokens).toFixed(1)} ${y(cost(tokens, config)).toFixed(1)}`).join("L")}` });
      set(dots[at]!, { cx: x(T), cy: y(cost(T, config)) });
      set(labels[at]!, { y: y(cost(last, config)) + 4 });
    });
    const M = config.mlp_width; // where 2T²D = 2TDM
    set(equal, { d: `M${x(M)} ${TOP}V${y(COSTS.mlp(M, config))}` });
    set(equalWords, { x: x(M) + 16 });
    write(equalWords, words.equal({ tokens: M }));
    const compact = new Intl.NumberFormat(tag, { notation: "compact" }); // 134M, or 1.3亿 in Chinese
    ticks.replaceChildren(
      ...[250, 500, 750, 1000].map((tokens) => svg("text", { x: x(tokens), y: GROUND + 15, "text-anchor": "middle" }, whole(tokens))),
      ...[0.5, 1].map((part) => svg("text", { x: LEFT - 5, y: y(part * top) + 4, "text-anchor": "end" }, compact.format(part * top))));
  };
  return {
    root: h("div", { className: "panel cost" }, h("h3", {}, words.title), h("p", {}, words.says),
      h("div", { className: "side-by-side" }, h("div", { className: "cost-now" }, side.label, says), saveable(chart, words.chart))),
    draw(next: Scene): void {
      scene = next;
      show();
    },
  };
}
