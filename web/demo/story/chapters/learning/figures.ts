/** The figures of one snapshot, and of all of them. */
import accuracy from "../../../explain/accuracy.json";
import { snapshot } from "../../../explain/models.ts";
import { percent } from "../../../logits.ts";
import { Bars } from "../../bars.ts";
import { h } from "../../../dom.ts";
import { player, playing } from "../../../figure/parts.ts";
import { HeatGrid } from "../../grid.ts";
import type { Scene, Story, Traced } from "../../scene.ts";
import { patchIn } from "../../tokens.ts";
import { cosines, positionsOf } from "../../vectors.ts";
import type { Texts } from "../../../texts/en.ts";
import { decimal, number, whole } from "../../../texts/words.ts";
import { Answers } from "./answers.ts";
import { buildCurves, STOP } from "./curves.ts";
import { buildFilters, type Filters } from "./filters.ts";
import { nearAndFar } from "./similarity.ts";

const START = 10; // the stop that is shown first: it has begun to learn
const PLAY = 9000; // milliseconds
const { images, right, loss } = accuracy.learning;
const DIGITS = Array.from({ length: 10 }, (_, digit) => String(digit));
const shares = right.map((count) => count / images);

/** A snapshot's reading of the drawing. */
interface SnapshotReading {
  at: number;
  result: Traced;
  cosines: Float32Array;
}

export function buildFigures(steps: readonly number[], filters: Filters, story: Story): [HTMLElement, (scene: Scene) => void] {
  const { learning: texts } = story.texts;
  const answers = new Answers(story, DIGITS.length, steps.length);
  const parts = build(steps, filters, story, () => {
    if (range.value === stop) return;
    stop = range.value;
    void read().then(announce);
  });
  const { range, say } = parts;
  let stop = range.value;
  let scene: Scene | undefined, shown: SnapshotReading | undefined;
  let asked = 0;

  const paintSeries = () => {
    if (!scene) return;
    const { dark } = scene, { final, settled, p } = answers, at = range.valueAsNumber, columns = steps.length;
    const digit = final === undefined ? undefined : { label: DIGITS[final]!, p: answers.row(final) };
    parts.curves({ at, accuracy: shares, dark, ...(digit && { digit }) });
    const scale = { top: 1, uniform: columns / p.length };
    parts.strip.draw({ values: p, rows: p.length / columns, columns, scale, dark, marked: { column: at } });
    const words = settled !== undefined && digit && texts.settled(whole(steps[settled]!), digit.label);
    parts.settled.textContent = words || "";
    parts.settled.dataset.step = settled === undefined ? "" : String(steps[settled]);
  };

  const paintSnapshot = () => {
    if (!scene || !shown) return;
    write(parts, shown, steps[shown.at]!, texts);
    parts.bars.draw(shown.result.classes);
    parts.filters(shown.at, scene.dark);
    drawPositions(parts, shown, scene, story);
    drawAttention(parts, shown, scene, story);
  };

  /** Reads the drawing at the chosen stop. If another stop is asked for meanwhile, that one is shown. */
  const read = async () => {
    if (!scene) return;
    const mine = ++asked, now = scene, at = range.valueAsNumber;
    const result = await story.classify(now, { attention: true, trace: true }, await snapshot(at)) as Traced | undefined;
    if (mine !== asked || !result) return;
    const { tokens, prefix } = result.attention, positions = positionsOf(result.trace), width = positions.length / tokens;
    shown = { at, result, cosines: cosines(positions.subarray(prefix * width), width) };
    paintSnapshot();
    paintSeries();
    void answers.follow(now, paintSeries);
  };

  /** Says what the slider does not say itself: a stop chosen in the strip, and the end of Play. */
  const announce = () => {
    const end = range.value === range.max && document.activeElement !== range;
    if (end || document.activeElement === parts.strip.canvas) story.say(say.textContent);
  };
  return [parts.root, (next) => {
    const same = scene?.version === next.version;
    scene = next;
    if (!same || !shown) return void read();
    paintSnapshot();
    paintSeries();
  }];
}

type Parts = ReturnType<typeof build>;

