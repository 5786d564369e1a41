/** One score by hand: query, key, score, softmax, values and output of one head. */
import { lessMotion } from "../../../figure/motion.ts";
import { h } from "../../../dom.ts";
import { percent } from "../../../texts/words.ts";
import { buildGuess, cite } from "../../prose.ts";
import type { ChapterBuilder, Scene } from "../../scene.ts";
import { answerOf, answersOf, copyOf, headOf, isChanged, type List, LISTS, type Work } from "./head.ts";
import { buildStacks } from "./numbers.ts";
import { buildSearch } from "./pictures.ts";
import { buildPlayer } from "./play.ts";
import type { Words } from "./texts/en.ts";
import { buildView } from "./view.ts";
import { inkOf, paperOf, tokenName } from "../../tokens.ts";
import { largest } from "../../vectors.ts";

export const build: ChapterBuilder<Words> = (root, story, own) => {
  let work: Work | undefined;

  const place = (list: List, index: number) =>
    list === "query" ? index : work!.key * work!.head.query.length + index;
  const change = (list: List) => (index: number, value: number | undefined) => {
    if (!work) return;
    player.end();
    work.head[list][place(list, index)] = value ?? work.own[list][place(list, index)]!;
    run();
  };
  const row = (list: List, sign: string, name: (values: { n: number }) => string) =>
    ({ sign, name: (i: number) => name({ n: i + 1 }), change: change(list) });
  const pair = buildStacks(row("query", "q", own.qName), row("keys", "k", own.kName), { sign: "q·k" });
  const value = buildStacks(row("values", "v", own.vName), { sign: "× %" }, { sign: "Σ" });

  const rest = buildRest();
  const point = (key: number) => {
    if (!work || key === work.key || key >= work.own.bias.length) return;
    rest.at(key);
    work.key = key;
    slide(pair.elements(1));
    show();
  };
  const whose = story.choices.chips<Asker>("query", own.whose, [["class", own.classQuery], ["patch", own.patchQuery]], "class", story.redraw);
  const view = buildView(story, own, {
    pair, value, whose: whose.root, point, toggle: () => player.toggle(), next: () => player.next(),
    left: () => point(rest.left() ?? work?.key ?? 0),
    choosePatch(patch) {
      whose.value = "patch";
      story.choices.set("query", "patch");
      story.choose({ patch });
    },
    reset() {
      if (!work?.changed) return;
      work.head = copyOf(work.own);
      story.say(own.undone);
      run();
    },
  });
  const player = buildPlayer((isNew) => {
    if (isNew && player.step === "key") slide(pair.elements(1));
    show();
  });
  const question = h("div", { className: "search-and-guess" }, buildSearch(own));
  root.append(h("p", { className: "lead" }, own.lead), question, view.panel, ...view.folds, cite(own.cite));
  const guess = buildGuess(question, story, own, async (now) => {
    const { config, result, layer, head } = now, hasClass = config.prefix[0] === "class";
    const query = hasClass ? 0 : now.token, { weights } = answerOf(headOf(now, query)), most = largest(weights);
    const ink = inkOf({ result, shape: now.shape })[most - config.prefix.length];
    const values = { head: head + 1, layer: layer + 1, share: percent(weights[most]!), token: tokenName(most, now, story.words) };
    if (most === query) return { option: "itself", words: own.onItself(values) };
    return ink === undefined ? undefined : ink > 0 ? { option: "ink", words: own.onInk(values) } : { option: "paper", words: own.onPaper(values) };
  });

  const show = () => {
    if (!work) return;
    work.changed = LISTS.some((list) => isChanged(work!.own, work!.head, list));
    view.draw(work, answerOf(work.head), player);
  };
  /** Shows the numbers, and lets the model answer with them. */
  const run = () => {
    show();
    view.followed.draw(work!);
  };
  return (scene) => {
    const hasClass = scene.config.prefix[0] === "class";
    whose.root.hidden = !hasClass;
    work = workOf(scene, hasClass && whose.value === "class" ? 0 : scene.token, work);
    run();
    guess(scene);
  };
};

/** Whose query is asked with: the chosen patch's, or the class token's. */
type Asker = "patch" | "class";

/** The scene's numbers. Changed numbers stay only as long as drawing, layer, head and query do. */
function workOf(scene: Scene, query: number, last: Work | undefined): Work {
  const { result, layer, head } = scene;
  const isSame = last?.scene.result === result && last.scene.layer === layer && last.query === query;
  const heads = isSame ? last.heads : answersOf(scene, query);
  const paper = last?.scene.result === result && last.scene.dark === scene.dark ? last.paper : paperOf(scene);
  if (isSame && last.scene.head === head) return { ...last, scene, paper };
  const own = headOf(scene, query);
  const { weights } = heads[head]!;
  const key = last && last.key < weights.length ? last.key : weights.indexOf(Math.max(...weights));
  return { scene, query, key, own, head: copyOf(own), heads, paper, changed: false };
}

const REST = 250; // milliseconds; a pointer on its way out crosses cells faster

/** Keeps what the pointer rested on when it leaves a figure. */
function buildRest() {
  let rested: number | undefined, last: number | undefined, since = 0;
  return {
    /** The pointer or a key came to an item. */
    at(item: number): void {
      const now = performance.now();
      if (now - since > REST) rested = last;
      [last, since] = [item, now];
    },
    /** The item to go back to when the pointer has left; undefined if it rested on its last one. */
    left: () => (performance.now() - since > REST ? undefined : rested),
  };
}

/** The key comes from below. */
function slide(elements: HTMLElement[]): void {
  if (lessMotion()) return;
  for (const element of elements) {
    element.animate([{ transform: "translateY(40px)", opacity: 0 }, { transform: "none", opacity: 1 }],
      { duration: 320, easing: "ease-out" });
  }
}
