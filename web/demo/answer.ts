/** The answer: its class, or the doubt in its place, for people and, in `dataset`, for programs. */
import type { State } from "./state.ts";
import { words } from "./texts/words.ts";
import { verdictOf } from "./verdict.ts";
import { waitingFor } from "./waiting.ts";
import { write } from "./write.ts";

export function showAnswer(find: (id: string) => HTMLElement, state: State, loading: boolean): void {
  const prediction = find("prediction");
  const { reading, example, strokes, model, answered, version } = state;
  const best = reading?.result.classes[0];
  const verdict = reading && verdictOf(reading.result);
  const unsure = verdict === "unsure" || verdict === "none";
  const captions = { sure: words.answer.reads, unsure: words.answer.is, none: words.answer.sees };
  const answer = unsure ? words.answer[verdict] : (best?.label ?? "");
  const letters = Math.max(...answer.split(" ").map((part) => part.length));
  const [strong, doubt] = prediction.children;
  // The opening example is not the visitor's drawing, so its answer is shown but is no result.
  prediction.dataset.label = best && !example ? best.label : "";
  prediction.dataset.p = best && !example ? String(best.p) : "";
  if (unsure && !example) prediction.dataset.uncertain = "true";
  else delete prediction.dataset.uncertain;
  prediction.classList.toggle("unsure", unsure);
  if (strong.textContent !== answer) {
    strong.textContent = answer;
    prediction.style.setProperty("--letters", String(letters)); // of the longest word
    strong.classList.remove("fresh");
    void (strong as HTMLElement).offsetWidth; // starts the animation anew
    strong.classList.add("fresh");
  }
  prediction.setAttribute("aria-busy", String(model !== undefined && answered !== version));
  write(doubt, best && verdict === "unsure" ? words.answer.perhaps(best.label) : "");
  const waiting = waitingFor(state, loading);
  write(find("caption"), example ? words.answer.example : verdict ? captions[verdict] : waiting);
  write(find("hint"), example ? words.pad.yourTurn : words.pad.hint);
  document.body.classList.toggle("blank", strokes.length === 0);
  document.body.classList.toggle("example", example);
}
