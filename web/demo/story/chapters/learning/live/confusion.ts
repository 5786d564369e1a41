/** What a model reads the test images as, beside what they are. */
import { Vit } from "vitrine";
import type { Texts } from "../../../../texts/en.ts";
import { whole } from "../../../../texts/words.ts";
import { h } from "../../../../dom.ts";
import { HeatGrid } from "../../../grid.ts";
import type { Source } from "./own.ts";

const CELL = 22;

export const DIGITS = Array.from({ length: 10 }, (_, digit) => String(digit));

/** Counts (K, K): rows are the classes of the images, columns those that the model reads. */
export async function countAnswers(weights: Uint8Array<ArrayBuffer>, { names = DIGITS, open }: Source): Promise<Float32Array> {
  const { test } = await open(), counts = new Float32Array(names.length ** 2);
  const vit = await Vit.load(weights, { worker: true });
  try {
    const answers = await vit.classifyAll(Array.from(test.labels, (_, at) => test.image(at)), { topK: 1 });
    answers.forEach(({ classes }, at) => counts[test.labels[at]! * names.length + classes[0]!.index]!++);
    return counts;
  } finally {
    vit.dispose();
  }
}

/** The screen reader hears a cell only while someone moves among the cells, not whenever a run redraws them. */
export function quiet(grid: HeatGrid): HeatGrid {
  const says = grid.root.querySelector(".grid-words")!;
  const live = (on: boolean) => says.setAttribute("aria-live", on ? "polite" : "off");
  live(false);
  grid.canvas.addEventListener("focus", () => live(true));
  grid.canvas.addEventListener("blur", () => live(false));
  return grid;
}

type Draw = (counts: Float32Array, names: readonly string[], dark: boolean) => void;

export function buildConfusion({ learning: { live: words }, grid: texts }: Texts): [HTMLElement, Draw] {
  let names: readonly string[] = DIGITS;
  const grid = quiet(new HeatGrid({
    label: words.confusion, texts, cell: CELL, number: whole,
    rowName: (row) => (names === DIGITS ? words.written(names[row]!) : names[row]!), columnName: (column) => words.read(names[column]!),
  }));
  const across = h("ol", { aria: { hidden: "true" } }), down = h("ol", { aria: { hidden: "true" } });
  return [h("div", { className: "live-confusion" }, across, down, grid.root), (values, itsNames, dark) => {
    names = itsNames;
    for (const list of [across, down]) list.replaceChildren(...names.map((name) => h("li", { title: name }, name)));
    across.classList.toggle("long", names.some((name) => name.length > 2));
    grid.draw({ values, rows: names.length, columns: names.length, scale: { low: 0, high: Math.max(1, ...values) }, dark });
    grid.canvas.dataset.counts = values.join();
  }];
}
