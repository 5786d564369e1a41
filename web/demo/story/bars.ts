/** A small model's answer as bars, one a class. */
import type { Class } from "vitrine";
import { percent } from "../logits.ts";
import { h } from "../dom.ts";
import { write } from "../write.ts";

export class Bars {
  readonly root: HTMLOListElement;

  constructor(label: string, labels: readonly string[]) {
    const row = (name: string) => h("li", { data: { label: name } }, h("b", {}, name), h("i"), h("span"));
    this.root = h("ol", { className: "bars", aria: { label } }, ...labels.map(row));
  }

  /** `classes` hold the most probable one first. */
  draw(classes: readonly Class[]): void {
    for (const { index, p } of classes) {
      const row = this.root.children[index] as HTMLElement;
      row.classList.toggle("best", index === classes[0]!.index);
      row.dataset.p = String(p);
      row.style.setProperty("--p", p.toFixed(4));
      write(row.lastElementChild!, percent(p));
    }
  }
}
