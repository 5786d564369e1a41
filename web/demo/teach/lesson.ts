/** A lesson: the drawings of one sign, its name, and how far the model is with it. */
import { button, h, write } from "../dom.ts";
import { drawStrokes, SIDE, type Stroke } from "../ink.ts";
import { decimal, percentage } from "../texts/words.ts";
import { nameOf } from "./text.ts";
import type { Words } from "./texts/en.ts";

/** A new sign needs some drawings, so that the model learns what they have in common. A correction needs one. */
const LEAST = 3;

export interface Progress {
  step: number;
  steps: number;
  accuracy: number;
  secondsLeft: number;
}

interface LessonView {
  drawings: readonly Stroke[][];
  inked: boolean; // whether the pad has another one
  labels: readonly string[]; // what the model knows already
  progress?: Progress;
  trouble: string; // why there is no taught model, after a lesson that failed or was stopped
  dark: boolean;
}

interface Acts {
  keep(): void;
  remove(index: number): void;
  learn(label: string): void;
  cancel(): void;
  stop(): void;
}

export function buildLesson(texts: Words, { keep, remove, learn, cancel, stop }: Acts, typed = "") {
  const say = h("p", { id: "teach-it-status", className: "say", role: "status", tabIndex: -1 });
  const dots = h("div", { className: "dots", role: "group", ariaLabel: texts.drawings });
  const name = h("input", { id: "teach-it-name", autocomplete: "off", spellcheck: false, maxLength: 24, placeholder: texts.placeholder, value: typed });
  const labelChips = h("div", { className: "known", role: "group", ariaLabel: texts.known });
  const bar = h("progress", { id: "teach-it-progress", ariaLabel: texts.learning });
  const numbers = h("p", { className: "aside", ariaHidden: "true" });
  const main = button("", () => go(), { id: "teach-it-learn", className: "pill main" });
  const collect = h("div", { className: "collect" }, dots,
    h("label", {}, texts.name, name), h("p", { className: "aside" }, texts.known), labelChips,
    h("div", { className: "lesson-acts" }, button(texts.cancel, cancel, { id: "teach-it-cancel", className: "pill" }), main),
    h("p", { className: "aside" }, texts.honest));
  const run = h("div", {}, bar, numbers,
    h("div", { className: "lesson-acts" }, button(texts.stop, stop, { id: "teach-it-stop", className: "pill" })));
  let view: LessonView | undefined;

  const needed = ({ labels }: LessonView) => (labels.includes(nameOf(name.value)) ? 1 : LEAST);
  const count = () => view!.drawings.length + Number(view!.inked);
  const go = () => {
    if (main.ariaDisabled === "true") return;
    const label = nameOf(name.value);
    if (count() < needed(view!)) return keep();
    if (label) return learn(label);
    name.focus();
  };
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) go();
  });
  name.addEventListener("input", () => draw(view!));

  function draw(next: LessonView): void {
    const { drawings, inked, labels, progress, trouble, dark } = next;
    const places = needed(next), missing = places - drawings.length;
    const redrawn = view?.drawings !== drawings || view.dark !== dark || dots.childElementCount !== Math.max(places, drawings.length);
    const relabelled = view?.labels !== labels;
    view = next;
    collect.hidden = progress !== undefined;
    run.hidden = progress === undefined;
    if (progress) return drawProgress(progress);
    write(say, trouble || (count() >= places ? texts.enough : drawings.length === 0 ? texts.first : missing === 1 ? texts.once : texts.twice));
    write(main, count() >= places ? texts.learn : texts.next);
    main.ariaDisabled = String(!inked && drawings.length < places); // not `disabled`: see main.ts
    if (redrawn) drawDots(drawings, places);
    if (relabelled) labelChips.replaceChildren(...labels.map((label) =>
      button(label, () => count() > 0 && learn(label), { className: "plain", ariaLabel: texts.itIs({ label }) })));
    for (const chip of labelChips.children) chip.ariaDisabled = String(count() === 0);
  }

  function drawProgress({ step, steps, accuracy, secondsLeft }: Progress): void {
    write(say, texts.learning);
    bar.max = steps;
    bar.value = step;
    write(numbers, step === 0 ? "" : texts.step({ step: String(step), steps: String(steps), right: percentage(accuracy, 0), seconds: decimal(Math.max(1, secondsLeft), 0) }));
  }

  /** A square for each drawing that the sign needs. A click on a drawing removes it. */
  function drawDots(drawings: readonly Stroke[][], places: number): void {
    const thumbnails = drawings.map((strokes, index) => thumbnail(strokes, texts.removeDrawing({ index: index + 1 }), () => remove(index)));
    const empty = Array.from({ length: Math.max(0, places - drawings.length) }, (_, index) => h("i", { className: index === 0 ? "now" : "" }));
    dots.replaceChildren(...thumbnails.map(({ root }) => root), ...empty);
    for (const { draw } of thumbnails) draw();
  }

  return { root: h("div", {}, say, collect, run), typed: () => name.value, draw, focus: () => say.focus({ preventScroll: true }) };
}

const PIXELS = 96;

/** A button that shows a drawing and removes it. Call `draw` once it is in the page, whose colour it has. */
export function thumbnail(strokes: readonly Stroke[], text: string, remove: () => void): { root: HTMLElement; draw(): void } {
  const canvas = h("canvas", { ariaHidden: "true", width: PIXELS, height: PIXELS }), context = canvas.getContext("2d")!;
  context.scale(PIXELS / SIDE, PIXELS / SIDE);
  const root = button(canvas, remove, { className: "thumbnail", ariaLabel: text, title: text });
  const draw = () => {
    context.clearRect(0, 0, SIDE, SIDE);
    drawStrokes(context, strokes, getComputedStyle(canvas).color);
  };
  return { root, draw };
}
