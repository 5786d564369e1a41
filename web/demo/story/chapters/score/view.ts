/** The elements of one score by hand, and what draws them. */
import { type Scale, scaleOf } from "../../../../base/heat.ts";
import { percent } from "../../../logits.ts";
import type { Texts } from "../../../texts/en.ts";
import { number } from "../../../texts/words.ts";
import { cite } from "../../cite.ts";
import { button, h } from "../../../dom.ts";
import { HeatGrid, signedScale } from "../../grid.ts";
import type { Scene, Story } from "../../scene.ts";
import { tokenName } from "../../tokens.ts";
import { rowOf } from "../../vectors.ts";
import { Followed } from "./followed.ts";
import { type Answer, answerOf, outputOf, products, sum, type Work } from "./head.ts";
import { buildHeads } from "./heads.ts";
import type { Stacks } from "./numbers.ts";
import { type Player, steps } from "./play.ts";
import { Strip } from "./strip.ts";
import { buildTable, marksOf } from "./words.ts";
import { write } from "../../../write.ts";

interface Tools {
  pair: Stacks;
  value: Stacks;
  point(token: number): void;
  choosePatch(): void;
}

/** The chapter's elements and what draws them. */
export function buildView(story: Story, tools: Tools) {
  const made = makeParts(story, tools);
  const { bench, play, next, reset, whose, followed } = made;
  const { leads, task, notice, cite: source } = story.texts.score;
  const words = (className: string, text: string) => h("p", { className }, text);
  const parts = [
    ...leads.map((text) => words("lead", text)), made.differs, words("task", task), words("notice-this", notice),
    cite(source), whose, h("div", { className: "plays" }, play, next, reset), made.caption,
    bench, made.strip.root, made.table.root, made.heads.root,
  ];
  const draw = (work: Work, answer: Answer, player: Player) => {
    const answers = work.heads.map((other, head) => (head === work.scene.head ? answer : other));
    const scale = scaleOf(answers.map(({ weights }) => Float32Array.from(weights)), 1 / answer.scores.length);
    drawWords(made, work, answer, player, story.texts);
    drawMap(made, work, answer, player, scale);
    drawPair(tools.pair, work);
    drawValue(tools.value, work, answer);
    drawTokens(made, work, answer, player, scale, story.texts);
    made.heads.draw({ ...work, answers, scale });
  };
  return { parts, pointed: [made.map.canvas, made.strip.canvas], whose, play, next, reset, followed, draw };
}

type Parts = ReturnType<typeof makeParts>;
type Words = Story["texts"]["score"];

function makeParts(story: Story, { pair, value, point, choosePatch }: Tools) {
  const { texts } = story;
  const own = texts.score;
  const map = new HeatGrid({
    label: own.map, texts: texts.grid, cell: 32, rowName: (row) => texts.story.row(row + 1), columnName: (col) => texts.story.column(col + 1),
    point: (row, col) => point(made.tokenAt(row, col)),
    choose: (row, col) => {
      choosePatch();
      story.choose({ patch: [row, col] });
    },
  });
  const classKey = button(own.classKey, () => point(0));
  const plain = (text: string) => button(text, () => {});
  const [pairName, valueName] = [h("h3"), h("h3")];
  const equation = h("p", { className: "equation" });
  const changed = h("p", { className: "changed-words" }), followed = new Followed(story);
  const bench = h("div", { className: "bench" },
    h("div", { className: "pick" }, map.root, classKey),
    h("div", { className: "terms" }, pairName, pair.root, equation, valueName, value.root, changed, followed.root));
  const made = {
    map, classKey, pairName, valueName, equation, changed, followed, bench,
    play: plain(own.play), next: plain(own.next), reset: plain(own.reset),
    caption: h("p", { className: "step", aria: { live: "polite" } }),
    differs: h("p", { className: "notice-this" }), whose: h("div"),
    strip: new Strip(texts, point), table: buildTable(texts), heads: buildHeads(story),
    tokenAt: (_row: number, _col: number): number => 0, // a scene says where the patches are
  };
  return made;
}

function drawWords(made: Parts, work: Work, answer: Answer, player: Player, texts: Texts): void {
  const { scene, query, key, head } = work;
  const own = texts.score;
  const name = (token: number) => tokenName(token, scene, texts);
  write(made.differs, differences(scene, own));
  made.differs.hidden = made.differs.textContent === "";
  write(made.pairName, own.pair(name(query), name(key)));
  write(made.equation, equationOf(work, answer, own));
  made.equation.dataset.score = String(answer.scores[key]);
  write(made.valueName, own.value(name(key), percent(answer.weights[key]!)));
  write(made.changed, work.changed ? changedWords(work, answer, own) : own.unchanged);
  made.reset.ariaDisabled = String(!work.changed);
  write(made.play, player.playing ? own.pause : own.play);
  const text = own.steps[player.step](head.query.length, answer.scores.length);
  const step = own.stepOf(steps.indexOf(player.step) + 1, steps.length, text);
  write(made.caption, step);
  for (const step of steps) made.bench.classList.toggle(`reached-${step}`, player.reached(step));
}

function drawMap(made: Parts, { scene, query, paper }: Work, { weights }: Answer, player: Player, scale: Scale): void {
  const { config, shape: { gridRows: rows, gridCols: columns }, patch: [row, column], dark } = scene;
  const prefix = config.prefix.length;
  made.tokenAt = (row, col) => prefix + row * columns + col;
  made.classKey.hidden = config.prefix[0] !== "class";
  const values = player.reached("softmax") ? weights.subarray(prefix) : new Float64Array(rows * columns);
  const marked = query < prefix ? {} : { marked: { row, column } };
  made.map.draw({ values, rows, columns, dark, scale, under: paper, ...marked });
}

function drawTokens(made: Parts, work: Work, answer: Answer, player: Player, scale: Scale, texts: Texts): void {
  const { scene, query, key, head } = work;
  const name = (token: number) => tokenName(token, scene, texts);
  const progress = player.progress(answer.scores.length, key);
  const marks = marksOf(scene, texts);
  made.strip.draw({ ...answer, values: head.values, key, query, marks, name, scale, dark: scene.dark, progress });
  made.table.draw(answer, name);
}

const top = (list: Float64Array) => signedScale(list).signed;

function drawPair(pair: Stacks, { head, own, key, scene: { dark } }: Work): void {
  const d = head.query.length;
  const terms = products(head, key);
  pair.draw([
    { numbers: head.query, own: own.query, top: top(own.query) },
    { numbers: rowOf(head.keys, key, d), own: rowOf(own.keys, key, d), top: top(own.keys) },
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
  const whole = number(sum(products(head, key))), root = `√${head.query.length}`, score = number(scores[key]!);
  if (scene.config.position !== "relative") return own.sum(whole, root, score);
  return own.sumBias(whole, root, number(head.bias[key]!), score);
}

function changedWords({ own: before }: Work, { output }: Answer, own: Words): string {
  const old = outputOf(answerOf(before).weights, before.values);
  const length = (list: Float64Array) => number(Math.hypot(...list));
  return own.changed(length(output.map((number, i) => number - old[i]!)), length(old));
}

/** What is otherwise in this model than in a plain ViT. */
function differences({ config }: Scene, own: Words): string {
  const parts = [
    config.stem.length > 0 && own.stem, config.qk_norm && own.qkNorm,
    config.position === "relative" && own.relative, config.attention === "per_head" && own.perHead,
  ];
  return parts.filter((part) => part !== false).join(" ");
}
