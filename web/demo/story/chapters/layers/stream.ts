/** The residual stream as a line: its stops with what the head reads, and the blocks between them. */
import type { Class } from "vitrine";
import { percent } from "../../../logits.ts";
import type { Texts } from "../../../texts/en.ts";
import { decimal } from "../../../texts/words.ts";
import { button, h } from "../../../dom.ts";
import { paperColour, svg, withStyles } from "../../../figure/parts.ts";
import { Lens, shares } from "../../lens.ts";
import type { Scene } from "../../scene.ts";
import { lengthOf, rowOf } from "../../vectors.ts";
import { keyOf, nameOf, type Part, partsOf, points, reader } from "./parts.ts";
import type { Run } from "./runs.ts";

type Words = Texts["layers"];
type Branch = "attention" | "mlp";

/** What was drawn last: the run, and the run with all parts. */
interface StreamView {
  scene: Scene;
  run: Run;
  whole: Run;
}
type Draw = (shown: StreamView) => void;

const PUSHES = 3; // how many classes a branch's words name

const readerName = ({ config }: Scene, words: Words) =>
  config.pool === "class" && config.prefix.length > 0 ? words.classToken : words.mean;

/** Builds the line for one model. Its buttons tell which part was pressed. */
export function buildStream({ config }: Scene, words: Words, press: (part: Part) => void) {
  const root = h("ol", { className: "stream" });
  const draws: Draw[] = [];
  const lenses: [title: string, lens: Lens][] = [];
  const stop = (title: string, read: (run: Run) => Class[], stage?: number) => {
    const made = buildStop(title, config.labels, words, read, stage);
    draws.push(made.draw);
    lenses.push([title, made.lens]);
    root.append(made.root);
  };
  stop(words.stage(0, config.depth), (run) => run.trace.lens(0), 0);
  for (let layer = 0; layer < config.depth; layer++) {
    const parts = partsOf(layer, config);
    const branch = (name: Branch, own: Part[]) => {
      const made = buildBranch(layer, name, own, words, press);
      draws.push(made.draw);
      root.append(made.root);
    };
    branch("attention", parts.filter(({ kind }) => kind !== "mlp"));
    stop(words.half(layer + 1), (run) => run.half[layer]!);
    branch("mlp", parts.filter(({ kind }) => kind === "mlp"));
    stop(words.stage(layer + 1, config.depth), (run) => run.trace.lens(layer + 1), layer + 1);
  }
  return { root, picture: () => pictureOf(lenses), draw: (shown: StreamView) => draws.forEach((draw) => draw(shown)) };
}

/** A stop. One of the L+1 stages also shows the stream's length. */
function buildStop(title: string, labels: readonly string[], words: Words, read: (run: Run) => Class[], stage?: number) {
  const lens = new Lens(labels);
  const says = h("strong"), lengths = h("span", { className: "lengths" });
  const root = h("li", { className: stage === undefined ? "stop half" : "stop" },
    h("p", {}, h("span", { className: "stop-title" }, title), says, lengths), lens.root);
  if (stage !== undefined) root.dataset.stage = String(stage);
  const draw: Draw = ({ scene, run, whole }) => {
    const classes = read(run), best = classes[0]!;
    lens.draw(classes, run === whole ? undefined : read(whole), (bars) => words.lensLabel(title, bars));
    says.textContent = words.says(best.label, percent(best.p));
    Object.assign(root.dataset, { label: best.label, p: String(best.p) });
    if (stage === undefined) return;
    const tokens = run.trace.tokens(stage), { width } = scene.config;
    const own = lengthOf(reader(tokens, scene.config)), patch = lengthOf(rowOf(tokens, scene.token, width));
    Object.assign(root.dataset, { length: String(own), patchLength: String(patch) });
    lengths.textContent = words.length(readerName(scene, words), decimal(own, 1), decimal(patch, 1));
  };
  return { root, lens, draw };
}

