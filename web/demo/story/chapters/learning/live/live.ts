/** "Train one yourself, here": a Vision Transformer learns from nothing in this tab. */
import { h } from "../../../../dom.ts";
import type { Scene, Story } from "../../../scene.ts";
import { threadsToTrain } from "../../../../threads.ts";
import type { Column } from "./column.ts";
import { buildColumns } from "./columns.ts";
import { buildControls } from "./controls.ts";
import { haveDigits } from "./digits.ts";
import { buildFrom } from "./from.ts";
import { buildPanel } from "./panel.ts";
import type { Break } from "./recipe.ts";
import type { Trial } from "./trial.ts";

/** How far beyond the screen training goes on. */
const NEAR = "100% 0px";

/** The language may change: then the chapter is built anew, and the runs of the old one end. */
let closeLast = () => {};

/** Returns the figure and what draws a scene in it. */
export function buildLive(story: Story): [HTMLElement, (scene: Scene) => void] {
  closeLast();
  const words = story.texts.learning.live;
  const title = h("h3", { id: "learning-live-title" }, words.heading);
  const root = h("div", { id: "learning-live", className: "figure", role: "group", aria: { labelledby: title.id } }, title);
  if (!haveDigits) {
    root.append(h("p", { className: "without" }, words.without));
    return [root, () => {}];
  }
  const showRecipe = (column: Column) => column.showRecipe(panel.choices, from.source);
  const changed = () => {
    controls.phase(columns.acting.trial.now);
    for (const column of columns.all) if (!column.trial.now) showRecipe(column);
  };
  const columns = buildColumns(story, changed);
  const chosen = () => {
    showRecipe(columns.acting);
    changed();
  };
  const panel = buildPanel(story, chosen);
  const begin = (most?: number, what?: Break) =>
    columns.acting.begin(panel.choices, { source: from.source, threads: threadsToTrain(columns.all.length) }, most, what);
  const controls = buildControls(words, {
    train: () => begin(),
    pause: () => columns.acting.trial.pause(),
    goOn: () => columns.acting.trial.go(),
    step: () => (columns.acting.trial.now === "paused" ? columns.acting.trial.go(1) : begin(1)),
    break: (what) => begin(undefined, what),
    save: () => void columns.acting.save(),
  });
  const from = buildFrom(story.texts, () => columns.acting.meter, chosen);
  closeLast = rest(root, () => columns.all.map(({ trial }) => trial));
  changed();
  if (story.choices.of("live-two") === "on") columns.open();
  root.append(h("p", { className: "lead" }, words.lead), panel.root, from.root, columns.choice, controls.root, columns.root);
  return [root, columns.draw];
}

/** Lets the runs rest while the tab is hidden or the figure far from the screen. Returns what ends it all. */
function rest(root: HTMLElement, runs: () => Trial[]): () => void {
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
