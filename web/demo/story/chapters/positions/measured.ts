/** How many test digits each of the five models reads, before and after a scramble. */
import measured from "../../../explain/scramble.json";
import { h } from "../../../dom.ts";
import { percentage, whole } from "../../../texts/words.ts";
import { write } from "../../../write.ts";
import { fold } from "../../fold.ts";
import type { Story } from "../../scene.ts";
import { saveableTable } from "../../table.ts";
import { KINDS, type Part, type Words } from "./kinds.ts";
import { pair } from "./pair.ts";

const share = (count: number) => percentage(count / measured.digits, 1);

export function buildMeasured(story: Story, { kind, kinds, start, end, measured: words }: Words): Part {
  const rows = KINDS.map((name) => {
    const { before, after } = measured.right[name], bars = pair(false);
    bars.set(before, after, measured.digits);
    return h("tr", { data: { kind: name, before: String(before), after: String(after) } },
      h("th", { scope: "row" }, kinds[name]), h("td", {}, bars.root), h("td", {}, share(before)), h("td", {}, share(after)));
  });
  const says = h("p", { id: "scramble-digits" });
  const column = (text: string) => h("th", { scope: "col" }, text);
  const table = h("table", { className: "scores" }, h("caption", {}, words.table),
    h("thead", {}, h("tr", {}, column(kind), h("td"), column(start), column(end))), h("tbody", {}, ...rows));
  const root = fold(story, words.title({ digits: whole(measured.digits) }), says, saveableTable(table, words.table));
  root.classList.add("accuracy");
  const draw: Part["draw"] = ({ kind, on }) => {
    const { before, after, without } = measured.right[kind];
    const shares = { before: share(before), after: share(after), off: share(without) };
    write(says, kind === "none" ? words.none(shares) : on ? words.on(shares) : words.off(shares));
    for (const row of rows) row.classList.toggle("best", row.dataset.kind === kind);
  };
  return { root, draw };
}