/** A block's attention or MLP: its buttons, how much it adds, and where it moves the answer. */
function buildBranch(layer: number, branch: Branch, parts: Part[], words: Words, press: (part: Part) => void) {
  const buttons = parts.map((part) => {
    const text = part.kind === "head" ? String(part.head + 1) : words[part.kind];
    return button(text, () => press(part), {
      aria: { pressed: "false", label: words.toggle(nameOf(part, words)) }, data: { part: keyOf(part) },
      className: `part ${part.kind}`,
    });
  });
  const heads = branch === "attention" ? [h("span", { className: "parts-title" }, words.heads)] : [];
  const pushes = h("p", { className: "pushes" });
  const meters = [h("div", { className: "adds" }), h("div", { className: "adds" })];
  const root = h("li", { className: "branch", data: { branch: `${layer} ${branch}` } },
    h("p", { className: "branch-title" }, branch === "attention" ? `${words.block(layer + 1)}: ${words.attention}` : words.mlp),
    h("div", { className: "parts" }, ...heads, ...buttons), h("div", { className: "sizes" }, ...meters, pushes));
  const draw: Draw = ({ scene, run }) => {
    parts.forEach((part, at) => {
      const out = run.out.some((other) => keyOf(other) === keyOf(part));
      buttons[at]!.setAttribute("aria-pressed", String(out));
    });
    const added = run.trace.added(layer, branch), tokens = run.trace.tokens(layer);
    const { width } = scene.config;
    const ratio = (of: (tokens: Float32Array) => Float32Array) => lengthOf(of(added)) / Math.max(lengthOf(of(tokens)), 1e-12);
    const own = ratio((all) => reader(all, scene.config)), patch = ratio((all) => rowOf(all, scene.token, width));
    drawMeter(meters[0]!, `${words.adds} ${readerName(scene, words)}`, own, words);
    drawMeter(meters[1]!, `${words.adds} ${words.patch}`, patch, words);
    const [before, after] = branch === "attention"
      ? [run.trace.lens(layer), run.half[layer]!]
      : [run.half[layer]!, run.trace.lens(layer + 1)];
    pushes.textContent = pushWords(before, after, scene.config.labels, words);
  };
  return { root, draw };
}

/** Half full: what is added is as long as the token where the block begins. */
function drawMeter(root: HTMLElement, name: string, ratio: number, words: Words): void {
  if (root.childElementCount === 0) root.append(h("span"), h("i", { ariaHidden: "true" }), h("b"));
  const [label, bar, number] = root.children as unknown as HTMLElement[];
  label!.textContent = name;
  bar!.style.setProperty("--p", String(ratio / (1 + ratio)));
  number!.textContent = words.added(decimal(ratio, 2));
  root.dataset.ratio = String(ratio);
}

/** The classes whose probability changes most. */
function pushWords(before: Class[], after: Class[], labels: readonly string[], words: Words): string {
  const from = shares(before);
  const moves = Array.from(shares(after), (p, index) => ({ index, by: p - from[index]! }))
    .filter(({ by }) => points(by) !== "0.0")
    .sort((a, b) => Math.abs(b.by) - Math.abs(a.by))
    .slice(0, PUSHES);
  if (moves.length === 0) return words.still;
  return words.pushes(moves.map(({ index, by }) => words.change(labels[index]!, points(by))).join(", "));
}

const TITLE = 280, ROW = 70;

/** All stops' bars below each other, with their titles, as one figure. */
function pictureOf(lenses: [title: string, lens: Lens][]): SVGSVGElement {
  const [width, height] = [TITLE + lenses[0]![1].root.width.baseVal.value, ROW * lenses.length];
  const { color, fontFamily } = getComputedStyle(document.body);
  const rows = lenses.flatMap(([title, lens], at) => {
    const bars = withStyles(lens.root);
    bars.setAttribute("x", String(TITLE));
    bars.setAttribute("y", String(at * ROW + 8));
    return [svg("text", { x: 12, y: at * ROW + 44, fill: color, "font-family": fontFamily, "font-size": 14 }, title), bars];
  });
  const ground = svg("rect", { width, height, fill: paperColour() });
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height }, ground, ...rows);
}
