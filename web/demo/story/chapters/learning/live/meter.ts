/** How far a run is. */
import type { Step } from "vitrine/train";
import type { Texts } from "../../../../texts/en.ts";
import { decimal, percentage, whole } from "../../../../texts/words.ts";
import { h } from "../../../../dom.ts";
import type { Phase } from "./run.ts";

export type Meter = ReturnType<typeof buildMeter>;

/** `changed` is called when the run has come to another phase. */
export function buildMeter(words: Texts["learning"]["live"], suffix: string, changed: () => void) {
  const status = h("p", { id: `learning-live-status${suffix}`, className: "live-status", role: "status" });
  const bar = h("progress", { hidden: true, ariaLabel: words.progress });
  const numbers = h("p", { id: `learning-live-numbers${suffix}`, className: "live-numbers grid-legend" });
  const name = h("b");
  let said = "";
  const write = () => status.replaceChildren(...(name.textContent ? [name, " "] : []), said);
  return {
    root: h("div", { className: "live-meter" }, bar, numbers, status),
    /** Names the run in what is said of it. */
    name(text: string): void {
      name.textContent = text;
      write();
    },
    phase(now: Phase): void {
      bar.hidden = now === "finished" || now === "failed";
      status.dataset.phase = now;
      changed();
    },
    say(text: string): void {
      said = text;
      write();
    },
    prepared(done: number, all: number): void {
      Object.assign(bar, { max: all, value: done });
      numbers.textContent = words.prepared(whole(done), whole(all));
    },
    step({ epoch, epochs, step, steps, loss, accuracy, imagesPerSecond, secondsLeft }: Step): void {
      Object.assign(bar, { max: epochs * steps, value: (epoch - 1) * steps + step });
      Object.assign(numbers.dataset, { epoch, step, loss });
      numbers.textContent = words.at({
        epoch, epochs, step, steps, loss: decimal(loss, 2), right: percentage(accuracy, 0),
        speed: whole(Math.round(imagesPerSecond)), left: whole(Math.ceil(secondsLeft)),
      });
    },
  };
}
