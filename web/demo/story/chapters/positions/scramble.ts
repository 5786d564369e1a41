/** Swaps patches of the drawing, and shows what this does to the attention matrix and to the answer. */
import { shuffled } from "../../../../base/scramble.mjs";
import { button, h, write } from "../../../dom.ts";
import { saveable } from "../../../figure/parts.ts";
import { percent } from "../../../texts/words.ts";
import type { Choices } from "../../choices.ts";
import type { Story } from "../../scene.ts";
import { inkOf } from "../../tokens.ts";
import { largest } from "../../vectors.ts";
import { buildBoard } from "./board.ts";
import { type Comparison, type Part, patchOf } from "./kinds.ts";
import { buildMatrices } from "./matrices.ts";
import { briefly, isInOrder, largestChange, ROUNDING } from "./numbers.ts";
import { buildLogits } from "./tables.ts";
import type { Words } from "./texts/en.ts";

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

export function buildScramble(story: Story, words: Words, scramble: Scramble, change: () => void): Part {
  let current: Comparison | undefined;
  const nameOf = (place: number) => {
    const columns = current!.shape.gridCols;
    return story.words.patch({ row: Math.floor(place / columns) + 1, col: (place % columns) + 1 });
  };
  const reorder = (order: readonly number[], done: string) => {
    Object.assign(scramble, { order, done });
    story.choices.set("order", isInOrder(order) ? undefined : inLetters(order));
    change();
  };
  const swap = (place: number, other: number) => {
    const order = [...scramble.order];
    [order[place], order[other]] = [order[other]!, order[place]!];
    reorder(order, words.swapped({ a: nameOf(place), b: nameOf(other) }));
  };

  // The drawing as it is, and as the model gets it: there patches can be swapped.
  const before = buildBoard(), reads = [h("strong"), h("strong")];
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
  const boards = [[before, words.before], [after, words.after]] as const;

  const mix = button(words.scramble, () => reorder(shuffled(PATCHES, Math.random), words.scrambled), { id: "scramble" });
  const two = button(words.swap, () => current && swap(...emptiest(current)), { id: "scramble-swap" });
  const back = button(words.back, () => reorder(inOrder(PATCHES), words.inPlace), { id: "scramble-back" });
  const positions = h("input", { type: "checkbox", id: "scramble-positions", checked: scramble.on, role: "switch" });
  positions.addEventListener("change", () => {
    const on = positions.checked;
    Object.assign(scramble, { on, done: on ? words.switchedOn : words.switchedOff });
    story.choices.set("placed", on);
    change();
  });

  /** The largest change of a logit, as a large number and in words. */
  const changed = h("output", { id: "scramble-change", ariaLive: "off" }), says = h("p"); // story.say tells it
  const verdict = h("div", { className: "verdict" }, h("p", { className: "verdict-label" }, words.change), changed, says);
  const drawVerdict = ({ before, after, order, on, kind }: Comparison) => {
    const most = largestChange(before.logits, after.logits), [label, now] = [before.classes[0]!.label, after.classes[0]!.label];
    write(changed, briefly(most));
    Object.assign(changed.dataset, { change: most, kind, on, order: order.join(" ") });
    write(says, isInOrder(order) ? words.notYet
      : most <= ROUNDING ? words.rounding
      : label === now ? words.stays({ label }) : words.turns({ before: label, after: now }));
    verdict.classList.toggle("same", most <= ROUNDING);
    if (scramble.done) story.say(`${scramble.done} ${words.changeIs({ change: changed.textContent!, says: says.textContent! })}`);
    scramble.done = undefined;
  };

  const matrices = buildMatrices(words), logits = buildLogits(words);
  const root = h("div", {},
    h("div", { className: "controls" }, mix, two, back, h("label", { className: "switch" }, positions, words.placed)),
    h("div", { className: "side-by-side" },
      h("div", { className: "boards" },
        ...boards.map(([{ canvas }, label], at) => h("figure", {}, h("figcaption", {}, label, reads[at]!), saveable(canvas, label))), ...matrices.figures),
      h("div", { className: "verdict-and-scores" }, verdict, logits.root, matrices.says)));
  const draw = (comparison: Comparison) => {
    current = comparison;
    const { kind, on, order, shape, scene: { dark }, traced: { input: image } } = comparison;
    before.show({ image, order: inOrder(order.length), shape, dark });
    after.show({ image, order, shape, dark });
    [comparison.before, comparison.after].forEach(({ classes: [best] }, at) => write(reads[at]!, words.reads({ label: best!.label, share: percent(best!.p) })));
    positions.disabled = kind === "none"; // it has none to switch off
    positions.checked = on;
    back.disabled = isInOrder(order);
    logits.draw(comparison);
    matrices.draw(comparison);
    drawVerdict(comparison);
  };
  return { root, draw };
}

/** Two places to swap: that of the chosen patch and the first one with least ink; or most ink, if it is that itself. */
function emptiest(comparison: Comparison): [place: number, other: number] {
  const { order, shape, traced } = comparison, [row, column] = patchOf(comparison);
  const ink = inkOf({ result: traced, shape }), chosen = row * shape.gridCols + column;
  const least = largest(ink.map((sum) => -sum));
  return [order.indexOf(chosen), order.indexOf(least === chosen ? largest(ink) : least)];
}
