/** What the model has read, the drawing or a test digit: its picture, its words and the ways back. */
import type { Classification, VitConfig } from "vitrine";
import { percent } from "../../../logits.ts";
import type { Texts } from "../../../texts/en.ts";
import { button, h } from "../../../dom.ts";
import { type Digit, paintDigit } from "./worst.ts";

export interface Subject {
  result: Classification;
  digit?: Digit; // none: the drawing
}

export function buildSubject(words: Texts["doubt"], reset: () => void, toDrawing: () => void) {
  const says = h("p", { className: "subject" });
  const picture = h("canvas", { className: "digit", ariaHidden: "true" });
  const back = button(words.reset, reset), away = button(words.toDrawing, toDrawing);
  return {
    root: h("div", { className: "subject-row" }, picture, h("div", {}, says, h("div", { className: "buttons" }, back, away))),
    /** @param changed whether the visitor has moved a logit. */
    draw(subject: Subject, changed: boolean, config: Readonly<VitConfig>, dark: boolean): void {
      const text = describe(subject, config, words);
      says.textContent = changed ? `${text} ${words.changed}` : text;
      back.ariaDisabled = String(!changed); // not `disabled`, which loses the focus
      away.hidden = picture.hidden = !subject.digit;
      if (subject.digit) paintDigit(picture, subject.digit, dark);
    },
  };
}

export function describe({ result, digit }: Subject, { labels }: Readonly<VitConfig>, words: Texts["doubt"]): string {
  if (!digit) return words.ofDrawing;
  const best = result.classes[0]!, truth = labels[digit.truth] ?? String(digit.truth);
  const truthP = result.classes.find(({ index }) => index === digit.truth)?.p ?? 0;
  return words.ofDigit({
    number: String(digit.index), truth, label: best.label, share: percent(best.p), truthShare: percent(truthP),
  });
}
