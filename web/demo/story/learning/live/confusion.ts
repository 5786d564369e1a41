/** What a model reads the test images as, beside what they are. */
import { Vit } from "vitrine";
import type { Texts } from "../../../texts/en.ts";
import { whole } from "../../../texts/words.ts";
import { h } from "../../dom.ts";
import { HeatGrid } from "../../grid.ts";
import { digits } from "./digits.ts";

const CLASSES = 10, CELL = 22;

/** Counts (10, 10): rows are the digits that were written, columns those that the model reads. */
export async function countAnswers(weights: Uint8Array<ArrayBuffer>): Promise<Float32Array> {
  const { test } = await digits(), counts = new Float32Array(CLASSES * CLASSES);
  const vit = await Vit.load(weights, { worker: true });
  try {
    const answers = await vit.classifyAll(Array.from(test.labels, (_, at) => test.image(at)), { topK: 1 });
    answers.forEach(({ classes }, at) => counts[test.labels[at]! * CLASSES + classes[0]!.index]!++);
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

export function buildConfusion({ learning: { live: words }, grid: texts }: Texts): [HTMLElement, (counts: Float32Array, dark: boolean) => void] {
  const grid = new HeatGrid({
    label: words.confusion, texts, cell: CELL, number: whole,
    rowName: (row) => words.written(String(row)), columnName: (column) => words.read(String(column)),
  });
  quiet(grid);
  const digits = () => h("ol", { aria: { hidden: "true" } }, ...Array.from({ length: CLASSES }, (_, digit) => h("li", {}, String(digit))));
  return [h("div", { className: "live-confusion" }, digits(), digits(), grid.root), (values, dark) => {
    grid.draw({ values, rows: CLASSES, columns: CLASSES, scale: { low: 0, high: Math.max(1, ...values) }, dark });
    grid.canvas.dataset.counts = values.join();
  }];
}
