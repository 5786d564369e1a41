/** Buttons that start, pause, step and break a run. */
import type { Texts } from "../../../../texts/en.ts";
import { button, h } from "../../../../dom.ts";
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

export function buildControls(words: Words, presses: Presses) {
  let does: "train" | "pause" | "goOn" = "train";
  const able = (text: string, press: () => void, id = "") => {
    const made = button(text, () => made.ariaDisabled !== "true" && press(), { id, className: "plain" });
    return made;
  };
  const first = able(words.train, () => presses[does](), "learning-live-train");
  const step = able(words.step, presses.step), restart = able(words.restart, presses.train), save = able(words.save, presses.save);
  const breaks = (Object.keys(BREAKS) as Break[]).map((what) => button(words.breaks[what], () => presses.break(what), { className: "plain" }));
  const breakIt = h("span", { id: "learning-live-break" }, words.breakIt);
  /** Of the run that the buttons act on; undefined before its first press. */
  const phase = (now: Phase | undefined) => {
    does = now ? FIRST[now] : "train";
    first.textContent = words[does];
    // Not `disabled`, because a disabled button loses the keyboard's focus.
    first.ariaDisabled = String(now === "preparing");
    step.ariaDisabled = String(now === "training" || now === "preparing");
    restart.ariaDisabled = String(!now);
    save.ariaDisabled = String(!now || now === "preparing" || now === "failed");
  };
  return {
    root: h("div", { className: "live-run" },
      h("div", { className: "figure-tools" }, first, step, restart, save),
      h("div", { className: "figure-tools", role: "group", aria: { labelledby: breakIt.id } }, breakIt, ...breaks)),
    phase,
  };
}
