/** What the weights under way do: the drawing's answer, the filters, the test images. */
import { type Class, Vit } from "vitrine";
import { h, write } from "../../../../dom.ts";
import { figure } from "../../../../figure/parts.ts";
import { drawingOf } from "../../../../ink.ts";
import { decimal, percent, percentage, whole } from "../../../../texts/words.ts";
import { coalesce } from "../../../work.ts";
import { buildChart } from "../../../chart.ts";
import { buildGrid, signedScale } from "../../../grid.ts";
import type { Scene, Story, Traced } from "../../../scene.ts";
import { buildFilters, type Filters, filtersOf } from "../filters.ts";
import type { Words } from "../texts/en.ts";
import { buildInside, type Reading } from "./inside.ts";
import type { Source } from "./own.ts";
import { RECENT } from "./run.ts";

type Weights = Uint8Array<ArrayBuffer>;

const DIGITS = Array.from({ length: 10 }, (_, digit) => String(digit));
const CURVE = 300, CELL = 22; // CSS pixels
/** More points than pixels would draw the same line. */
const MOST_POINTS = 400;

export function buildResults(story: Story, words: Words["live"], suffix: string) {
  const curve = buildChart(words.curve, CURVE, [44, 44]);
  const [filtersFigure, drawFilters] = buildFilters(words.filters, story.words);
  const [confusionGrid, drawConfusion] = buildConfusion(story, words);
  const inside = buildInside(story, words, suffix);
  const place = h("div", { id: `learning-live-bars${suffix}` }), says = h("figcaption");
  const caption = (text: string) => h("figcaption", {}, text);
  const confusion = figure(words.confusion, confusionGrid, caption(words.confusionWords));
  let epochs = 1, losses: (readonly [at: number, loss: number])[] = [], accuracies: number[] = [];
  let counts: Float32Array | undefined, filters: Filters | undefined, top = 0;
  let source: Source, names = DIGITS as readonly string[], bars: ReturnType<typeof buildBars>;
  let dark = false, frame = 0, runs = 0;

  const paintCurve = () => {
    const most = Math.max(1, ...losses.map(([, loss]) => loss)), ends = [0, 0.5, 1];
    curve.draw({
      words: words.curveWords({
        loss: losses.length ? decimal(losses.at(-1)![1], 2) : words.none,
        share: accuracies.length ? percentage(accuracies.at(-1)!, 1) : words.none,
      }),
      most: epochs, ticks: [0, epochs].map((at) => [at, whole(at)]),
      left: { pen: "voice", texts: ends.map((share) => decimal(share * most, 1)) },
      right: { pen: "ink", texts: ends.map((share) => percentage(share, 0)) },
      lines: [
        { pen: "voice", points: losses.map(([at, loss]) => [at, loss / most]) },
        { pen: "ink", points: accuracies.map((accuracy, at) => [at + 1, accuracy]), dots: true },
      ],
    });
  };
  const paintSoon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(paintCurve);
  };
  const paintFilters = () => {
    if (filters) drawFilters(filters, top, dark);
  };
  const measure = coalesce(async ([weights, run]: [Weights, number]) => {
    const newCounts = await story.attempt(countAnswers(weights, source));
    if (!newCounts || run !== runs) return;
    counts = newCounts;
    confusion.hidden = false;
    drawConfusion(counts, names, dark);
  });
  return {
    root: h("div", { className: "live-results" },
      figure(words.curve, h("div", { className: "grid-scroll" }, curve.root), caption(words.curveLegend({ most: RECENT }))),
      figure(words.bars, place, says), confusion, inside.root,
      figure(words.filters, filtersFigure, caption(words.filtersWords))),
    begin(its: number, images: Source): void {
      runs++;
      [epochs, losses, accuracies] = [its, [], []];
      [counts, filters, top] = [undefined, undefined, 0];
      confusion.hidden = true;
      source = images;
      names = source.names ?? DIGITS;
      bars = buildBars(words.bars, names);
      place.classList.toggle("named", names !== DIGITS);
      place.replaceChildren(bars.root);
      says.textContent = "";
      paintSoon();
    },
    loss(at: number, loss: number): void {
      losses.push([at, loss]);
      if (losses.length > MOST_POINTS) losses = losses.filter((_, index) => index % 2 === 0 || index === losses.length - 1);
      paintSoon();
    },
    /** After an epoch, with the weights that were tested. */
    accuracy(accuracy: number, weights: Weights): void {
      accuracies.push(accuracy);
      measure([weights, runs]);
      paintSoon();
    },
    async look(weights: Weights, scene: Scene | undefined): Promise<void> {
      filters = filtersOf(weights);
      top = Math.max(top, signedScale(filters.weights).signed);
      paintFilters();
      const read = scene && (await story.attempt(readOnce(weights, scene)));
      if (!read) return;
      const { classes } = read.result, { label, p } = classes[0]!;
      bars.draw(classes);
      says.textContent = words.says({ label, p: percent(p) });
      inside.draw(read, scene);
    },
    theme(isDark: boolean): void {
      if (dark === isDark) return;
      dark = isDark;
      paintFilters();
      if (counts) drawConfusion(counts, names, dark);
    },
  };
}

