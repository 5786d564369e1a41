import type { State } from "./state.ts";
import { percentage } from "./texts/words.ts";
import { write } from "./write.ts";

/** Builds one row for each class: its label, its bar, its share. */
export function buildBars(list: HTMLElement, columns: HTMLElement, labels: string[]): void {
  list.replaceChildren(
    ...labels.map((label) => {
      const row = document.createElement("li");
      row.dataset.label = label;
      for (const [tag, text] of [
        ["b", label],
        ["i", ""],
        ["span", ""],
      ]) {
        const part = document.createElement(tag);
        part.textContent = text;
        row.append(part);
      }
      return row;
    }),
  );
  columns.replaceChildren(
    ...labels.map((label) => {
      const column = document.createElement("span");
      column.append(document.createElement("i"));
      column.dataset.label = label;
      return column;
    }),
  );
}

/** Draws probabilities as bars. */
export function drawBars(list: HTMLElement, { reading }: State): void {
  const share = new Float64Array(list.children.length);
  for (const { index, p } of reading?.result.classes ?? []) share[index] = p;
  const best = reading?.result.classes[0].index;
  [...list.children].forEach((child, index) => {
    const row = child as HTMLElement;
    row.style.setProperty("--p", share[index].toFixed(4));
    row.classList.toggle("best", index === best);
    row.dataset.p = reading ? String(share[index]) : "";
    write(row.lastElementChild!, reading ? percent(share[index]) : "");
  });
}

/** Draws the logits as columns up or down from zero. */
export function drawLogits(columns: HTMLElement, { reading }: State): void {
  const logits = reading?.result.logits;
  const top = logits?.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-6) ?? 1;
  const best = reading?.result.classes[0].index;
  [...columns.children].forEach((child, index) => {
    const column = child as HTMLElement;
    column.style.setProperty("--z", ((logits?.[index] ?? 0) / top).toFixed(4));
    column.classList.toggle("best", index === best);
  });
}

/** 0.9876 → "98.8 %"; never "100 %", because no answer is certain. */
export function percent(p: number): string {
  if (p < 0.0005) return percentage(0, 0);
  if (p > 0.9995) return `> ${percentage(0.999, 1)}`;
  return percentage(p, 1);
}
