/** One run on the page: how far it is, what it has learnt, and its recipe. */
import type { Epoch, Step } from "vitrine/train";
import { h } from "../../../../dom.ts";
import { inWords } from "../../../../status.ts";
import { download } from "../../../../save.ts";
import { decimal, percentage } from "../../../../texts/words.ts";
import { coalesce } from "../../../work.ts";
import type { Scene, Story } from "../../../scene.ts";
import type { Words } from "../texts/en.ts";
import type { Source } from "./own.ts";
import { BREAKS, type Break, type Choices, recipeOf } from "./recipe.ts";
import { buildResults } from "./results.ts";
import { type Listener, type Phase, type Run, type RunOptions, buildRun, recentLoss } from "./run.ts";

/** Milliseconds between two looks at the drawing. */
const LOOK = 400;

export type Column = ReturnType<typeof buildColumn>;

/** The suffix makes the ids of another run its own. `changed` is called when the run has come to another phase. */
export function buildColumn(story: Story, words: Words["live"], suffix: string, changed: () => void) {
  const status = h("p", { id: `learning-live-status${suffix}`, className: "live-status", role: "status" });
  const bar = h("progress", { hidden: true, ariaLabel: words.progress });
  const numbers = h("p", { id: `learning-live-numbers${suffix}`, className: "live-numbers grid-legend" });
  const about = h("p", { id: `learning-live-run${suffix}` }), code = h("code"), name = h("b");
  const results = buildResults(story, words, suffix);
  results.root.hidden = true;
  const root = h("div", { className: "live-column" },
    h("div", { className: "live-meter" }, bar, numbers, status), about, results.root,
    h("details", {}, h("summary", {}, words.recipe), h("pre", { tabIndex: 0, role: "group", ariaLabel: words.recipe }, code)));

  let run: Run | undefined, scene: Scene | undefined, recent: ReturnType<typeof recentLoss>;
  let right = 0, tests = 0, lastLook = 0;
  let away = false, waiting = false; // waiting: it rests because nobody sees it

  let statusText = "";
  const say = (text: string) => {
    statusText = text;
    status.replaceChildren(...(name.textContent ? [name, " "] : []), statusText);
  };
  const showRecipe = (choices: Choices, source: Source) => (code.textContent = JSON.stringify(recipeOf(choices, source), null, 2));
  const look = coalesce<void>(async () => {
    const now = run, weights = await now?.weights();
    if (weights && now === run) await results.look(weights, scene);
    lastLook = performance.now();
  });
  /** Continues. Out of sight, the run waits until it is seen again. */
  const resume = (most?: number) => {
    waiting = away;
    if (!away) void run?.go(most);
  };
  const prepared = (done: number, all: number) => {
    Object.assign(bar, { max: all, value: done });
    numbers.textContent = words.prepared({ done, all });
  };
  const SAYS: Record<Phase, (error: unknown) => string> = {
    preparing: () => words.loading,
    training: () => words.training,
    paused: () => (waiting ? words.resting : words.paused),
    finished: () => words.finished({ right: Math.round(right * tests), images: tests, share: percentage(right, 1) }),
    failed: (error) => words.failed({ why: inWords(error) }),
  };
  const listener: Listener = {
    phase(now: Phase, error?: unknown): void {
      bar.hidden = now === "finished" || now === "failed";
      status.dataset.phase = now;
      say(SAYS[now](error));
      if (now !== "training") look();
      changed();
    },
    prepared,
    step(at: Step): void {
      const { epoch, epochs, step, steps } = at, loss = recent.add(at);
      Object.assign(bar, { max: epochs * steps, value: (epoch - 1) * steps + step });
      Object.assign(numbers.dataset, { epoch, step, loss });
      numbers.textContent = words.at({
        epoch, epochs, step, steps, loss: decimal(loss, 2), last: recent.steps, right: percentage(at.accuracy, 0),
        speed: Math.round(at.imagesPerSecond), left: Math.ceil(at.secondsLeft),
      });
      results.loss(epoch - 1 + step / steps, loss);
      if (performance.now() - lastLook > LOOK) look();
    },
    epoch({ validation }: Epoch, weights: Uint8Array<ArrayBuffer>): void {
      right = validation!.accuracy;
      results.accuracy(right, weights);
    },
  };

  return {
    root, say, prepared, showRecipe, resume,
    get phase(): Phase | undefined {
      return run?.phase;
    },
    /** Trains by these choices, of which one may be broken, all steps or that many at first. */
    async begin(chosen: Choices, options: RunOptions, most?: number, what?: Break): Promise<void> {
      const choices = { ...chosen, ...(what && BREAKS[what](chosen)) }, { source } = options, { epochs } = choices;
      const recipe = recipeOf(choices, source), images = Math.min(choices.images, source.train);
      showRecipe(choices, source);
      about.textContent = what ? words.broken({ recipe: words.kinds[choices.kind], images, change: words.breaks[what] }) : words.about({ recipe: words.kinds[choices.kind], images });
      results.root.hidden = false;
      run?.dispose();
      const mine = (run = buildRun(epochs, listener));
      waiting = false;
      tests = source.test;
      recent = recentLoss(recipe.training.batch, images);
      results.begin(epochs, source);
      listener.phase("preparing");
      await mine.prepare(recipe, images, options);
      if (mine === run) resume(most);
    },
    pause: () => run?.pause(),
    seen(isSeen: boolean): void {
      away = !isSeen;
      if (isSeen && waiting) resume();
      if (isSeen || run?.phase !== "training") return;
      waiting = true;
      run.pause();
    },
    async save(): Promise<void> {
      const bytes = await run?.weights();
      if (bytes) download(new Blob([bytes]), `my-vit${suffix}.safetensors`);
    },
    /** Names the run in what is said of it. Without a name it is the only one. */
    name(text: string): void {
      name.textContent = text;
      say(statusText);
      root.role = text ? "group" : null;
      root.ariaLabel = text || null;
    },
    draw(now: Scene): void {
      scene = now;
      results.theme(now.dark);
      look();
    },
    dispose: () => run?.dispose(),
  };
}