function build(steps: readonly number[], filters: Filters, story: Story, moved: () => void) {
  const { learning: texts, grid: words } = story.texts;
  const stops = story.choices.slider("step", texts.slider, [0, steps.length - 1, 1], START, moved);
  const { label: control, input: range, move } = stops;
  range.id = "learning-step";
  const say = h("output", { id: "learning-says", aria: { live: "off" } }); // the slider's value says it
  const [curvesFigure, curves] = buildCurves(steps, story.texts);
  const [filtersFigure, drawFilters] = buildFilters(filters, story.texts);
  const square = {
    texts: words, rowName: (row: number) => story.texts.story.row(row + 1), columnName: (column: number) => story.texts.story.column(column + 1), cell: 24,
    choose: (row: number, column: number) => story.choose({ patch: [row, column] }),
  };
  const parts = {
    root: h("div"),
    control: h("div", { className: "learning-control" }, control, player(texts.play, playing(stops, PLAY)), say),
    range, say, curvesFigure, curves, filtersFigure,
    filters: drawFilters,
    test: h("p", { className: "learning-test" }),
    settled: h("p", { className: "learning-settled" }),
    bars: new Bars(texts.bars, DIGITS),
    strip: new HeatGrid({
      label: texts.strip, texts: words, cell: STOP,
      rowName: (row) => texts.digit(DIGITS[row]!),
      columnName: (column) => texts.step(whole(steps[column]!)),
      choose: (_, column) => move(column),
    }),
    positions: new HeatGrid({ ...square, label: texts.positions, number }),
    positionsWords: h("figcaption", { id: "learning-near" }),
    attention: new HeatGrid({ ...square, label: texts.attention }),
    attentionWords: h("figcaption"),
  };
  const { learning } = story.texts;
  parts.root.append(...layOut(parts, learning, learning.spacing(steps.length, whole(steps.at(-1)!))));
  return parts;
}

function layOut(parts: Omit<Parts, "root">, texts: Texts["learning"], spacing: string): Node[] {
  const figure = (title: string, ...inside: Node[]) => h("figure", {}, h("h3", {}, title), ...inside);
  const rows = h("ol", { aria: { hidden: "true" } }, ...DIGITS.map((label) => h("li", {}, label)));
  return [
    parts.control, parts.test, h("p", { className: "cite" }, spacing),
    h("div", { className: "learning-read" },
      figure(texts.bars, parts.bars.root),
      figure(texts.strip, h("div", { className: "learning-strip" }, rows, parts.strip.root), parts.settled),
      figure(texts.curves, parts.curvesFigure, h("figcaption", {}, texts.curvesLegend(whole(images))))),
    h("div", { className: "side-by-side" },
      figure(texts.positions, parts.positions.root, parts.positionsWords),
      figure(texts.attention, parts.attention.root, parts.attentionWords)),
    figure(texts.filters, parts.filtersFigure),
  ];
}

/** Writes what the snapshot says, and how good it is on test images. */
function write({ say, range, test }: Parts, { at, result }: SnapshotReading, step: number, texts: Texts["learning"]): void {
  const { label, p } = result.classes[0]!;
  say.textContent = texts.says(whole(step), label, percent(p));
  Object.assign(say.dataset, { step: String(step), label, p: String(p) });
  range.setAttribute("aria-valuetext", say.textContent);
  test.textContent = texts.test(whole(images), percent(shares[at]!), decimal(loss[at]!, 2));
}

function drawPositions({ positions, positionsWords }: Parts, { cosines: all, result }: SnapshotReading, scene: Scene, { texts }: Story): void {
  const [rows, columns] = result.attention.grid;
  const [row, column] = patchIn(scene, rows, columns), from = row * columns + column, patches = rows * columns;
  const values = all.subarray(from * patches, (from + 1) * patches);
  positions.draw({ values, rows, columns, scale: { signed: 1 }, dark: scene.dark, marked: { row, column } });
  const { near, far } = nearAndFar(all, columns);
  positionsWords.textContent = texts.learning.nearAndFar(number(near), number(far));
  Object.assign(positionsWords.dataset, { near: String(near), far: String(far) });
}

function drawAttention({ attention: grid, attentionWords }: Parts, { result }: SnapshotReading, scene: Scene, { texts }: Story): void {
  const { attention } = result;
  const [rows, columns] = attention.grid;
  const layer = Math.min(scene.layer, attention.layers - 1), head = Math.min(scene.head, attention.heads - 1);
  const [row, column] = patchIn(scene, rows, columns);
  const values = attention.fromClass(layer, head), scale = { top: 1, uniform: 1 / attention.tokens };
  grid.draw({ values, rows, columns, scale, dark: scene.dark, marked: { row, column } });
  attentionWords.textContent = texts.learning.attentionWords(layer + 1, attention.layers, head + 1, attention.heads);
}
