/** The elements of one score by hand, and what draws them. */
import { button, h, write } from "../../../dom.ts";
import { number, percent } from "../../../texts/words.ts";
import { formula, over, root, row, sub, sup } from "../../formula.ts";
import { patchGrid, signedScale } from "../../grid.ts";
import { productsOf } from "../../product.ts";
import { fold, whenOpen } from "../../prose.ts";
import type { Scene, Story } from "../../scene.ts";
import { tokenName } from "../../tokens.ts";
import { dot, rowOf } from "../../vectors.ts";
import { buildFollowed } from "./followed.ts";
import { type Answer, answerOf, outputOf, scaleOfShares, type Work } from "./head.ts";
import { buildHeads, buildTokens } from "./heads.ts";
import type { Stacks } from "./numbers.ts";
import { buildSpread, spreadOf } from "./pictures.ts";
import { type Player, steps } from "./play.ts";
import { buildStrip } from "./strip.ts";
import type { Words } from "./texts/en.ts";

interface Tools extends Record<"left" | "toggle" | "next" | "reset", () => void> {
  pair: Stacks;
  value: Stacks;
  whose: HTMLElement;
  point(token: number): void; // the pointer or a key came to it
  choosePatch(patch: [row: number, column: number]): void;
}

export function buildView(story: Story, own: Words, { pair, value, whose, point, left, choosePatch, ...press }: Tools) {
  const { words: common } = story;
  let patchAt = (_row: number, _col: number): number => 0; // a scene says where the patches are
  const map = patchGrid(story, {
    label: own.map, cell: 28,
    point: (row, col) => point(patchAt(row, col)),
    choose: (row, col) => choosePatch([row, col]),
  });
  const play = button(own.play, press.toggle), next = button(own.next, press.next), reset = button(own.reset, press.reset);
  const [pairName, valueName] = [h("h3"), h("h3")];
  const equation = h("p", { className: "equation" }), idle = h("p", { className: "idle" }), differs = h("p", { className: "idle" });
  const caption = h("p", { className: "play-step", aria: { live: "polite" } });
  const changed = h("p", { className: "changed-words" }), followed = buildFollowed(story, own);
  const strip = buildStrip(own, point), table = buildTokens(own), heads = buildHeads(story, own), spread = buildSpread(own);
  for (const { canvas } of [map, strip]) canvas.addEventListener("pointerleave", left);
  const shapes = h("p", { className: "shapes" }), rootText = h("p");
  const bench = h("div", { className: "bench" },
    h("div", { className: "pick" }, map.root),
    h("div", { className: "terms" }, pairName, pair.root,
      h("div", { className: "sums" }, equation, formula(sub("s", row("i", "j")), "=", over(row(sub("q", "i"), "·", sub("k", "j")), root("d")))),
      h("div", { className: "plays" }, play, next, caption)));
  const panel = h("div", { className: "panel" }, whose, idle, bench, strip.root, h("div", { className: "changing" }, followed.root, reset), changed, differs, shapes);
  const whole = formula("Attention", "(", "Q", ",", "K", ",", "V", ")", "=", "softmax", "(", over(row("Q", sup("K", "T")), root("d")), ")", "V");
  const why = fold(story, own.rootTitle, rootText, spread.root);
  const all = fold(story, own.valueTitle, h("p", {}, own.valueText), valueName, value.root, whole, table.root);
  const folds = [all, why, fold(story, own.headsTitle, ...heads.parts)];
  let measured: Scene | undefined;
  const drawTable = whenOpen(all, ({ scene, answer }: { scene: Scene; answer: Answer }) => table.draw(answer, (token) => tokenName(token, scene, common)));
  /** Its sums take T² products, so they wait until they are seen. */
  const drawSpread = whenOpen(why, (scene: Scene) => {
    if (measured === scene) return;
    const made = spreadOf((measured = scene));
    const { raw, scaled, d, products } = made;
    write(rootText, own.rootText({ pairs: products.length, d, raw: number(raw), scaled: number(scaled), with: percent(made.with), without: percent(made.without) }));
    Object.assign(why.dataset, { raw, scaled, with: made.with, without: made.without });
    spread.draw(made);
  });

  const draw = (work: Work, answer: Answer, player: Player) => {
    const { scene, query, key, head, paper } = work, { config, shape: { gridRows: rows, gridCols: columns }, dark } = scene;
    const answers = work.heads.map((other, at) => (at === scene.head ? answer : other));
    const scale = scaleOfShares(answers);
    const name = (token: number) => tokenName(token, scene, common), prefix = config.prefix.length, d = head.query.length, T = answer.scores.length;
    patchAt = (row, col) => prefix + row * columns + col;
    write(differs, differences(scene, own));
    write(idle, query >= prefix && config.pool === "class" && scene.layer === config.depth - 1 ? own.idle : "");
    write(pairName, own.pair({ query: name(query), key: name(key) }));
    write(equation, equationOf(work, answer, own));
    equation.dataset.score = String(answer.scores[key]);
    write(valueName, own.value({ key: name(key), share: percent(answer.weights[key]!) }));
    write(changed, work.changed ? changedWords(work, answer, own) : "");
    reset.ariaDisabled = String(!work.changed);
    write(play, player.playing ? own.pause : own.play);
    const step = own.steps[player.step], text = typeof step === "string" ? step : step({ d, tokens: T });
    write(caption, own.stepOf({ n: steps.indexOf(player.step) + 1, all: steps.length, text }));
    for (const step of steps) bench.classList.toggle(`reached-${step}`, player.reached(step));
    write(shapes, own.shapes({ tokens: T, d }));

    const values = player.reached("softmax") ? answer.weights.subarray(prefix) : new Float64Array(rows * columns);
    const marked = query < prefix ? {} : { marked: { row: scene.patch[0], column: scene.patch[1] } };
    map.draw({ values, rows, columns, dark, scale, under: paper, ...marked });
    drawPair(pair, work);
    drawValue(value, work, answer);
    strip.draw({ ...answer, values: head.values, key, query, marks: marksOf(scene, common), name, scale, dark, progress: player.progress(T, key) });
    heads.draw({ ...work, answers, scale });
    drawTable({ scene, answer });
    drawSpread(scene);
  };
  return { panel, folds, followed, draw };
}

