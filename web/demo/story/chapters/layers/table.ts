/** A small table: what becomes of the answer when one part alone is left out. */
import type { Texts } from "../../../texts/en.ts";
import { signed } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import { signedColour } from "../../grid.ts";
import { shares } from "../../lens.ts";
import type { Scene, Story } from "../../scene.ts";
import { saveableTable } from "../../table.ts";
import { keyOf, logOdds, nameOf, type Part, partsOf, points } from "./parts.ts";
import { sweep } from "./runs.ts";

type Words = Texts["layers"];

export function buildTable({ config }: Scene, { choices, texts: { layers: words } }: Story) {
  const cells = new Map<string, HTMLTableCellElement>();
  const columns = partsOf(0, config).map(({ kind, head }) => (kind === "head" ? words.head(head + 1) : words[kind]));
  const rows = Array.from({ length: config.depth }, (_, layer) =>
    h("tr", {}, h("th", { scope: "row" }, words.block(layer + 1)), ...partsOf(layer, config).map((part) => {
      const cell = h("td", { data: { part: keyOf(part) } });
      cells.set(keyOf(part), cell);
      return cell;
    })));
  const heading = (text: string) => h("th", { scope: "col" }, text);
  const lead = h("p"), hint = h("p", {}, words.oddsHint);
  const status = h("p", { className: "sweep-status" });
  const table = h("table", {},
    h("thead", {}, h("tr", {}, h("td"), ...columns.map(heading))), h("tbody", {}, ...rows));
  const root = h("div", { className: "figure sweep" }, h("h3", {}, words.sweep), lead,
    h("div", { className: "grid-scroll" }, saveableTable(table, words.sweep)), status);
  const results = new Map<string, Result>();
  let turn = 0, dark = false;
  const show = () => {
    hint.hidden = measure.value === "points";
    for (const [key, result] of results) drawCell(cells.get(key)!, result, measure.value, dark, words);
  };
  const measures = [["points", words.measures.points], ["odds", words.measures.odds]] as const;
  const measure = choices.chips<Measure>("measure", words.measure, measures, "points", show);
  lead.after(measure.root, hint);
  show();

  /** Fills the table for a scene. A later call ends it. */
  const fill = async (scene: Scene, story: Story) => {
    const own = ++turn, { classes: whole } = scene.result, best = whole[0]!;
    dark = scene.dark;
    root.setAttribute("aria-busy", "true");
    lead.textContent = words.sweepLead(best.label);
    let most: { part: Part; result: Result } | undefined;
    await sweep(scene, story, () => own !== turn, (part, classes, done) => {
      const result: Result = {
        points: shares(classes)[best.index]! - best.p,
        odds: logOdds(classes, best.index) - logOdds(whole, best.index),
        becomes: classes[0]!.index === best.index ? undefined : classes[0]!.label,
      };
      results.set(keyOf(part), result);
      drawCell(cells.get(keyOf(part))!, result, measure.value, dark, words);
      if (result.odds < (most?.result.odds ?? 0)) most = { part, result };
      if (done < cells.size) return void (status.textContent = words.progress(done, cells.size));
      status.textContent = most
        ? words.worst(nameOf(most.part, words), points(most.result.points), signed(most.result.odds))
        : words.none;
      root.setAttribute("aria-busy", "false");
    });
  };
  const theme = (now: boolean) => {
    dark = now;
    show();
  };
  return { root, fill, stop: () => void turn++, theme };
}

type Measure = "points" | "odds";

/** How the answer changes without a part. */
interface Result {
  points: number; // of probability, from -1 to 1
  odds: number;
  becomes: string | undefined; // another answer
}

const FULL = { points: 1, odds: 5 }; // the changes that get the strongest colour

function drawCell(cell: HTMLElement, result: Result, measure: Measure, dark: boolean, words: Words): void {
  const text = measure === "points" ? points(result.points) : signed(result.odds);
  cell.textContent = result.becomes === undefined ? text : `${text} ${words.becomes(result.becomes)}`;
  Object.assign(cell.dataset, { points: String(result.points), odds: String(result.odds) });
  // A third of the strength, so that the number stays easy to read.
  cell.style.setProperty("--tint", signedColour(result[measure] / 3, FULL[measure], dark));
}
