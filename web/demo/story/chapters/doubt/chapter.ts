/** How sure is it? While one drew; from logits to probabilities; and whether the model is as sure as it is right. */
import type { Classification } from "vitrine";
import { button, h } from "../../../dom.ts";
import { percent } from "../../../texts/words.ts";
import { loads } from "../../loads.ts";
import { buildGuess, cite, fold } from "../../prose.ts";
import type { ChapterBuilder, Scene } from "../../scene.ts";
import { buildColumns, softmax } from "./columns.ts";
import { loadMeasured } from "./reliability.ts";
import { buildStrokes } from "./strokes.ts";
import { buildSureness, rightAt } from "./sureness.ts";
import { buildTemperature } from "./temperature.ts";
import type { Words } from "./texts/en.ts";
import { buildWorst, type Digit, paintDigit } from "./worst.ts";

/** What is read: the drawing, or a test digit. */
interface Subject {
  result: Classification;
  digit?: Digit;
}

export const build: ChapterBuilder<Words> = (root, story, words) => {
  const own = words.softmax, part = root.querySelector("#strokes")!;
  let scene: Scene | undefined, subject: Subject | undefined;
  let logits: number[] = [];
  let columns: ReturnType<typeof buildColumns> | undefined;

  const says = h("p", { className: "subject" }), picture = h("canvas", { className: "digit", ariaHidden: "true" });
  const reset = button(own.reset, () => take(subject!)), away = button(own.toDrawing, () => take({ result: scene!.result }));
  const temperature = buildTemperature(own, story.choices, (says, done) => {
    draw();
    if (done) story.say(says);
  });
  const table = h("div"), doubt = h("p", {}, own.doubt), steps = h("div");
  const right = h("div"), drawRight = loads(right, story, async () => {
    const measured = await loadMeasured();
    const sureness = buildSureness(measured, words.right), worst = buildWorst(measured, words.right, (digit) => void read(digit));
    return [h("div", {}, sureness.root, worst.root), ({ config, dark }) => {
      const { shares, best } = shown();
      sureness.draw(shares[best]!, temperature.value, config);
      worst.draw(subject!.digit, dark);
    }];
  });
  root.append(
    h("p", { className: "lead" }, words.lead), part,
    h("div", { className: "panel" }, h("h3", {}, own.title), h("p", {}, own.says), doubt,
      h("div", { className: "subject-row" }, picture, says, away), table,
      h("div", { className: "temperature-row" }, temperature.root, reset)),
    h("h3", {}, words.right.title));
  const strokes = buildStrokes(story, words.strokes);
  part.replaceChildren(strokes.root);
  const guess = buildGuess(root, story, words.right, async ({ result }) => {
    const measured = await story.attempt(loadMeasured());
    return measured && rightAt(result.classes[0]!.p, measured, words.right);
  });
  root.append(fold(story, own.steps, steps), fold(story, words.right.more, right, cite(words.right.cite)));

  const shown = () => softmax(logits, temperature.value, subject!.result.doubt);
  const draw = () => {
    const { dark } = scene!, { digit, result } = subject!;
    const changed = logits.some((logit, index) => logit !== result.logits[index]);
    says.textContent = changed ? `${describe()} ${own.changed}` : describe();
    reset.ariaDisabled = String(!changed); // not `disabled`, which loses the focus
    away.hidden = picture.hidden = !digit;
    if (digit) paintDigit(picture, digit, dark);
    columns!.draw(logits, shown());
    drawRight(scene!);
  };

  const describe = () => {
    const { result: { classes }, digit } = subject!;
    if (!digit) return own.ofDrawing;
    const { label, p, index } = classes[0]!, truth = scene!.config.labels[digit.truth] ?? String(digit.truth);
    const read = own.ofDigit({ number: String(digit.index), truth, label, share: percent(p) });
    const its = classes.find(({ index }) => index === digit.truth)?.p ?? 0;
    return index === digit.truth ? read : `${read} ${own.truthGets({ truth, share: percent(its) })}`;
  };

  const take = (next: Subject) => {
    subject = next;
    logits = [...next.result.logits.subarray(0, scene!.config.classes)];
    draw();
  };

  const read = async (digit: Digit) => {
    const { model, result: now } = scene!;
    // As it is: preparing it like a photo of a digit would change the faintest pixels of some.
    const image = Float32Array.from(digit.pixels, (level) => level / 255);
    const result = await story.attempt(model.classify(image));
    if (!result || scene!.result !== now) return;
    take({ result, digit });
    story.say(describe());
  };

  const move = (index: number, logit: number, done: boolean) => {
    logits[index] = logit;
    draw();
    const { shares, best } = shown(), { labels } = scene!.config;
    if (done) story.say(own.moved({ label: labels[index]!, share: percent(shares[index]!), best: labels[best]!, bestShare: percent(shares[best]!) }));
  };

  return (next) => {
    const before = scene, other = before?.model !== next.model;
    scene = next;
    if (other) {
      temperature.fit(next.config);
      doubt.hidden = !next.config.doubt;
      columns = buildColumns(next.config.labels, own, move);
      table.replaceChildren(columns.root);
      steps.replaceChildren(columns.steps);
    }
    if (before?.result !== next.result) take({ result: next.result });
    else draw(); // another theme
    strokes.draw(next);
    guess(next);
  };
};
