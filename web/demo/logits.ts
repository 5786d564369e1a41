import type { Class } from "vitrine";
import { h, write, writeSign } from "./dom.ts";
import type { State } from "./state.ts";
import { percent } from "./texts/words.ts";
import type { Own } from "./models.ts";

/** Each class's probability, in the model's order. */
export function shares(classes: readonly Class[], count = classes.length): Float64Array {
  const all = new Float64Array(count);
  for (const { index, p } of classes) all[index] = p;
  return all;
}

/** Builds one column for each class: its bar, its label and, unseen, its share. */
export function buildBars(list: HTMLElement, labels: readonly string[], signs?: Own["signs"]): void {
  list.replaceChildren(...labels.map((label) => {
    const name = h("b");
    writeSign(name, label, signs?.get(label)?.picture);
    return h("li", { data: { label } }, h("i"), name, h("span", { className: "unseen" }));
  }));
}

export const buildLogits = (columns: HTMLElement, labels: readonly string[]): void =>
  columns.replaceChildren(...labels.map((label) => h("span", { data: { label } }, h("i"))));

/** Draws probabilities as bars. One of them, if any, has the model's colour. */
export function drawBars(list: HTMLElement, { reading }: State, best: number | undefined): void {
  const share = shares(reading?.result.classes ?? [], list.children.length);
  [...list.children].forEach((child, index) => {
    const column = child as HTMLElement;
    const text = reading ? percent(share[index]) : "";
    column.style.setProperty("--p", share[index].toFixed(4));
    column.classList.toggle("best", index === best);
    column.dataset.p = reading ? String(share[index]) : "";
    column.title = text;
    write(column.lastElementChild!, text);
  });
}

export function drawLogits(columns: HTMLElement, { reading }: State): void {
  const logits = reading?.result.logits.slice(0, columns.children.length); // without that of doubt
  const top = logits?.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-6) ?? 1;
  const best = reading?.result.classes[0].index;
  [...columns.children].forEach((child, index) => {
    const column = child as HTMLElement;
    column.style.setProperty("--z", ((logits?.[index] ?? 0) / top).toFixed(4));
    column.classList.toggle("best", index === best);
  });
}
