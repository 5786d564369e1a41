/** A table: the answer's log-odds when one part alone is left out. */
import type { VitConfig } from "vitrine";
import { h } from "../../../dom.ts";
import { buildTable, tableRow } from "../../../figure/parts.ts";
import { signed } from "../../../texts/words.ts";
import { signedColour } from "../../grid.ts";
import type { Scene } from "../../scene.ts";
import { keyOf, type Loss, partsOf } from "./runs.ts";
import type { Words } from "./texts/en.ts";

const FULL = 5; // the change that gets the strongest colour

export function buildLosses(config: Readonly<VitConfig>, words: Words) {
  const cells = new Map<string, HTMLTableCellElement>();
  const columns = partsOf(0, config).map(({ kind, head }) => (kind === "head" ? words.head({ n: head + 1 }) : words.mlp));
  const rows = Array.from({ length: config.depth }, (_, layer) =>
    tableRow(words.block({ n: layer + 1 }), ...partsOf(layer, config).map((part) => {
      const cell = h("td", { data: { part: keyOf(part) } });
      cells.set(keyOf(part), cell);
      return cell;
    })));
  const draw = (losses: Loss[], { dark, result: { classes: [whole] } }: Scene) => {
    for (const { part, odds, best } of losses) {
      const cell = cells.get(keyOf(part))!;
      cell.textContent = best.index === whole!.index ? signed(odds) : words.sweep.becomes({ odds: signed(odds), label: best.label });
      cell.dataset.odds = String(odds);
      // A third of the strength, so that the number stays easy to read.
      cell.style.setProperty("--tint", signedColour(odds / 3, FULL, dark));
    }
  };
  return { root: h("div", { className: "grid-scroll" }, buildTable(words.sweep.table, ["", ...columns], rows)), draw };
}
