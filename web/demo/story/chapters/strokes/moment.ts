/** One moment: the unfinished drawing, and the answer for it. */
import { css, tone } from "../../../colour.ts";
import { drawStroke, inPadUnits, type Stroke } from "../../../ink.ts";
import { percent } from "../../../logits.ts";
import { accent } from "../../../pixels.ts";
import type { Texts } from "../../../texts/en.ts";
import { h } from "../../../dom.ts";
import { colourOfClass } from "./strip.ts";
import type { Sample } from "./sweep.ts";

const BEST = 3; // classes that are named

export interface Moment {
  sample: Sample;
  share: string;
  unfinished: Stroke[];
  whole: Stroke[];
  labels: readonly string[];
  dark: boolean;
}

export function buildMoment(texts: Texts["strokes"]) {
  const canvas = h("canvas", { id: "strokes-then" });
  canvas.setAttribute("role", "img");
  const words = h("p", { id: "strokes-words" });
  const list = h("ol");
  const root = h("div", { className: "moment" }, h("div", { className: "sheet" }, canvas), h("div", {}, words, list));

  return {
    root,
    /** Returns the moment in words. */
    draw({ sample, share, unfinished, whole, labels, dark }: Moment): string {
      drawDrawings(canvas, unfinished, whole, dark);
      const best = [...sample.p.keys()].sort((a, b) => sample.p[b]! - sample.p[a]!).slice(0, BEST);
      const p = sample.p[best[0]!]!;
      const text = sample.label ? texts.moment(share, sample.label, percent(p)) : texts.blank(share);
      words.textContent = text;
      canvas.setAttribute("aria-label", text);
      Object.assign(words.dataset, { label: sample.label, p, at: sample.at });
      list.replaceChildren(...(sample.label ? best : []).map((k) => {
        const bar = h("i");
        bar.style.width = `${(100 * sample.p[k]!).toFixed(1)}%`;
        bar.style.backgroundColor = colourOfClass(k);
        const share = h("span", {}, percent(sample.p[k]!));
        return h("li", {}, h("b", {}, labels[k]!), h("span", { className: "track" }, bar), share);
      }));
      return text;
    },
  };
}

/** What was to come is pale; a spot marks the pen. */
function drawDrawings(canvas: HTMLCanvasElement, unfinished: Stroke[], whole: Stroke[], dark: boolean): void {
  const context = inPadUnits(canvas);
  context.strokeStyle = css(tone(0.18, dark));
  for (const stroke of whole) drawStroke(context, stroke);
  context.strokeStyle = css(tone(1, dark));
  for (const stroke of unfinished) drawStroke(context, stroke);
  const pen = unfinished.at(-1)?.at(-1);
  if (!pen) return;
  context.fillStyle = css(accent(dark));
  context.beginPath();
  context.arc(pen.x, pen.y, 9, 0, 2 * Math.PI);
  context.fill();
}
