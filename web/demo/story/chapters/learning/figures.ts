/** What the snapshots make of the drawing: the one at the chosen stop, and all of them. */
import { h } from "../../../dom.ts";
import { scaleOf } from "../../../../base/heat.ts";
import { learning } from "../../../explain/accuracy.json";
import { snapshot, weightsOf } from "../../../explain/models.ts";
import { figure, player } from "../../../figure/parts.ts";
import { decimal, number, percent, percentage, whole } from "../../../texts/words.ts";
import { buildGrid, overDrawing, patchGrid, signedScale } from "../../grid.ts";
import { buildChart, type Line } from "../../chart.ts";
import { buildLikeness } from "../../places.ts";
import { buildGuess, cite, fold, whenOpen } from "../../prose.ts";
import type { Scene, Story, Traced } from "../../scene.ts";
import { cosine, cosines, largest, nearAndFar, positionsOf } from "../../vectors.ts";
import { follower } from "../../work.ts";
import { buildFilters, type Filters, filtersOf } from "./filters.ts";
import type { Words } from "./texts/en.ts";

const START = 4; // the stop that is shown first
const PLAY = 9000; // milliseconds
const STOP = 14, LABELS = 38; // CSS pixels of a stop in the strip, and of the digits beside it
const DIGITS = Array.from({ length: 10 }, (_, digit) => String(digit));
const { images, right, loss } = learning;
const shares = right.map((count) => count / images);

export const STOPS = right.length;

interface Reading {
  at: number;
  result: Traced;
  cosines: Float32Array; // of the patches' positions (N,N)
}

export function buildFigures(steps: readonly number[], questionBox: HTMLElement, story: Story, words: Words): [Node, (scene: Scene) => void] {
  const { choices } = story, end = steps.length - 1;
  const answers = buildAnswers(story, DIGITS.length, steps.length);
  let scene: Scene | undefined, reading: Reading | undefined, reached = 0, reads = 0;

  const stops = choices.slider("step", words.slider, [0, end, 1], START, () => void moved());
  const { input: range } = stops;
  range.id = "learning-step";
  let stop = range.value;
  const say = h("output", { id: "learning-says", aria: { live: "off" } }); // the slider's value says it
  const test = h("p", { className: "learning-test" }), settled = h("p", { className: "learning-settled" });
  const strip = buildGrid(story, {
    label: words.strip, blank: words.unseen, cell: STOP,
    rowName: (row) => words.digit({ label: DIGITS[row]! }),
    columnName: (column) => words.step({ step: steps[column]! }),
    choose: (_, column) => stops.move(column),
  });
  const positions = buildLikeness(story, words.positions, 24), near = h("figcaption", { id: "learning-near" });
  const attention = patchGrid(story, { label: words.attention, cell: 24 }), where = h("figcaption");
  const rows = h("ol", { aria: { hidden: "true" } }, ...DIGITS.map((label) => h("li", {}, label)));
  const panel = h("div", { className: "panel" },
    h("div", { className: "learning-control" }, stops.label, player(words.play, stops, PLAY), say), test,
    figure(words.strip, h("div", { className: "learning-strip" }, rows, strip.root), settled),
    h("div", { className: "side-by-side" }, figure(words.positions, positions.root, near), figure(words.attention, attention.root, where)));

  const more = buildMore(steps, answers, story, words);

  /** What the snapshot at the chosen stop says, how good it is, and what it is like inside. */
  const paintSnapshot = (scene: Scene, { at, result, cosines: all }: Reading) => {
    const { label, p } = result.classes[0]!;
    range.ariaValueText = say.textContent = words.says({ step: steps[at]!, label, p: percent(p) });
    Object.assign(say.dataset, { step: steps[at], label, p });
    test.textContent = words.test({ images, right: percent(shares[at]!), loss: decimal(loss[at]!, 2) });
    const { attention: map } = result, across = map.grid[1];
    positions.draw(all, across, scene);
    const mean = nearAndFar(all, across);
    near.textContent = words.nearAndFar({ near: number(mean.near), far: number(mean.far) });
    Object.assign(near.dataset, mean);
    const layer = Math.min(scene.layer, map.layers - 1), head = Math.min(scene.head, map.heads - 1), values = map.fromClass(layer, head);
    attention.draw(overDrawing(scene, values, { low: 0, high: scaleOf([values], 1 / map.tokens).top }, map.grid));
    where.textContent = words.attentionWords({ layer: layer + 1, layers: map.layers, head: head + 1, heads: map.heads });
  };
  const paintStrip = ({ dark }: Scene) => {
    reached = Math.max(reached, range.valueAsNumber);
    const columns = steps.length, isComplete = answers.whole && reached === end;
    strip.draw({
      values: answers.p, rows: DIGITS.length, columns, scale: { low: 0, high: 1 }, dark, marked: { column: range.valueAsNumber },
      hidden: (_, column) => column > reached,
    });
    settled.textContent = isComplete ? words.settled({ step: steps[answers.settled]!, label: DIGITS[answers.at(end)]! }) : "";
    settled.dataset.step = isComplete ? String(steps[answers.settled]) : "";
  };
  const paint = () => {
    if (!scene || !reading) return;
    paintSnapshot(scene, reading);
    paintStrip(scene);
    more.draw({ at: range.valueAsNumber, dark: scene.dark });
  };

  /** Reads the drawing at the chosen stop. If another stop is asked for meanwhile, that one is shown. */
  const read = async () => {
    if (!scene) return;
    const mine = ++reads, now = scene, at = range.valueAsNumber;
    const result = await story.classify(now, { attention: true, trace: true }, await snapshot(at)) as Traced | undefined;
    if (mine !== reads || !result) return;
    const { tokens, prefix } = result.attention, all = positionsOf(result.trace), width = all.length / tokens;
    reading = { at, result, cosines: cosines(all.subarray(prefix * width), width) };
    paint();
    void answers.follow(now, paint);
  };
  /** Says what the slider does not say itself: a stop chosen in the strip, and the end of Play. */
  const moved = async () => {
    if (range.value === stop) return;
    stop = range.value;
    await read();
    const played = range.value === range.max && document.activeElement !== range;
    if (played || document.activeElement === strip.canvas) story.say(say.textContent);
  };
  const guess = buildGuess(questionBox, story, { ...words, question: words.question({ last: steps[end]! }) }, async (now) => {
    if (!(await answers.follow(now, paint))) return undefined;
    reached = end; // the first answer uncovers the strip
    paint();
    const at = answers.settled, step = steps[at]!, label = DIGITS[answers.at(end)]!;
    const option = step <= 50 ? "first" : step <= 500 ? "early" : step <= 2000 ? "middle" : "late";
    if (at === 0) return { option, words: words.always({ label }) };
    const share = percentage(step / steps[end]!, 1), before = steps[at - 1]!, other = DIGITS[answers.at(at - 1)]!;
    return { option, words: words.truth({ step, label, share, before, other }) };
  });

  return [h("div", {}, panel, more.root), (next) => {
    const same = scene?.version === next.version;
    scene = next;
    guess(next);
    if (same && reading) paint();
    else void read();
  }];
}

