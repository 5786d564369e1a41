/** Swaps patches of the drawing, and shows what this does to the attention matrix and to the answer. */
import { shuffled } from "../../../../base/scramble.mjs";
import { button, h } from "../../../dom.ts";
import { saveable } from "../../../figure/parts.ts";
import { percent } from "../../../logits.ts";
import { write } from "../../../write.ts";
import type { Choices } from "../../choices.ts";
import type { Story } from "../../scene.ts";
import { inkOf } from "../../tokens.ts";
import { largest } from "../../vectors.ts";
import { buildBoard } from "./board.ts";
import { type Part, patchOf, type Placed } from "./kinds.ts";
import { buildMatrices } from "./matrices.ts";
import { briefly, isInOrder, largestChange, ROUNDING } from "./numbers.ts";
import { buildLogits } from "./tables.ts";
import type { Words } from "./texts/en.ts";

/** What the visitor chose. */
export interface Scramble {
  order: readonly number[];
  on: boolean;
  done?: string; // what the visitor did just now, until its result is told
}

export const PATCHES = 49;
const inOrder = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

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

type Reorder = (order: readonly number[], done: string) => void;
type Swap = (place: number, other: number) => void;

export function buildScramble(story: Story, words: Words, scramble: Scramble, change: () => void): Part {
  let shown: Placed | undefined;
  const nameOf = (place: number) => {
    const columns = shown!.shape.gridCols;
    return story.texts.story.patch(Math.floor(place / columns) + 1, (place % columns) + 1);
  };
  const reorder: Reorder = (order, done) => {
    Object.assign(scramble, { order, done });
    story.choices.set("order", isInOrder(order) ? undefined : inLetters(order));
    change();
  };
  const swap: Swap = (place, other) => {
    const order = [...scramble.order];
    [order[place], order[other]] = [order[other]!, order[place]!];
    reorder(order, words.swapped({ a: nameOf(place), b: nameOf(other) }));
  };
  const turn = (on: boolean) => {
    Object.assign(scramble, { on, done: on ? words.switchedOn : words.switchedOff });
    story.choices.set("placed", on);
    change();
  };
  const boards = buildBoards(story, words, scramble, swap, nameOf), matrices = buildMatrices(words);
  const controls = buildControls(words, scramble, reorder, () => shown && swap(...emptiest(shown)), turn);
  const verdict = buildVerdict(words), logits = buildLogits(words);
  const root = h("div", {}, controls.root, h("div", { className: "side-by-side" },
    h("div", { className: "boards" }, ...boards.figures, ...matrices.figures),
    h("div", { className: "verdict-and-scores" }, verdict.root, logits.root, matrices.says)));
  const draw = (placed: Placed) => {
    shown = placed;
    boards.draw(placed);
    controls.draw(placed);
    logits.draw(placed);
    matrices.draw(placed);
    const result = verdict.draw(placed);
    if (scramble.done) story.say(`${scramble.done} ${result}`);
    scramble.done = undefined;
  };
  return { root, draw };
}

/** Two places to swap: that of the chosen patch and the first one with least ink; or most ink, if it is that itself. */
function emptiest(placed: Placed): [place: number, other: number] {
  const { order, shape, traced } = placed, [row, column] = patchOf(placed);
  const ink = inkOf({ result: traced, shape }), chosen = row * shape.gridCols + column;
  const least = largest(ink.map((sum) => -sum));
  return [order.indexOf(chosen), order.indexOf(least === chosen ? largest(ink) : least)];
}

/** The drawing as it is, and as the model gets it: there patches can be swapped. */
function buildBoards(story: Story, words: Words, scramble: Scramble, swap: Swap, nameOf: (place: number) => string) {
  const before = buildBoard();
  const after = buildBoard({
    keys: words.keys,
    swap,
    hold: (place) => story.say(place === undefined ? words.dropped : words.held({ place: nameOf(place) })),
    point(place, byKey) {
      const patch = place === undefined ? undefined : scramble.order[place];
      before.mark(patch);
      if (byKey) story.say(patch === place ? nameOf(place!) : words.from({ place: nameOf(place!), patch: nameOf(patch!) }));
    },
  });
  const [readBefore, readAfter] = [h("strong"), h("strong")];
  const figures = [
    h("figure", {}, h("figcaption", {}, words.before, readBefore), saveable(before.canvas, words.before)),
    h("figure", {}, h("figcaption", {}, words.after, readAfter), saveable(after.canvas, words.after))];
  const draw = (placed: Placed) => {
    const { scene: { dark }, shape, traced: { input: image }, order } = placed;
    before.show({ image, order: inOrder(order.length), shape, dark });
    after.show({ image, order, shape, dark });
    for (const [says, { classes: [best] }] of [[readBefore, placed.before], [readAfter, placed.after]] as const) {
      write(says, words.reads({ label: best!.label, share: percent(best!.p) }));
    }
  };
  return { figures, draw };
}

function buildControls(words: Words, { on }: Scramble, reorder: Reorder, swap: () => void, turn: (on: boolean) => void): Part {
  const mix = button(words.scramble, () => reorder(shuffled(PATCHES, Math.random), words.scrambled), { id: "scramble" });
  const two = button(words.swap, swap, { id: "scramble-swap" });
  const back = button(words.back, () => reorder(inOrder(PATCHES), words.inPlace), { id: "scramble-back" });
  const positions = h("input", { type: "checkbox", id: "scramble-positions", checked: on, role: "switch" });
  positions.addEventListener("change", () => turn(positions.checked));
  const root = h("div", { className: "controls" }, mix, two, back,
    h("label", { className: "switch" }, positions, words.placed));
  const draw = ({ kind, on, order }: Placed) => {
    positions.disabled = kind === "none"; // it has none to switch off
    positions.checked = on;
    back.disabled = isInOrder(order);
  };
  return { root, draw };
}

/** The largest change of a logit, as a large number and in words. */
function buildVerdict(words: Words) {
  const number = h("output", { id: "scramble-change", aria: { live: "off" } }); // story.say tells it
  const says = h("p");
  const root = h("div", { className: "verdict" }, h("p", { className: "verdict-label" }, words.change), number, says);
  const draw = ({ before, after, order, on, kind }: Placed): string => {
    const change = largestChange(before.logits, after.logits);
    const [label, now] = [before, after].map(({ classes }) => classes[0]!.label) as [string, string];
    write(number, briefly(change));
    Object.assign(number.dataset, { change: String(change), kind, on: String(on), order: order.join(" ") });
    write(says, isInOrder(order) ? words.notYet
      : change <= ROUNDING ? words.rounding
      : label === now ? words.stays({ label }) : words.turns({ before: label, after: now }));
    root.classList.toggle("same", change <= ROUNDING);
    return words.changeIs({ change: number.textContent!, says: says.textContent! });
  };
  return { root, draw };
}
