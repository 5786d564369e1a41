/** Whether the measured model is as sure as it is right: the diagram, and what it says in words. */
import type { VitConfig } from "vitrine";
import { percent } from "../../../logits.ts";
import type { Texts } from "../../../texts/en.ts";
import { decimal, percentage, whole } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import { saveable, withStyles } from "../../../figure/parts.ts";
import { buildDiagram } from "./diagram.ts";
import { binOf, binsAt, calibrationError, isMeasured, measured, overall } from "./reliability.ts";

/** "6.7 %", "20 %". */
function edge(share: number): string {
  const tenths = Math.round(share * 1000);
  return percentage(tenths / 1000, tenths % 10 ? 1 : 0);
}

export function buildSureness({ doubt: words }: Texts) {
  const diagram = buildDiagram(words);
  const here = h("p", { className: "here-says" }), gaps = h("p");
  const other = h("p", {}, words.other(measured.model));
  const { sure, right } = overall(binsAt(1));
  const root = h("div", {}, h("h3", {}, words.reliability),
    h("p", { className: "lead" }, words.reliabilityLead(whole(measured.images), measured.model)),
    h("div", { className: "side-by-side" },
      h("figure", {}, h("div", { className: "grid-scroll" }, saveable(diagram.root, words.diagram, () => withStyles(diagram.root)))),
      h("div", { className: "diagram-words" }, here, gaps,
        h("p", {}, words.atOne(percent(sure), percent(right), sure < right)), other)));
  return {
    root,
    /** @param p how sure the answer is. */
    draw(p: number, temperature: number, config: Readonly<VitConfig>): void {
      const bins = binsAt(temperature), at = binOf(p, bins.length), own = bins[at]!;
      const [from, to] = [edge(at / bins.length), edge((at + 1) / bins.length)];
      diagram.draw(bins, p);
      here.textContent = own.count > 0
        ? words.here({ share: percent(p), from, to, count: whole(own.count), right: whole(own.right),
            rightShare: percentage(own.right / own.count, 1) })
        : words.hereEmpty(percent(p), from, to);
      Object.assign(here.dataset, { p: String(p), bin: String(at), count: String(own.count), right: String(own.right) });
      const [now, before, after] = [temperature, 1, measured.temperature].map((t) => decimal(100 * calibrationError(binsAt(t)), 2));
      gaps.textContent = words.gaps(now!, decimal(temperature, 2), before!, after!, decimal(measured.temperature, 2));
      other.hidden = isMeasured(config);
    },
  };
}
