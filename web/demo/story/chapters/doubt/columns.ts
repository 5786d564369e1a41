/** The logits as columns to drag, the probabilities below them, and a table of the steps between. */
import { h, write } from "../../../dom.ts";
import { buildTable, tableRow } from "../../../figure/parts.ts";
import { atLeastAThousandth, decimal, number, percent } from "../../../texts/words.ts";
import { largest } from "../../vectors.ts";
import type { Words } from "./texts/en.ts";

/** Softmax with a temperature above 0, step by step: Guo et al., arXiv:1706.04599, section 4.2. The classes share what `doubt` leaves. */
export function softmax(logits: readonly number[], temperature: number, doubt = 0) {
  const scaled = logits.map((logit) => logit / temperature);
  const most = Math.max(...scaled);
  const powers = scaled.map((value) => Math.exp(value - most)); // the largest is 1
  const sum = powers.reduce((a, b) => a + b, 0);
  const shares = powers.map((power) => ((1 - doubt) * power) / sum);
  return { scaled, powers, sum, doubt, shares, best: largest(shares) };
}

const LEAST_REACH = 12; // the columns reach at least from -12 to 12

const power = (value: number) => (value === 0 || value >= 0.0001 ? decimal(value, 4) : value.toExponential(0).replace("-", "−"));

/** `change` is called while a column moves; `done` where the move is over. The columns are one stop of the Tab key. */
export function buildColumns(labels: readonly string[], words: Words["softmax"], change: (index: number, logit: number, done: boolean) => void) {
  const inputs = labels.map((label, index) => {
    const input = h("input", { type: "range", className: "upright", step: "0.1", tabIndex: index === 0 ? 0 : -1, title: words.keys,
      aria: { label: words.slider({ label }), orientation: "vertical" } });
    input.addEventListener("input", () => change(index, input.valueAsNumber, false));
    input.addEventListener("change", () => change(index, input.valueAsNumber, true));
    input.addEventListener("focus", () => inputs.forEach((each) => (each.tabIndex = each === input ? 0 : -1)));
    input.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault(); // the other arrow keys move the column
      inputs.at((index + step) % inputs.length)!.focus();
    });
    return input;
  });
  const cells = { logit: cellsOf(labels), share: cellsOf(labels), scaled: cellsOf([...labels, ""]), power: cellsOf([...labels, ""]) };
  for (const cell of cells.share) cell.append(h("i"));
  const row = (name: keyof typeof cells) => tableRow(words.rows[name], cells[name], { row: name });
  const columns = tableRow(words.rows.drag, inputs.map((input) => h("td", {}, input))), headings = [words.class, ...labels];
  const sums = h("p", { className: "sum" });
  return {
    root: h("div", { className: "grid-scroll" }, buildTable(words.table, headings, [columns, row("logit"), row("share")], "softmax")),
    steps: h("div", {}, h("div", { className: "grid-scroll", tabIndex: 0, role: "region", ariaLabel: words.steps }, buildTable(words.steps, [...headings, words.sum], [row("scaled"), row("power")], "softmax")), sums, h("p", {}, words.largest)),
    draw(logits: readonly number[], { scaled, powers, sum, doubt, shares, best }: ReturnType<typeof softmax>): void {
      const reach = Math.ceil(Math.max(LEAST_REACH, ...logits.map(Math.abs)));
      const fill = (name: keyof typeof cells, all: string[]) => cells[name].forEach((cell, column) => {
        write(cell.firstChild!, all[column]!);
        cell.classList.toggle("best", column === best);
      });
      fill("logit", logits.map((logit) => number(logit, 2)));
      fill("share", shares.map(percent));
      fill("scaled", [...scaled.map((value) => number(value, 2)), ""]);
      fill("power", [...powers.map(power), decimal(sum, 4)]);
      const first = powers[best]! / sum, says = words.sums({ sum: decimal(sum, 4), label: labels[best]!, power: decimal(powers[best]!, 4), share: percent(first) });
      write(sums, doubt ? `${says} ${words.less({ doubt: atLeastAThousandth(doubt), share: percent(shares[best]!) })}` : says);
      inputs.forEach((input, index) => {
        Object.assign(input, { min: String(-reach), max: String(reach) });
        input.value = String(logits[index]);
        input.ariaValueText = words.value({ logit: number(logits[index]!, 1), share: percent(shares[index]!) });
        cells.share[index]!.style.setProperty("--p", shares[index]!.toFixed(4));
        cells.share[index]!.dataset.p = String(shares[index]);
        cells.logit[index]!.dataset.logit = String(logits[index]);
      });
    },
  };
}

const cellsOf = (columns: readonly string[]) => columns.map(() => h("td", {}, h("span")));
