/** Buttons that teach, stop and undo, and how far a lesson is. */
import { decimal, percentage } from "../../texts/words.ts";
import { inWords } from "../../remedy.ts";
import type { Texts } from "../../texts/en.ts";
import { button, h } from "../dom.ts";
import { svg } from "../figure.ts";
import { bySign, LEAST } from "./examples.ts";
import { learn } from "./learn.ts";
import type { Shelves } from "./shelf.ts";
import type { Scene } from "../scene.ts";

const CURVE = { width: 220, height: 48 };

/** `reads` counts how many examples the taught model reads as what they are. */
export function buildLessons(texts: Texts["teachIt"], shelves: Shelves, scene: () => Scene | undefined, reads: () => Promise<number>) {
  const status = h("p", { id: "teach-it-status", role: "status" });
  const bar = h("progress", { hidden: true, ariaLabel: texts.teach });
  const numbers = h("p", { className: "grid-legend", ariaHidden: "true" });
  const line = svg("polyline", { fill: "none", stroke: "currentColor", "stroke-width": 1.5 });
  const curve = svg("svg", { class: "loss", viewBox: `0 0 ${CURVE.width} ${CURVE.height}`, role: "img", "aria-label": texts.curve }, line);
  let lesson: AbortController | undefined;

  const say = (text: string) => (status.textContent = text);
  const teach = async () => {
    const from = scene(), { examples } = shelves.now, wanting = missing();
    if (lesson) return;
    if (wanting) return void say(wanting);
    if (!from) return; // the model has not read a drawing yet
    lesson = new AbortController();
    draw();
    say(texts.starting);
    const began = performance.now(), losses: number[] = [];
    try {
      const taught = await learn(examples, from.file, {
        signal: lesson.signal,
        onStep(at, step, steps) {
          losses.push(at.loss);
          bar.max = steps;
          bar.value = step;
          numbers.textContent = texts.step({ step, steps, loss: decimal(at.loss, 2), right: percentage(at.accuracy, 0) });
          line.setAttribute("points", pointsOf(losses, steps));
        },
      });
      const seconds = decimal((performance.now() - began) / 1000, 1);
      lesson = undefined;
      shelves.change({ examples: shelves.now.examples, taught });
      say(texts.taught(seconds, await reads(), examples.length));
    } catch (error) {
      say(lesson?.signal.aborted ? texts.stopped : texts.failed(inWords(error)));
    } finally {
      lesson = undefined;
      draw();
    }
  };
  /** What is missing before a lesson; empty if nothing is. */
  const missing = (): string => {
    const { examples } = shelves.now, known = scene()?.config.labels ?? [];
    if (examples.length === 0) return texts.noExamples;
    const few = [...bySign(examples)].find(([label, { length }]) => length < LEAST && !known.includes(label));
    return few ? texts.few(few[0], LEAST - few[1].length) : "";
  };
  const start = button(texts.teach, () => void teach(), { id: "teach-it-teach" });
  const stop = button(texts.stop, () => lesson?.abort(), { id: "teach-it-stop" });
  const undo = button(texts.undo, () => shelves.undo(), { id: "teach-it-undo" });
  const forget = button(texts.forget, () => shelves.change({ examples: [] }), { id: "teach-it-forget" });
  const draw = () => {
    start.ariaDisabled = String(lesson !== undefined); // it tells what is missing
    stop.hidden = bar.hidden = lesson === undefined;
    undo.ariaDisabled = String(!shelves.canUndo);
    forget.ariaDisabled = String(shelves.now.examples.length === 0 && !shelves.now.taught);
  };
  draw();
  return {
    root: h("div", { className: "lessons" },
      h("div", { className: "figure-tools" }, start, stop, undo, forget), bar, numbers, curve, status),
    draw,
    say,
  };
}

/** The mean loss of the epoch so far, over all steps. Its top is the first one. */
function pointsOf(losses: readonly number[], steps: number): string {
  const top = Math.max(...losses) || 1;
  return losses.map((loss, index) => [(index / steps) * CURVE.width, CURVE.height - (loss / top) * (CURVE.height - 2)]
    .map((value) => value.toFixed(1)).join()).join(" ");
}
