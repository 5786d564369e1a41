/** A decoder writes: a causal mask and cross-attention at work, the cache, the order of looking in two languages, and beams. */
import { h } from "../../../dom.ts";
import { OPENING } from "../../../number/examples.ts";
import { CHOICES, type Language } from "../../../number/languages.ts";
import { loaded, onChange, state, write } from "../../../number/store.ts";
import { once } from "../../../once.ts";
import { shapeOf } from "../../../pixels.ts";
import { loads } from "../../loads.ts";
import { buildGuess, fold, whenOpen } from "../../prose.ts";
import type { ChapterBuilder, Story } from "../../scene.ts";
import { coalesce } from "../../work.ts";
import { buildOrder } from "./order.ts";
import { buildTree, continuing, outputIds, search } from "./beams.ts";
import { buildSteps } from "./steps.ts";
import type { Words } from "./texts/en.ts";
import type { Transcription } from "./view.ts";

const BEAMS = 3;
/** The step that the question asks about. */
const QUESTION_STEP = 7;

export const build: ChapterBuilder<Words> = (root, story, words) => {
  const body = h("div"), figures = once(async () => buildFigures(story, words));
  root.append(h("p", { className: "lead" }, words.lead), body);
  const draw = loads(body, story, async () => {
    await loaded();
    const { root, draw } = await figures();
    return [root, ({ dark }) => draw(dark)];
  });
  root.append(h("p", {}, words.forcing));
  const guess = buildGuess(root, story, words, async () => {
    const { config } = await loaded(), { gridRows, gridCols } = shapeOf(config);
    (await figures()).goTo(QUESTION_STEP);
    return { option: "one", words: words.truth({ kept: QUESTION_STEP - 1, patches: gridRows * gridCols }) };
  });
  return (scene) => {
    draw(scene);
    guess(scene);
  };
};

/** The number on the third tab's pad; its example while that is empty. */
const strokesNow = () => (state.strokes.length === 0 || state.example ? OPENING : state.strokes);

function buildFigures(story: Story, words: Words) {
  const steps = buildSteps(story, words), orders = [buildOrder(words), buildOrder(words)], tree = buildTree(words);
  let dark = false, strokes: Transcription["strokes"] | undefined, all = new Map<Language, Transcription>(), searched: unknown;
  const chosen = () => [first.value, second.value] as const;
  const first = story.choices.chips<Language>("written", words.language, CHOICES, "de", () => void update());
  const second = story.choices.chips<Language>("beside", words.beside, CHOICES, "en", () => void update());
  const beams = fold(story, words.beams, h("p", {}, words.beamsIs), tree.root), drawTree = whenOpen(beams, searchFor);
  const root = h("div", {},
    h("div", { className: "panel" }, h("div", { className: "words-top" }, first.root, h("a", { href: "#number" }, words.another)), steps.root),
    h("div", { className: "panel" }, h("div", { className: "words-top" }, h("h3", {}, words.order), second.root), h("p", {}, words.german),
      h("div", { className: "side-by-side orders" }, ...orders.map((order) => order.root))),
    beams);

  /** What the model writes of the strokes in a language, read once. */
  const read = async (language: Language): Promise<Transcription | undefined> => {
    const cache = all, entry = cache.get(language);
    if (entry) return { ...entry, dark };
    const ink = strokes!, model = await story.attempt(loaded()), result = model && (await story.attempt(write(model, ink, language)));
    if (!model || !result) return undefined;
    const transcription = { strokes: ink, language, result, config: model.config, shape: shapeOf(model.config), dark };
    cache.set(language, transcription);
    return transcription;
  };
  const show = coalesce(async () => {
    const [language, other] = chosen(), main = await read(language);
    if (!main) return;
    steps.draw(main);
    orders[0]!.draw(main);
    const beside = await read(other);
    if (beside) orders[1]!.draw(beside);
    drawTree(main);
  });
  const searchOn = coalesce(async ({ strokes, language, result, config }: Transcription) => {
    const { labels, end, max_tokens } = config.decoder!, nameOf = (id: number) => (id === end ? "" : labels![id]!);
    const found = await story.attempt(loaded().then((model) =>
      search(labels!.indexOf(language), end!, BEAMS, max_tokens, continuing(model, strokes))));
    if (found && searched === result) tree.draw(found, nameOf, outputIds(found.best).map(nameOf).join("").trimStart());
  });
  function searchFor(main: Transcription): void {
    if (searched === main.result) return;
    searched = main.result;
    searchOn(main);
  }
  const update = () => {
    const now = strokesNow();
    if (now !== strokes) {
      strokes = now;
      all = new Map();
    }
    show(undefined);
  };
  const stop = onChange(() => {
    if (!root.isConnected) stop();
    else if (!state.unfinished) update();
  });
  return {
    root,
    draw(isDark: boolean): void {
      dark = isDark;
      update();
    },
    goTo: steps.goTo,
  };
}