function buildBars(label: string, labels: readonly string[]) {
  const rows = labels.map((name) => h("li", { data: { label: name } }, h("b", {}, name), h("i"), h("span")));
  return {
    root: h("ol", { className: "bars", ariaLabel: label }, ...rows),
    draw: (classes: readonly Class[]) => classes.forEach(({ index, p }, place) => {
      const row = rows[index]!;
      row.classList.toggle("best", place === 0);
      row.dataset.p = String(p);
      row.style.setProperty("--p", p.toFixed(4));
      write(row.lastElementChild!, percent(p));
    }),
  };
}

/** In a worker, because the page draws meanwhile. */
async function readOnce(weights: Weights, { photo, strokes }: Scene): Promise<Reading> {
  const vit = await Vit.load(weights, { worker: true });
  const { channels, image_size: [rows, cols] } = vit.config;
  const image = photo?.length === channels * rows * cols ? photo : drawingOf(strokes); // another size cannot take the photo's image
  try {
    return { config: vit.config, result: await vit.classify(image, { attention: true, trace: true }) as Traced };
  } finally {
    vit.dispose();
  }
}

// ---- What a model reads the test images as, beside what they are ---------------

/** Counts (K, K): rows are the classes of the images, columns those that the model reads. */
async function countAnswers(weights: Weights, { names = DIGITS, open }: Source): Promise<Float32Array> {
  const { test } = await open(), counts = new Float32Array(names.length ** 2);
  const vit = await Vit.load(weights, { worker: true });
  try {
    const answers = await vit.classifyAll(Array.from(test.labels, (_, at) => test.image(at)), { topK: 1 });
    answers.forEach(({ classes }, at) => counts[test.labels[at]! * names.length + classes[0]!.index]!++);
    return counts;
  } finally {
    vit.dispose();
  }
}

type DrawCounts = (counts: Float32Array, names: readonly string[], dark: boolean) => void;

function buildConfusion(story: Story, words: Words["live"]): [HTMLElement, DrawCounts] {
  let names: readonly string[] = DIGITS;
  const grid = buildGrid(story, {
    label: words.confusion, cell: CELL, number: whole,
    rowName: (row) => (names === DIGITS ? words.written({ label: names[row]! }) : names[row]!),
    columnName: (column) => words.read({ label: names[column]! }),
  });
  const across = h("ol", { aria: { hidden: "true" } }), down = h("ol", { aria: { hidden: "true" } });
  return [h("div", { className: "live-confusion" }, across, down, grid.root), (values, itsNames, dark) => {
    names = itsNames;
    for (const list of [across, down]) list.replaceChildren(...names.map((name) => h("li", { title: name }, name)));
    across.classList.toggle("long", names.some((name) => name.length > 2));
    grid.draw({ values, rows: names.length, columns: names.length, scale: { low: 0, high: Math.max(1, ...values) }, dark });
    grid.canvas.dataset.counts = values.join();
  }];
}