type Answers = ReturnType<typeof buildAnswers>;

/** What every snapshot reads in one drawing (K, snapshots): each class's probability at each stop. Until it is read, a stop has zeros. */
function buildAnswers(story: Story, classes: number, count: number) {
  const p = new Float32Array(classes * count), follow = follower();
  const row = (index: number) => p.subarray(index * count, (index + 1) * count);
  const at = (stop: number) => largest(Array.from({ length: classes }, (_, index) => row(index)[stop]!));
  const made = {
    p, row, at,
    whole: false, // whether all snapshots have read the drawing
    /** The first stop from which on all read the same. */
    get settled() {
      let stop = count - 1;
      while (stop > 0 && at(stop - 1) === at(count - 1)) stop--;
      return stop;
    },
    /** Follows the drawing. Returns whether all have read it. */
    follow: (scene: Scene, changed: () => void) => follow(scene.version, async (next) => {
      made.whole = false;
      p.fill(0);
      for (let stop = 0; stop < count; stop++) {
        const result = await story.classify(scene, {}, await snapshot(stop));
        if (!result || !(await next())) return false;
        for (const { index, p } of result.classes) row(index)[stop] = p;
      }
      return (made.whole = true);
    }, changed),
  };
  return made;
}

/** The second visit's matter: curves and filters. Its `draw` shows the stop that is chosen. */
function buildMore(steps: readonly number[], answers: Answers, story: Story, words: Words) {
  const end = steps.length - 1;
  const curves = buildChart(words.curves, LABELS + steps.length * STOP, [44, 44]);
  const [filtersFigure, drawFilters] = buildFilters(words.filters, story.words), filtersWords = h("figcaption");
  const root = fold(story, words.more,
    figure(words.curves, h("div", { className: "grid-scroll" }, curves.root), h("figcaption", {}, words.curvesLegend({ images })), h("p", { className: "cite" }, words.spacing)),
    figure(words.filters, filtersFigure, filtersWords), cite(words.cite));
  let filters: Promise<Filters[]> | undefined;

  const draw = async ({ at, dark }: { at: number; dark: boolean }) => {
    /** The curve up to the chosen stop, and what is to come, faint. */
    const curve = (values: ArrayLike<number>, pen: Line["pen"], dash = "none"): Line[] => {
      const points = Array.from(values, (value, stop) => [stop, value] as const);
      return [
        { pen, dash, points: points.slice(at), opacity: 0.25 },
        { pen, dash, points: points.slice(0, at + 1) },
        { pen, points: [points[at]!], dots: true },
      ];
    };
    const final = answers.whole ? answers.at(end) : undefined;
    curves.draw({
      words: final === undefined ? words.curves : words.curvesWords({ label: DIGITS[final]! }), most: end, at,
      ticks: steps.flatMap((step, stop) => (stop % 5 === 0 ? [[stop, whole(step)] as const] : [])),
      left: { pen: "ink", texts: [0, 0.5, 1].map((share) => percentage(share, 0)) },
      lines: [...curve(shares, "ink"), ...(final === undefined ? [] : curve(answers.row(final), "voice", "5 3"))],
    });
    const all = await (filters ??= Promise.all(steps.map(async (_, at) => filtersOf(await weightsOf("learning", at)))));
    drawFilters(all[at]!, signedScale(...all.map(({ weights }) => weights)).signed, dark);
    filtersWords.textContent = words.filtersWords({ cosine: number(cosine(all[at]!.weights, all[0]!.weights)) });
  };
  return { root, draw: whenOpen(root, (view: Parameters<typeof draw>[0]) => void draw(view)) };
}
