/** Swaps patches of the drawing, and shows what this does to the answer. */
import { shuffled } from "../../../../base/scramble.mjs";
import measured from "../../../explain/scramble.json";
import { percent } from "../../../logits.ts";
import { percentage, whole } from "../../../texts/words.ts";
import { button, h } from "../../../dom.ts";
import type { Choices } from "../../choices.ts";
import { saveable } from "../../../figure/parts.ts";
import type { Story } from "../../scene.ts";
import { saveableTable } from "../../table.ts";
import { Board } from "./board.ts";
import { type PositionKind, KINDS, type Part, type Placed } from "./kinds.ts";
import { briefly, largestChange } from "./numbers.ts";
import { pair } from "./pair.ts";
import { buildScores } from "./scores.ts";
import { write } from "../../../write.ts";

/** What the visitor chose. */
export interface Scramble {
  order: readonly number[];
  on: boolean;
  done?: string; // what the visitor did just now, until its result is told
}

export const inOrder = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const isInOrder = (order: readonly number[]) => order.every((patch, place) => patch === place);

const PATCHES = 49;
/** An order as a link holds it: a letter for each place, which names the patch there. */
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const inLetters = (order: readonly number[]) => order.map((patch) => LETTERS[patch]).join("");
function fromLetters(text: string, count: number): number[] | undefined {
  const order = [...text].map((letter) => LETTERS.indexOf(letter));
  return isInOrder([...order].sort((a, b) => a - b)) && order.length === count ? order : undefined;
}

/** What the visitor chose before, or else the image as it is. */
export const scrambleOf = (choices: Choices): Scramble =>
  ({ order: fromLetters(choices.of("order") ?? "", PATCHES) ?? inOrder(PATCHES), on: choices.of("placed") !== "off" });

/** Without positions only rounding changes the scores. Larger changes than this are real. */
const ROUNDING = 1e-4;

export function buildScramble(story: Story, scramble: Scramble, change: () => void): Part {
  const texts = story.texts.positions;
  const reorder: Reorder = (order, done) => {
    Object.assign(scramble, { order, done });
    story.choices.set("order", isInOrder(order) ? undefined : inLetters(order));
    change();
  };
  const turn = (on: boolean) => {
    Object.assign(scramble, { on, done: on ? texts.switchedOn : texts.switchedOff });
    story.choices.set("placed", on);
    change();
  };
  const boards = buildBoards(story, scramble, reorder), controls = buildControls(texts, scramble, reorder, turn);
  const verdict = buildVerdict(texts), scores = buildScores(texts), accuracy = buildAccuracy(texts);
  boards.root.append(h("div", { className: "verdict-and-scores" }, verdict.root,
    h("div", {}, saveableTable(scores.root, texts.scores))));
  const root = h("section", { className: "part" },
    h("h3", {}, texts.scrambleTitle),
    h("p", { className: "lead" }, texts.scrambleLead),
    h("p", { className: "task" }, texts.scrambleTask),
    controls.root, boards.root,
    h("p", { className: "notice-this" }, texts.scrambleNotice),
    accuracy.root);

  const draw = (placed: Placed) => {
    boards.draw(placed);
    controls.draw(placed);
    scores.draw(placed);
    accuracy.draw(placed.kind, placed.on);
    const result = verdict.draw(placed);
    if (scramble.done) story.say(`${scramble.done} ${result}`);
    scramble.done = undefined;
  };
  return { root, draw };
}

/** The drawing as it is, and as the model gets it: there patches can be swapped. */
function buildBoards(story: Story, scramble: Scramble, reorder: Reorder): Part {
  const texts = story.texts.positions;
  let shown: Placed | undefined;
  const nameOf = (place: number) => {
    const columns = shown!.shape.gridCols;
    return story.texts.story.patch(Math.floor(place / columns) + 1, (place % columns) + 1);
  };
  const before = new Board(texts.beforeLabel);
  const after = new Board(texts.afterLabel, texts.boardKeys, {
    swap(place, other) {
      const order = [...scramble.order];
      [order[place], order[other]] = [order[other]!, order[place]!];
      reorder(order, texts.swapped(nameOf(place), nameOf(other)));
    },
    hold: (place) => story.say(place === undefined ? texts.dropped : texts.held(nameOf(place))),
    point(place, byKey) {
      const patch = place === undefined ? undefined : scramble.order[place];
      if (before.marked !== patch) {
        before.marked = patch;
        before.draw();
      }
      if (byKey) story.say(patch === place ? nameOf(place!) : texts.from(nameOf(place!), nameOf(patch!)));
    },
  });
  const [readBefore, readAfter] = [h("p", { className: "read" }), h("p", { className: "read" })];
  const root = h("div", { className: "side-by-side boards" },
    h("figure", {}, h("figcaption", {}, texts.before), before.canvas, readBefore),
    h("figure", {}, h("figcaption", {}, texts.after), saveable(after.canvas, texts.afterLabel), readAfter));

  const draw = (placed: Placed) => {
    shown = placed;
    const { scene: { dark }, shape, traced: { input: image }, order } = placed;
    before.show({ image, order: inOrder(order.length), shape, dark });
    after.show({ image, order, shape, dark });
    for (const [words, { classes: [best] }] of [[readBefore, placed.before], [readAfter, placed.after]] as const) {
      write(words, texts.reads(best!.label, percent(best!.p)));
    }
  };
  return { root, draw };
}

