/** "Train one yourself, here": a Vision Transformer learns from nothing in this tab. */
import { download } from "../../../picture.ts";
import { whole } from "../../../texts/words.ts";
import { h } from "../../dom.ts";
import type { Scene, Story } from "../../scene.ts";
import { buildControls } from "./controls.ts";
import { haveDigits } from "./digits.ts";
import { buildPanel } from "./panel.ts";
import { BREAKS, type Break, recipeOf } from "./recipe.ts";
import { buildResults } from "./results.ts";
import { Trial } from "./trial.ts";

/** How far beyond the screen training goes on. */
const NEAR = "100% 0px";
const FILE = "my-vit.safetensors";

/** The language may change: then the chapter is built anew, and the run of the old one ends. */
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
  const code = h("code"), about = h("p", { id: "learning-live-run" });
  const showRecipe = (choices = panel.choices) => (code.textContent = JSON.stringify(recipeOf(choices), null, 2));
  const panel = buildPanel(story.texts, () => showRecipe());
  const results = buildResults(story);
  const begin = (most?: number, what?: Break) => {
    const choices = { ...panel.choices, ...(what && BREAKS[what](panel.choices)) };
    showRecipe(choices);
    about.textContent = words.about(words.kinds[choices.kind], whole(choices.images), what ? words.breaks[what] : "");
    results.root.hidden = false;
    void trial.start(recipeOf(choices), choices, most);
  };
  const controls = buildControls(words, {
    train: () => begin(),
    pause: () => trial.pause(),
    goOn: () => trial.go(),
    step: () => (trial.now === "paused" ? trial.go(1) : begin(1)),
    break: (what) => begin(undefined, what),
    save: () => void trial.weights().then((bytes) => bytes && download(new Blob([bytes]), FILE)),
  });
  const trial = new Trial(words, results, controls);
  closeLast = rest(root, trial);
  showRecipe();
  results.root.hidden = true;
  root.append(
    h("p", { className: "lead" }, words.lead), panel.root, controls.root, about, results.root,
    h("details", {}, h("summary", {}, words.recipe), h("pre", { tabIndex: 0, role: "group", ariaLabel: words.recipe }, code)));
  return [root, (scene) => {
    results.theme(scene.dark);
    trial.scene = scene;
    trial.look();
  }];
}

/** Lets the run rest while the tab is hidden or the figure far from the screen. Returns what ends it all. */
function rest(root: HTMLElement, trial: Trial): () => void {
  let near = true;
  const tell = () => trial.seen(near && !document.hidden);
  const observer = new IntersectionObserver((entries) => {
    near = entries.at(-1)!.isIntersecting;
    tell();
  }, { rootMargin: NEAR });
  observer.observe(root);
  document.addEventListener("visibilitychange", tell);
  return () => {
    observer.disconnect();
    document.removeEventListener("visibilitychange", tell);
    trial.dispose();
  };
}
