/** The drawing, the answer and the steps, pinned beside the story; a bar above it on small screens. */
import { answerOf } from "../answer.ts";
import { fillChoices } from "../choices.ts";
import { button, h, write } from "../dom.ts";
import { percent } from "../texts/words.ts";
import { titleOf } from "../models.ts";
import { drawPad, listen } from "../pad.ts";
import { isBlank } from "../state.ts";
import type { Page, Scene, Story } from "./scene.ts";
import type { Teller } from "./teller.ts";

export const chaptersIn = (root: HTMLElement): HTMLElement[] => [...root.querySelectorAll<HTMLElement>(".chapter")];

/** Those that are steps of the walk: all but the sheet for teachers. */
export const stepsIn = (root: HTMLElement): HTMLElement[] => chaptersIn(root).filter(({ id }) => id !== "teach");

/** Returns what draws it, with the last scene of the story's model and the chapter in the middle of the screen. */
export function buildRail(root: HTMLElement, page: Page, story: Story, teller: Teller, life: AbortSignal) {
  const { state, hand, redraw, wipe } = page, { words, choices } = story;
  const rail = root.querySelector<HTMLElement>("#rail")!;
  const pad = h("canvas", { id: "rail-pad", tabIndex: 0, role: "application", ariaLabel: words.railPad });
  const keyPen = listen(pad, { ...hand, choosable: undefined, hover: undefined, moved: redraw });
  const answer = h("output", { id: "rail-answer", ariaLive: "off" }, h("strong"), h("span")); // the page announces answers already
  const place = h("p", { className: "rail-patch" });
  const clear = button(words.clear, wipe, { className: "plain small" });
  const layer = h("select", { id: "rail-layer" });
  const head = h("select", { id: "rail-head" });
  layer.addEventListener("input", () => story.choose({ layer: layer.selectedIndex }));
  head.addEventListener("input", () => story.choose({ head: head.selectedIndex }));
  const reader = choices.chips("reader", words.reader, [["plain", words.readers.plain], ["page", words.readers.stem]], "plain", (chosen) => {
    teller.reader = chosen;
    redraw();
  });
  reader.root.id = "rail-reader";
  const other = reader.root.querySelector("label:last-child span")!;
  const settings = h("div", { className: "rail-choices" }, reader.root,
    h("label", {}, words.layer, layer), h("label", {}, words.head, head), place);
  const steps = buildSteps(root, story, settings, life);
  rail.ariaLabel = words.rail;
  rail.replaceChildren(
    h("div", { className: "sheet" }, pad),
    h("div", { className: "rail-read" }, answer, clear),
    steps.root);
  let fitted: unknown;

  return (scene: Scene | undefined, here: HTMLElement | undefined, busy: boolean): void => {
    const current = scene?.version === state.version && !isBlank(state) ? scene : undefined;
    drawPad(pad, state, keyPen);
    steps.draw(here);
    const reading = current && { result: current.result, version: current.version, unfinished: current.unfinished };
    const { sign, pale, unknown } = answerOf({ ...state, choice: teller.choice, reading });
    const best = current?.result.classes[0], [word, share] = answer.children;
    write(word!, best ? sign : words.blank);
    write(share!, best && !unknown ? percent(best.p) : "");
    answer.classList.toggle("unsure", pale);
    answer.dataset.label = best?.label ?? "";
    answer.ariaBusy = String(busy);
    write(other, teller.other?.id === "digits-stem" ? words.readers.stem : titleOf(teller.other?.id ?? ""));
    if (!scene) return;
    if (fitted !== scene.model) {
      fillChoices((id) => (id === "layer" ? layer : head), scene.config);
      head.remove(0); // the story shows one head, never the mean
      fitted = scene.model;
    }
    layer.selectedIndex = scene.layer;
    head.selectedIndex = scene.head;
    write(place, isBlank(state) ? words.example : words.chosen({ row: scene.patch[0] + 1, col: scene.patch[1] + 1 }));
  };
}

/** The numbered list of the chapters below the rail's settings: on small screens both are folded. */
function buildSteps(root: HTMLElement, { walk, words }: Story, settings: HTMLElement, life: AbortSignal) {
  const chapters = chaptersIn(root), all = stepsIn(root);
  const items = chapters.map((chapter) =>
    h("li", {}, h("a", { href: `#${chapter.id}` }, chapter.querySelector("h2")!.textContent!)));
  const summary = h("summary"), done = h("p", { className: "walked" });
  const again = button(words.guess.again, () => walk.clear(), { className: "plain small" });
  const list = h("details", { className: "steps" }, summary,
    h("div", { className: "steps-panel" }, settings, h("ol", {}, ...items), done, again));
  const wide = matchMedia("(min-width: 1000px) and (min-height: 621px)");
  const unfold = () => (list.open = wide.matches);
  wide.addEventListener("change", unfold, { signal: life });
  unfold();
  for (const item of items) item.addEventListener("click", () => void unfold());
  const draw = (here: HTMLElement | undefined) => {
    const n = here ? all.indexOf(here) + 1 : 0;
    write(summary, n > 0 ? words.step({ n, all: all.length }) : words.steps);
    items.forEach((item, at) => {
      item.firstElementChild!.ariaCurrent = chapters[at] === here ? "step" : null;
      const right = walk.of(chapters[at]!.id);
      item.dataset.done = right === undefined ? "" : String(right);
    });
    const count = all.filter(({ id }) => walk.of(id) !== undefined).length;
    write(done, count > 0 ? words.guess.done({ n: count, all: all.length }) : "");
    again.hidden = count === 0;
  };
  return { root: h("nav", { ariaLabel: words.steps }, list), draw };
}
