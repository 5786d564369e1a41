/** What attention costs beside the MLP, by the model's own shapes, as the image grows. */
import type { VitConfig } from "vitrine";
import { h, write } from "../../../dom.ts";
import { tag, whole } from "../../../texts/words.ts";
import { buildChart, type Line } from "../../chart.ts";
import { millions } from "../../millions.ts";
import { repeatable } from "../../prose.ts";
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
const PENS: Record<keyof typeof COSTS, Pick<Line, "pen" | "dash">> = { between: { pen: "voice" }, mlp: { pen: "ink" }, windows: { pen: "ink", dash: "4 4" } };

export function buildCost(story: Story, words: Words["cost"]) {
  const chart = buildChart(words.chart, 480, [56, 122], words.axis), says = h("p", { className: "cost-at" }), text = h("span");
  const { label, input } = story.choices.slider("side", "", [LEAST, MOST, 1], FIRST, () => draw());
  input.id = "masks-side";
  label.replaceChildren(text, input);

  const draw = repeatable(({ config, shape: { patchRows } }: Scene) => {
    const tokensOf = (grid: number) => grid * grid + config.prefix.length;
    const grid = input.valueAsNumber, T = tokensOf(grid), last = tokensOf(MOST), top = COSTS.between(last, config), M = config.mlp_width;
    const costs = NAMES.map((name) => COSTS[name](T, config)), [between, mlp, windows] = costs.map(millions) as [string, string, string];
    write(text, words.side({ patch: patchRows }));
    write(says, words.at({ side: grid * patchRows, tokens: T, between, mlp, windows }));
    Object.assign(says.dataset, { tokens: T, ...Object.fromEntries(NAMES.map((name, at) => [name, costs[at]])) });
    input.ariaValueText = says.textContent;
    const compact = new Intl.NumberFormat(tag, { notation: "compact" }); // 134M, or 1.3亿 in Chinese
    const steps = Array.from({ length: 41 }, (_, i) => (last * i) / 40);
    chart.draw({
      most: last, at: T, ticks: [250, 500, 750, 1000].map((tokens) => [tokens, whole(tokens)]),
      left: { pen: "quiet", texts: [0, 0.5, 1].map((share) => compact.format(share * top)) },
      lines: [
        { pen: "quiet", dash: "2 3", points: [[M, COSTS.mlp(M, config) / top], [M, 0.9]], name: words.equal({ tokens: M }) }, // where 2T²D = 2TDM
        ...NAMES.map((name) => ({ ...PENS[name], name: words[name], points: steps.map((tokens) => [tokens, COSTS[name](tokens, config) / top] as const) })),
        ...NAMES.map((name, at) => ({ ...PENS[name], dots: true, points: [[T, costs[at]! / top] as const] })),
      ],
    });
  });
  const root = h("div", { className: "panel cost" }, h("h3", {}, words.title), h("p", {}, words.says),
    h("div", { className: "side-by-side" }, h("div", { className: "cost-now" }, label, says), chart.root));
  return { root, draw };
}