function buildControls(texts: Words, { on }: Scramble, reorder: Reorder, turn: (on: boolean) => void): Part {
  const mix = button(texts.scramble, () => reorder(shuffled(PATCHES, Math.random), texts.scrambled), { id: "scramble" });
  const back = button(texts.back, () => reorder(inOrder(PATCHES), texts.inPlace), { id: "scramble-back" });
  const positions = h("input", { type: "checkbox", id: "scramble-positions", checked: on });
  positions.setAttribute("role", "switch");
  positions.addEventListener("change", () => turn(positions.checked));
  const root = h("div", { className: "controls" }, mix, back, h("label", { className: "switch" }, positions, texts.positions));
  const draw = ({ kind, on, order }: Placed) => {
    positions.disabled = kind === "none"; // it has none to switch off
    positions.checked = on;
    back.disabled = isInOrder(order);
  };
  return { root, draw };
}

type Words = Story["texts"]["positions"];
type Reorder = (order: readonly number[], done: string) => void;

/** The largest change of a score, as a large number and in words. */
function buildVerdict(texts: Words) {
  const number = h("output", { id: "scramble-change" }), words = h("p");
  number.setAttribute("aria-live", "off"); // story.say tells it
  const root = h("div", { className: "verdict" }, h("p", { className: "verdict-label" }, texts.largest), number, words);
  const draw = ({ before, after, order, on, kind }: Placed): string => {
    const change = largestChange(before.logits, after.logits);
    const labels = [before, after].map(({ classes }) => classes[0]!.label) as [string, string];
    write(number, briefly(change));
    Object.assign(number.dataset, { change: String(change), kind, on: String(on), order: order.join(" ") });
    write(words, isInOrder(order) ? texts.notYet
      : change <= ROUNDING ? texts.onlyRounding : texts.changed(...labels));
    root.classList.toggle("same", change <= ROUNDING);
    return `${texts.largest}: ${number.textContent}. ${words.textContent}`;
  };
  return { root, draw };
}

/** How many test digits each of the five models reads, before and after. */
function buildAccuracy(texts: Words) {
  const share = (count: number) => percentage(count / measured.digits, 1);
  const rows = KINDS.map((kind) => {
    const { before, after } = measured.right[kind];
    const bars = pair(false);
    bars.set(before, after, measured.digits);
    return h("tr", { data: { kind, before: String(before), after: String(after) } },
      h("th", { scope: "row" }, texts.kinds[kind]), h("td", {}, bars.root), h("td", {}, share(before)), h("td", {}, share(after)));
  });
  const words = h("p", { className: "lead", id: "scramble-digits" });
  const title = texts.accuracy(whole(measured.digits));
  const table = h("table", { className: "scores" }, h("caption", {}, title),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, texts.kind), h("td"),
      h("th", { scope: "col" }, texts.before), h("th", { scope: "col" }, texts.after))),
    h("tbody", {}, ...rows));
  const root = h("div", { className: "accuracy" }, words, saveableTable(table, title));
  const draw = (kind: PositionKind, on: boolean) => {
    const { before, after, without } = measured.right[kind];
    const digits = whole(measured.digits);
    write(words, kind === "none" ? texts.digitsNone(digits, share(before))
      : on ? texts.digitsOn(digits, share(before), share(after))
      : texts.digitsOff(digits, share(before), share(without)));
    for (const row of rows) row.classList.toggle("best", row.dataset.kind === kind);
  };
  return { root, draw };
}
