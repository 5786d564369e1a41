/** How many test digits each of the five models reads, before and after a scramble. */
import measured from "../../../explain/scramble.json";
import { h } from "../../../dom.ts";
import { buildTable, tableRow } from "../../../figure/parts.ts";
import { percentage, whole } from "../../../texts/words.ts";
import { write } from "../../../write.ts";
import { fold } from "../../prose.ts";
import type { Story } from "../../scene.ts";
import { KINDS, type Part } from "./kinds.ts";
import { pair } from "./pair.ts";
import type { Words } from "./texts/en.ts";

const share = (count: number) => percentage(count / measured.digits, 1);

export function buildMeasured(story: Story, { kind, kinds, start, end, measured: words }: Words): Part {
  const rows = KINDS.map((name) => {
    const { before, after } = measured.right[name], bars = pair(false);
    bars.set(before, after, measured.digits);
    const row = tableRow(kinds[name], h("td", {}, bars.root), share(before), share(after));
    Object.assign(row.dataset, { kind: name, before, after });
    return row;
  });
  const says = h("p", { id: "scramble-digits" });
  const table = buildTable(words.table, [kind, "", start, end], rows, "scores");
  table.prepend(h("caption", {}, words.table));
  const root = fold(story, words.title({ digits: whole(measured.digits) }), says, table);
  root.classList.add("accuracy");
  const draw: Part["draw"] = ({ kind, on }) => {
    const { before, after, without } = measured.right[kind];
    const shares = { before: share(before), after: share(after), off: share(without) };
    write(says, kind === "none" ? words.none(shares) : on ? words.on(shares) : words.off(shares));
    for (const row of rows) row.classList.toggle("best", row.dataset.kind === kind);
  };
  return { root, draw };
}
