/** The answer with and without the parts that are left out, in bars and in words. */
import { percent } from "../../../logits.ts";
import type { Texts } from "../../../texts/en.ts";
import { button, h } from "../../../dom.ts";
import { Lens, shares } from "../../lens.ts";
import { nameOf } from "./parts.ts";
import type { Run } from "./runs.ts";

type Words = Texts["layers"];

export function buildAnswer(labels: readonly string[], words: Words, putBack: () => void) {
  const lens = new Lens(labels);
  const says = h("p", { className: "effect" });
  const back = button(words.back, putBack);
  const root = h("div", { className: "layers-answer" }, lens.root, says,
    h("div", { className: "put-back" }, back, h("span", {}, words.legend)));
  return {
    root,
    draw(run: Run, whole: Run): void {
      lens.draw(run.classes, run === whole ? undefined : whole.classes, (bars) => words.lensLabel(words.answer, bars));
      says.textContent = effect(run, whole, words);
      Object.assign(root.dataset, { label: run.classes[0]!.label, p: String(run.classes[0]!.p) });
      back.ariaDisabled = String(run.out.length === 0); // not `disabled`, which loses the focus
    },
  };
}

/** What is left out, and what became of the answer. */
export function effect(run: Run, whole: Run, words: Words): string {
  const [now, old] = [run.classes[0]!, whole.classes[0]!];
  if (run.out.length === 0) return words.whole(old.label, percent(old.p));
  const parts = words.parts(run.out.map((part) => nameOf(part, words)));
  const [before, after] = [percent(old.p), percent(shares(run.classes)[old.index]!)];
  return now.index === old.index
    ? words.same(parts, old.label, before, after)
    : words.other(parts, now.label, old.label, before, after);
}
