/** "Train one yourself, here": a Vision Transformer learns from nothing in this tab; a second one beside it, if wished. */
import { button, chips, h } from "../../../../dom.ts";
import { threadsToTrain } from "../../../../threads.ts";
import type { Scene, Story } from "../../../scene.ts";
import type { Words } from "../texts/en.ts";
import { buildColumn, type Column } from "./column.ts";
import { buildImages, haveDigits } from "./images.ts";
import { buildPanel } from "./panel.ts";
import { BREAKS, type Break } from "./recipe.ts";

/** How far beyond the screen training continues. */
const NEAR = "100% 0px";

/** The language may change: then the chapter is built anew, and the runs of the old one end. */
let closeLast = () => {};

export function buildLive(story: Story, words: Words["live"]): [HTMLElement, (scene: Scene) => void] {
  closeLast();
  const root = h("div", { id: "learning-live", role: "group", ariaLabel: words.heading });
  if (!haveDigits) {
    root.append(h("p", { className: "without" }, words.without));
    return [root, () => {}];
  }
  const first = buildColumn(story, words, "", () => changed());
  let all: readonly Column[] = [first], acting = first, scene: Scene | undefined;
  const columns = h("div", { className: "live-columns" }, first.root);

  // ---- The buttons act on one run
  const begin = (most?: number, what?: Break) =>
    void acting.begin(panel.choices, { source: images.source, threads: threadsToTrain(all.length) }, most, what);
  const act = (text: string, press: () => void, id = "") => {
    const made = button(text, () => made.ariaDisabled !== "true" && press(), { id, className: "plain" });
    return made;
  };
  const FIRST = { train: () => begin(), pause: () => acting.pause(), resume: () => acting.resume() };
  let does: keyof typeof FIRST = "train";
  const train = act(words.train, () => FIRST[does](), "learning-live-train");
  const step = act(words.step, () => (acting.phase === "paused" ? acting.resume(1) : begin(1)));
  const restart = act(words.restart, () => begin()), save = act(words.save, () => void acting.save());
  const breakIt = h("span", { id: "learning-live-break" }, words.breakIt);
  const breaks = (Object.keys(BREAKS) as Break[]).map((what) => button(words.breaks[what], () => begin(undefined, what), { className: "plain" }));
  const buttons = h("div", { className: "live-run" },
    h("div", { className: "figure-tools" }, train, step, restart, save),
    h("div", { className: "figure-tools", role: "group", aria: { labelledby: breakIt.id } }, breakIt, ...breaks));
  /** The run that the buttons act on is another one, or in another phase. */
  const changed = () => {
    const { phase } = acting, busy = phase === "preparing" || phase === "training";
    does = busy ? "pause" : phase === "paused" ? "resume" : "train";
    train.textContent = words[does];
    // Not `disabled`, because a disabled button loses the keyboard's focus.
    train.ariaDisabled = String(phase === "preparing");
    step.ariaDisabled = String(busy);
    restart.ariaDisabled = String(!phase);
    save.ariaDisabled = String(!phase || phase === "preparing" || phase === "failed");
    for (const column of all) if (!column.phase) column.showRecipe(panel.choices, images.source);
  };
  const chosen = () => {
    acting.showRecipe(panel.choices, images.source);
    changed();
  };
  const panel = buildPanel(story, words, chosen), images = buildImages(words, () => acting, chosen);

  // ---- One run, or two
  const two = h("input", { id: "live-two", type: "checkbox" }), choice = h("div", { className: "live-two" }, h("label", {}, two, words.two));
  const actOn = (column: Column) => {
    acting = column;
    changed();
  };
  const open = () => {
    const second = buildColumn(story, words, "-2", changed);
    two.checked = true;
    all = [first, second];
    first.name(words.runs.first);
    second.name(words.runs.second);
    columns.append(second.root);
    choice.append(chips(words.acts, [["first", words.runs.first], ["second", words.runs.second]], "first", (name) => actOn(name === "first" ? first : second)).root);
    changed();
    if (scene) second.draw(scene);
  };
  const close = () => {
    const [, second] = all;
    all = [first];
    first.name("");
    second!.dispose();
    second!.root.remove();
    choice.lastElementChild!.remove();
    actOn(first);
  };
  two.addEventListener("change", () => {
    story.choices.set("live-two", two.checked);
    return two.checked ? open() : close();
  });

  closeLast = rest(root, () => all);
  changed();
  if (story.choices.of("live-two") === "on") open();
  root.append(buttons, h("p", {}, words.lead), panel.root, images.root, choice, columns);
  return [root, (now) => {
    scene = now;
    for (const column of all) column.draw(now);
  }];
}

/** Lets the runs rest while the tab is hidden or the figure far from the screen. Returns what ends it all. */
function rest(root: HTMLElement, runs: () => readonly Column[]): () => void {
  let near = true;
  const tell = () => {
    for (const run of runs()) run.seen(near && !document.hidden);
  };
  const observer = new IntersectionObserver((entries) => {
    near = entries.at(-1)!.isIntersecting;
    tell();
  }, { rootMargin: NEAR });
  observer.observe(root);
  document.addEventListener("visibilitychange", tell);
  return () => {
    observer.disconnect();
    document.removeEventListener("visibilitychange", tell);
    for (const run of runs()) run.dispose();
  };
}
