/** The ten scores before and after, side by side. */
import { h } from "../../../dom.ts";
import type { Texts } from "../../../texts/en.ts";
import { number } from "../../../texts/words.ts";
import type { Part, Placed } from "./kinds.ts";
import { largestChange } from "./numbers.ts";
import { pair } from "./pair.ts";
import { write } from "../../../write.ts";

export function buildScores(texts: Texts["positions"]): Part & { root: HTMLTableElement } {
  const body = h("tbody");
  const rows = new Map<string, (before: number, after: number, top: number, best: boolean) => void>();
  const root = h("table", { className: "scores" },
    h("caption", {}, texts.scores),
    h("thead", {}, h("tr", {}, ...[texts.digit, "", texts.before, texts.after].map((text) =>
      text ? h("th", { scope: "col" }, text) : h("td")))),
    body);

  const addRow = (label: string) => {
    const bars = pair(true), before = h("td"), after = h("td");
    const row = h("tr", {}, h("th", { scope: "row" }, label), h("td", {}, bars.root), before, after);
    body.append(row);
    rows.set(label, (a, b, top, best) => {
      bars.set(a, b, top);
      write(before, number(a));
      write(after, number(b));
      Object.assign(row.dataset, { before: String(a), after: String(b) });
      row.classList.toggle("best", best);
    });
  };

  const draw = ({ model: { config }, before, after }: Placed) => {
    if (rows.size === 0) config.labels.forEach(addRow);
    const zeros = new Float32Array(before.logits.length);
    const top = Math.max(largestChange(before.logits, zeros), largestChange(after.logits, zeros));
    config.labels.forEach((label, i) => {
      rows.get(label)!(before.logits[i]!, after.logits[i]!, top, after.classes[0]!.index === i);
    });
  };
  return { root, draw };
}
