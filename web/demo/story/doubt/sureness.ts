/** Whether the measured model is as sure as it is right: the diagram, and what it says in words. */
import type { VitConfig } from "vitrine";
import { percent } from "../../logits.ts";
import type { Texts } from "../../texts/en.ts";
import { h } from "../dom.ts";
import { saver, withStyles } from "../figure.ts";
import { buildDiagram } from "./diagram.ts";
import { binOf, binsAt, calibrationError, isMeasured, measured, overall } from "./reliability.ts";

const inPoints = (share: number) => (share * 100).toFixed(2);
const count = (number: number) => number.toLocaleString("en");

export function buildSureness(words: Texts["doubt"]) {
  const diagram = buildDiagram(words);
  const here = h("p", { className: "here-says" }), gaps = h("p");
  const other = h("p", {}, words.other(measured.model));
  const { sure, right } = overall(binsAt(1));
  const root = h("div", {}, h("h3", {}, words.reliability),
    h("p", { className: "lead" }, words.reliabilityLead(count(measured.images), measured.model)),
    h("div", { className: "side-by-side" },
      h("figure", {}, h("div", { className: "grid-scroll" }, diagram.root),
        saver(words.save, words.diagram, () => withStyles(diagram.root))),
      h("div", { className: "diagram-words" }, here, gaps,
        h("p", {}, words.atOne(percent(sure), percent(right), sure < right)), other)));
  return {
    root,
    /** @param p how sure the answer is. */
    draw(p: number, temperature: number, config: Readonly<VitConfig>): void {
      const bins = binsAt(temperature), at = binOf(p, bins.length), own = bins[at]!;
      const edge = (index: number) => `${Math.round((index / bins.length) * 1000) / 10} %`;
      diagram.draw(bins, p);
      here.textContent = own.count > 0
        ? words.here({ share: percent(p), from: edge(at), to: edge(at + 1), count: count(own.count), right: count(own.right),
            rightShare: `${((100 * own.right) / own.count).toFixed(1)} %` })
        : words.hereEmpty(percent(p), edge(at), edge(at + 1));
      Object.assign(here.dataset, { p: String(p), bin: String(at), count: String(own.count), right: String(own.right) });
      const [now, before, after] = [temperature, 1, measured.temperature].map((t) => inPoints(calibrationError(binsAt(t))));
      gaps.textContent = words.gaps(now!, temperature.toFixed(2), before!, after!, measured.temperature.toFixed(2));
      other.hidden = isMeasured(config);
    },
  };
}
