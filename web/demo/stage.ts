/** The first window: the answer, one map and one sentence about it, and a bar for each class. */
import { answerOf } from "./answer.ts";
import { element, write, writeSign } from "./dom.ts";
import { inPadUnits } from "./ink.ts";
import { drawBars } from "./logits.ts";
import { describe, paintOverlay, scaleEnd } from "./overlay.ts";
import { isBlank, type State } from "./state.ts";
import { percent, words } from "./texts/words.ts";

export function drawStage(state: State): void {
  const overlay = element<HTMLCanvasElement>("overlay");
  paintOverlay(inPadUnits(overlay), state);
  // The elements change last. After a change, whoever asks for a style makes the browser compute the styles again.
  overlay.setAttribute("aria-label", describe(state));
  drawAnswer(state);
  write(element("scale-min"), percent(0));
  write(element("scale-max"), scaleEnd(state));
  drawBars(element("bars"), state, answerOf(state).best);
}

/** Draws the answer for people and, in `dataset`, for programs. */
export function drawAnswer(state: State): void {
  const { reading, example, photo, model, answered, version } = state;
  const prediction = element("prediction"), teach = element("teach-this");
  const best = reading?.result.classes[0];
  const { sign, pale, word, detail, unknown } = answerOf(state);
  const [strong, sure] = prediction.children as unknown as HTMLElement[];
  // The opening example is not the visitor's drawing, so its answer is shown but is no result.
  prediction.dataset.label = best && !example ? best.label : "";
  prediction.dataset.p = best && !example ? String(best.p) : "";
  if (pale && !example) prediction.dataset.uncertain = "true";
  else delete prediction.dataset.uncertain;
  prediction.classList.toggle("unsure", pale);
  prediction.classList.toggle("unknown", unknown);
  if (strong!.textContent !== sign) {
    const picture = state.choice?.own?.signs.get(sign)?.picture;
    writeSign(strong as HTMLElement, sign, picture);
    prediction.style.setProperty("--letters", String(picture ? 1 : Math.max(1, sign.length)));
    strong!.classList.remove("fresh");
    void strong!.offsetWidth; // starts the animation anew
    strong!.classList.add("fresh");
  }
  prediction.setAttribute("aria-busy", String(model !== undefined && answered !== version));
  write(element("caption"), word);
  write(sure!.lastElementChild!, detail);
  teach.className = unknown ? "pill main" : "quiet";
  teach.hidden = !reading || reading.unfinished || example || photo !== undefined; // examples are strokes
  write(teach, unknown ? words.answer.teach : sign === "8" ? words.answer.notEight : words.answer.not({ label: sign }));
  write(element("hint"), example ? words.pad.yourTurn : words.pad.hint);
  const is = { blank: isBlank(state), photo: photo !== undefined, example, read: reading !== undefined };
  for (const [name, on] of Object.entries(is)) document.body.classList.toggle(name, on);
}
