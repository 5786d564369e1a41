/** Buttons that start, pause, step and break a run, and how far it is. */
import type { Step } from "vitrine/train";
import type { Texts } from "../../../texts/en.ts";
import { decimal, percentage, whole } from "../../../texts/words.ts";
import { button, h } from "../../dom.ts";
import { BREAKS, type Break } from "./recipe.ts";
import type { Phase } from "./run.ts";

export interface Presses {
  train(): void;
  pause(): void;
  goOn(): void;
  step(): void;
  break(what: Break): void;
  save(): void;
}

type Words = Texts["learning"]["live"];

/** What the first button does in each phase. */
const FIRST = {
  preparing: "pause", training: "pause", paused: "goOn", finished: "train", failed: "train",
} as const satisfies Record<Phase, keyof Presses>;

export type Controls = ReturnType<typeof buildControls>;

export function buildControls(words: Words, presses: Presses) {
  const status = h("p", { id: "learning-live-status", role: "status" });
  const bar = h("progress", { hidden: true, ariaLabel: words.progress });
  const numbers = h("p", { id: "learning-live-numbers", className: "grid-legend" });
  let does: "train" | "pause" | "goOn" = "train";
  const able = (text: string, press: () => void, id = "") => {
    const made = button(text, () => made.ariaDisabled !== "true" && press(), { id, className: "plain" });
    return made;
  };
  const first = able(words.train, () => presses[does](), "learning-live-train");
  const step = able(words.step, presses.step), restart = able(words.restart, presses.train), save = able(words.save, presses.save);
  const breaks = (Object.keys(BREAKS) as Break[]).map((what) => button(words.breaks[what], () => presses.break(what), { className: "plain" }));
  const breakIt = h("span", { id: "learning-live-break" }, words.breakIt);
  const phase = (now: Phase | undefined) => {
    does = now ? FIRST[now] : "train";
    first.textContent = words[does];
    // Not `disabled`, because a disabled button loses the keyboard's focus.
    first.ariaDisabled = String(now === "preparing");
    step.ariaDisabled = String(now === "training" || now === "preparing");
    restart.ariaDisabled = String(!now);
    save.ariaDisabled = String(!now || now === "preparing" || now === "failed");
    bar.hidden = !now || now === "finished" || now === "failed";
    status.dataset.phase = now ?? "";
  };
  phase(undefined);
  return {
    root: h("div", { className: "live-run" },
      h("div", { className: "figure-tools" }, first, step, restart, save),
      h("div", { className: "figure-tools", role: "group", aria: { labelledby: breakIt.id } }, breakIt, ...breaks),
      bar, numbers, status),
    phase,
    say(text: string): void {
      status.textContent = text;
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
