/** The token stream as a road: its stages with what the classifier reads, and between them the blocks with their parts. */
import type { Class } from "vitrine";
import { button, h, write } from "../../../dom.ts";
import { oneStop } from "../../../figure/cells.ts";
import { saveable } from "../../../figure/parts.ts";
import { percent, signed } from "../../../texts/words.ts";
import { buildLens } from "../../lens.ts";
import { keyOf, logOdds, type Part, type Run } from "./runs.ts";
import type { Words } from "./texts/en.ts";

/** `top` is the largest log-odds of the stages, which ends their scale. */
type Draw = (run: Run, whole: Run, top: number) => void;

export const nameOf = ({ kind, layer, head }: Part, { names }: Words): string =>
  kind === "head" ? names.head({ block: layer + 1, head: head + 1 }) : names.mlp({ block: layer + 1 });

/** Builds the road for one model. Its buttons tell which part was pressed. */
export function buildStrip(blocks: Part[][], labels: readonly string[], words: Words, press: (part: Part) => void) {
  const stages = Array.from({ length: blocks.length + 1 }, (_, stage) => buildStage(stage, blocks.length, labels, words));
  const between = blocks.map((parts, layer) => buildBlock(layer, parts, words, press));
  const odds = h("p", { className: "odds-of" });
  const list = h("ol", { className: "road", ariaLabel: words.figure }, ...stages.flatMap(({ root }, at) => [root, ...between.slice(at, at + 1).map(({ root }) => root)]));
  oneStop(between.flatMap(({ buttons }) => buttons), blocks[0]!.length);
  const root = h("div", { role: "group", aria: { label: words.parts, description: words.keys } }, odds, list);
  const draw = (run: Run, whole: Run) => {
    const { label, index } = whole.classes[0]!;
    const top = Math.max(...[run, whole].flatMap(({ trace }) => stages.map((_, stage) => Math.abs(logOdds(trace.lens(stage), index)))));
    write(odds, words.odds({ label }));
    for (const each of [...stages, ...between]) each.draw(run, whole, top);
  };
  return { root, draw };
}

function buildStage(stage: number, depth: number, labels: readonly string[], words: Words) {
  const lens = buildLens(labels), title = words.stage({ n: stage });
  const says = h("strong"), odds = h("span"), bar = h("i", { ariaHidden: "true" });
  const note = stage === 0 ? words.begin : stage === depth ? words.end : "";
  const root = h("li", { className: "stage", data: { stage: String(stage) } },
    h("p", {}, title, h("small", {}, note)), saveable(lens.root, title), says, h("span", { className: "odds" }, bar, odds));
  const draw: Draw = (run, whole, top) => {
    const classes = run.trace.lens(stage), best = classes[0]!, own = logOdds(classes, whole.classes[0]!.index);
    const before = run === whole ? undefined : whole.trace.lens(stage);
    lens.draw(classes, before, (bars) => words.bars({ stage: title, bars }));
    write(says, words.says({ label: best.label, share: percent(best.p) }));
    write(odds, signed(own));
    bar.style.setProperty("--z", (own / top).toFixed(3));
    Object.assign(root.dataset, { label: best.label, p: best.p, odds: own });
  };
  return { root, draw };
}

/** A block: the buttons of its parts, and what its attention and its MLP add to the answer's log-odds. */
function buildBlock(layer: number, parts: Part[], words: Words, press: (part: Part) => void) {
  const buttons = parts.map((part) => button(part.kind === "head" ? String(part.head + 1) : words.mlp, () => press(part), {
    aria: { pressed: "false", label: words.toggle({ part: nameOf(part, words) }) }, data: { part: keyOf(part) }, className: "part" }));
  const [attention, mlp] = [h("b"), h("b")];
  const root = h("li", { className: "block", data: { block: String(layer) } }, h("p", {}, words.block({ n: layer + 1 })),
    h("span", { className: "branch" }, words.attention, ...buttons.slice(0, -1), attention),
    h("span", { className: "branch" }, buttons.at(-1)!, mlp));
  const draw: Draw = (run, whole) => {
    const of = (classes: Class[]) => logOdds(classes, whole.classes[0]!.index);
    const [before, half, after] = [of(run.trace.lens(layer)), of(run.half[layer]!), of(run.trace.lens(layer + 1))];
    for (const [element, push] of [[attention, half - before], [mlp, after - half]] as const) {
      write(element, signed(push));
      element.dataset.push = String(push);
    }
    parts.forEach((part, at) => (buttons[at]!.ariaPressed = String(run.out.includes(part))));
  };
  return { root, buttons, draw };
}
