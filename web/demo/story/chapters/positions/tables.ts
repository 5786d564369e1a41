/** Tables with bars: the logits before and after a scramble, and how many test digits are read. */
import measured from "../../../explain/scramble.json";
import { h, write } from "../../../dom.ts";
import { buildTable, tableRow } from "../../../figure/parts.ts";
import { number, percentage, whole } from "../../../texts/words.ts";
import { signedScale } from "../../grid.ts";
import { fold } from "../../prose.ts";
import type { Story } from "../../scene.ts";
import { KINDS, type Part } from "./kinds.ts";
import type { Words } from "./texts/en.ts";

/** A table of numbers before and after, each pair with two thin bars above each other. */
function buildPairs(label: string, headings: readonly string[], names: readonly string[], bars: "pair" | "pair signed") {
  const rows = names.map((name) => {
    const two = [h("i"), h("i")], cells = [h("td"), h("td")];
    const root = tableRow(name, [h("td", {}, h("span", { className: bars, ariaHidden: "true" }, ...two)), ...cells]);
    /** The bars end at `top`, which is above 0. */
    const set = (pair: readonly [before: number, after: number], top: number, format: (value: number) => string, isBest: boolean) => {
      pair.forEach((value, at) => {
        two[at]!.style.setProperty("--z", (value / top).toFixed(4));
        write(cells[at]!, format(value));
      });
      Object.assign(root.dataset, { before: pair[0], after: pair[1] });
      root.classList.toggle("best", isBest);
    };
    return { root, set };
  });
  const table = buildTable(label, headings, rows.map(({ root }) => root), "scores");
  table.prepend(h("caption", {}, label));
  return { table, rows };
}

const share = (count: number) => percentage(count / measured.digits, 1);

/** How many test digits each of the six models reads, before and after a scramble. */
export function buildMeasured(story: Story, { kind, kinds, start, end, measured: words }: Words): Part {
  const { table, rows } = buildPairs(words.table, [kind, "", start, end], KINDS.map((name) => kinds[name]), "pair");
  rows.forEach(({ root }, at) => (root.dataset.kind = KINDS[at]));
  const says = h("p", { id: "scramble-digits" });
  const root = fold(story, words.title({ digits: whole(measured.digits) }), says, table);
  root.classList.add("accuracy");
  const draw: Part["draw"] = ({ kind, on }) => {
    const { before, after, without } = measured.right[kind];
    const shares = { before: share(before), after: share(after), off: share(without) };
    write(says, kind === "none" ? words.none(shares) : on ? words.on(shares) : words.off(shares));
    KINDS.forEach((name, at) => {
      const { before, after } = measured.right[name];
      rows[at]!.set([before, after], measured.digits, share, name === kind);
    });
  };
  return { root, draw };
}

/** The ten logits before and after, side by side. */
export function buildLogits(words: Words): Part {
  const digits = Array.from({ length: 10 }, (_, digit) => String(digit));
  const { table, rows } = buildPairs(words.logits, [words.digit, "", words.start, words.end], digits, "pair signed");
  return { root: table, draw({ before, after }) {
    const top = signedScale(before.logits, after.logits).signed || 1;
    rows.forEach(({ set }, i) => set([before.logits[i]!, after.logits[i]!], top, number, after.classes[0]!.index === i));
  } };
}
