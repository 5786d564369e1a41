/** The table of logits to drag, and softmax step by step. */
import { percent } from "../../../logits.ts";
import type { Texts } from "../../../texts/en.ts";
import { decimal, number, percentage } from "../../../texts/words.ts";
import { write } from "../../../write.ts";
import { h } from "../../../dom.ts";
import type { Steps } from "./softmax.ts";

type Words = Texts["doubt"];
const ROWS = ["logit", "scaled", "power", "share"] as const;

const LEAST_REACH = 12; // the columns reach at least from -12 to 12

const power = (value: number) => (value === 0 || value >= 0.0001 ? decimal(value, 4) : value.toExponential(0).replace("-", "−"));

export function buildTable(labels: readonly string[], words: Words, change: (index: number, logit: number, done: boolean) => void) {
  const inputs = labels.map((label, index) => {
    const input = h("input", { type: "range", className: "upright", step: "0.1", aria: { label: words.slider(label) } });
    input.addEventListener("input", () => change(index, input.valueAsNumber, false));
    input.addEventListener("change", () => change(index, input.valueAsNumber, true));
    return input;
  });
  const heading = (text: string, scope: "row" | "col") => h("th", { scope }, text);
  const cells = ROWS.map((row) => [...labels, ""].map(() => h("td", {}, h("span"), ...(row === "share" ? [h("i")] : []))));
  const root = h("table", { className: "softmax", aria: { label: words.table } },
    h("thead", {}, h("tr", {}, heading(words.columns.class, "col"), ...labels.map((label) => heading(label, "col")),
      heading(words.columns.sum, "col"))),
    h("tbody", {},
      h("tr", { className: "columns" }, heading(words.rows.slider, "row"), ...inputs.map((input) => h("td", {}, input)), h("td")),
      ...ROWS.map((row, at) => h("tr", { data: { row } }, heading(words.rows[row], "row"), ...cells[at]!))));

  return {
    root,
    draw(logits: readonly number[], { scaled, powers, sum, shares, best }: Steps): void {
      const reach = Math.ceil(Math.max(LEAST_REACH, ...logits.map(Math.abs)));
      const rows: [text: string[], sum: string][] = [
        [logits.map((logit) => number(logit, 2)), ""],
        [scaled.map((value) => number(value, 2)), ""],
        [powers.map(power), decimal(sum, 4)],
        [shares.map(percent), percentage(1, 0)],
      ];
      rows.forEach(([texts, total], row) =>
        [...texts, total].forEach((text, column) => {
          const cell = cells[row]![column]!, words = cell.firstChild!;
          write(words, text);
          cell.classList.toggle("best", column === best);
        }));
      inputs.forEach((input, index) => {
        Object.assign(input, { min: String(-reach), max: String(reach) });
        input.value = String(logits[index]);
        input.setAttribute("aria-valuetext", words.value(number(logits[index]!, 1), percent(shares[index]!)));
        const share = cells[3]![index]!;
        share.style.setProperty("--p", shares[index]!.toFixed(4));
        share.dataset.p = String(shares[index]);
        cells[0]![index]!.dataset.logit = String(logits[index]);
      });
    },
  };
}
