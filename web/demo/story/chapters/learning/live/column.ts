/** One run on the page: how far it is, what it has learnt, and its recipe. */
import { download } from "../../../../save.ts";
import { whole } from "../../../../texts/words.ts";
import { h } from "../../../../dom.ts";
import type { Scene, Story } from "../../../scene.ts";
import { buildMeter } from "./meter.ts";
import { BREAKS, type Break, type Choices, recipeOf } from "./recipe.ts";
import type { Source } from "./own.ts";
import { buildResults } from "./results.ts";
import type { Given } from "./run.ts";
import { Trial } from "./trial.ts";

export type Column = ReturnType<typeof buildColumn>;

/** The suffix makes the ids of another run its own. `changed` is called when the run has come to another phase. */
export function buildColumn(story: Story, suffix: string, changed: () => void) {
  const words = story.texts.learning.live;
  const meter = buildMeter(words, suffix, changed), results = buildResults(story, suffix);
  const trial = new Trial(words, results, meter);
  const code = h("code"), about = h("p", { id: `learning-live-run${suffix}` });
  const showRecipe = (choices: Choices, source: Source) => (code.textContent = JSON.stringify(recipeOf(choices, source), null, 2));
  results.root.hidden = true;
  const root = h("div", { className: "live-column" }, meter.root, about, results.root,
    h("details", {}, h("summary", {}, words.recipe), h("pre", { tabIndex: 0, role: "group", ariaLabel: words.recipe }, code)));
  return {
    root, trial, meter, showRecipe,
    /** Trains by these choices, of which one may be broken, all steps or so many at first. */
    begin(chosen: Choices, given: Given, most?: number, what?: Break): void {
      const choices = { ...chosen, ...(what && BREAKS[what](chosen)) }, { source } = given;
      showRecipe(choices, source);
      about.textContent = words.about(words.kinds[choices.kind], whole(Math.min(choices.images, source.train)), what ? words.breaks[what] : "");
      results.root.hidden = false;
      void trial.start(recipeOf(choices, source), choices, given, most);
    },
    /** Saves the weights as they stand. */
    async save(): Promise<void> {
      const bytes = await trial.weights();
      if (bytes) download(new Blob([bytes]), `my-vit${suffix}.safetensors`);
    },
    /** Without a name the run is the only one. */
    name(name: string): void {
      meter.name(name);
      root.role = name ? "group" : null;
      root.ariaLabel = name || null;
    },
    draw(scene: Scene): void {
      results.theme(scene.dark);
      trial.scene = scene;
      trial.look();
    },
  };
}
