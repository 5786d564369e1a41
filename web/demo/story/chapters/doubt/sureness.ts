/** Whether the measured model is as sure as it is right: the diagram, and what it says in words. */
import type { VitConfig } from "vitrine";
import { h } from "../../../dom.ts";
import { saveable } from "../../../figure/parts.ts";
import { percent } from "../../../logits.ts";
import { decimal, percentage } from "../../../texts/words.ts";
import { buildDiagram } from "./diagram.ts";
import { type Bin, binOf, binsAt, calibrationError, isMeasured, measured, overall, wilson } from "./reliability.ts";
import type { Words } from "./texts/en.ts";

/** "6.7 %", "20 %". */
function edge(share: number): string {
  const tenths = Math.round(share * 1000);
  return percentage(tenths / 1000, tenths % 10 ? 1 : 0);
}

/** What is said of a bin. */
const wordsOf = ({ count, right }: Bin, at: number, bins: number) =>
  ({ from: edge(at / bins), to: edge((at + 1) / bins), count, right, rightShare: percent(right / count) });

/** How often the measured model is right when it is as sure as `p`, or a little surer where nothing was so unsure. */
export function rightAt(p: number, words: Words["right"]) {
  const bins = binsAt(measured.temperature), own = binOf(p, bins.length);
  const at = bins.findIndex(({ count }, at) => at >= own && count > 0), bin = bins[at]!;
  const [low, high] = wilson(bin.right, bin.count);
  return {
    option: bin.sure < low ? "more" as const : bin.sure > high ? "less" as const : "same" as const,
    words: words.truth({ ...wordsOf(bin, at, bins.length), share: percent(p), model: measured.model, sure: percent(bin.sure) }),
  };
}

export function buildSureness(words: Words["right"]) {
  const diagram = buildDiagram(words), { model } = measured;
  const here = h("p", { className: "here-says" }), gaps = h("p"), other = h("p", {}, words.other({ model }));
  const { sure, right } = overall(binsAt(1));
  const root = h("div", {},
    h("p", {}, words.lead({ images: measured.images, model })),
    h("div", { className: "side-by-side" },
      h("figure", {}, saveable(diagram.root, words.diagram)),
      h("div", { className: "diagram-words" }, here, gaps,
        h("p", {}, (sure < right ? words.modest : words.bold)({ sure: percent(sure), right: percent(right) })), other)));
  return {
    root,
    /** @param p how sure the answer is. */
    draw(p: number, temperature: number, config: Readonly<VitConfig>): void {
      const bins = binsAt(temperature), at = binOf(p, bins.length), own = bins[at]!;
      const said = { ...wordsOf(own, at, bins.length), share: percent(p) };
      diagram.draw(bins, p);
      here.textContent = (own.count > 0 ? words.here : words.hereEmpty)(said);
      Object.assign(here.dataset, { p: String(p), bin: String(at), count: String(own.count), right: String(own.right) });
      const [now, before, after] = [temperature, 1, measured.temperature].map((t) => decimal(100 * calibrationError(binsAt(t)), 2));
      gaps.textContent = words.gaps({ now: now!, t: decimal(temperature, 2), before: before!, own: after!, ownT: decimal(measured.temperature, 2) });
      other.hidden = isMeasured(config);
    },
  };
}