/** The first token of each row of the grid, and the class token. */
function marksOf({ config, shape }: Scene, words: Story["words"]): [token: number, name: string][] {
  const rows = Array.from({ length: shape.gridRows }, (_, row): [number, string] =>
    [config.prefix.length + row * shape.gridCols, words.row({ n: row + 1 })]);
  return config.prefix[0] === "class" ? [[0, ""], ...rows] : rows;
}

const top = (list: Float64Array) => signedScale(list).signed;

function drawPair(pair: Stacks, { head, own, key, scene: { dark } }: Work): void {
  const keyOf = ({ keys }: Work["head"]) => rowOf(keys, key, head.query.length);
  const terms = productsOf(head.query, keyOf(head));
  pair.draw([
    { numbers: head.query, own: own.query, top: top(own.query) },
    { numbers: keyOf(head), own: keyOf(own), top: top(own.keys) },
    { numbers: terms, top: top(terms) },
  ], dark);
}

function drawValue(value: Stacks, { head, own, key, scene: { dark } }: Work, { weights, output }: Answer): void {
  const d = head.query.length;
  const numbers = rowOf(head.values, key, d);
  const most = top(own.values);
  value.draw([
    { numbers, own: rowOf(own.values, key, d), top: most },
    { numbers: numbers.map((number) => number * weights[key]!), top: most },
    { numbers: output, top: most },
  ], dark);
}

function equationOf({ head, key, scene }: Work, { scores }: Answer, own: Words): string {
  const d = head.query.length, whole = number(dot(head.query, rowOf(head.keys, key, d)));
  const values = { sum: whole, root: `√${d}`, score: number(scores[key]!), bias: number(head.bias[key]!) };
  return scene.config.position === "relative" ? own.sumBias(values) : own.sum(values);
}

function changedWords({ own: before }: Work, { output }: Answer, own: Words): string {
  const old = outputOf(answerOf(before).weights, before.values);
  const length = (list: Float64Array) => number(Math.hypot(...list));
  return own.changed({ moved: length(output.map((number, i) => number - old[i]!)), length: length(old) });
}

/** What is otherwise in this model than in a plain ViT. */
function differences({ config }: Scene, own: Words): string {
  const parts = [
    config.stem.length > 0 && own.stem, config.qk_norm && own.qkNorm,
    config.position === "relative" && own.relative, config.attention === "per_head" && own.perHead,
  ];
  return parts.filter((part) => part !== false).join(" ");
}
