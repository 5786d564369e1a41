/** What the weights under way do: the drawing's answer, the filters, the test images. */
import { Vit } from "vitrine";
import { readSafetensors } from "../../../../../base/safetensors.mjs";
import { drawingOf } from "../../../../ink.ts";
import { percent } from "../../../../logits.ts";
import { rough } from "../../../../texts/words.ts";
import { Bars } from "../../../bars.ts";
import { h } from "../../../../dom.ts";
import { saveable } from "../../../../figure/parts.ts";
import { signedScale } from "../../../grid.ts";
import { coalesce } from "../../../coalesce.ts";
import type { Scene, Story } from "../../../scene.ts";
import { paintFilters } from "../filters.ts";
import { buildConfusion, countAnswers, DIGITS } from "./confusion.ts";
import { buildCurve, type Course, thinned } from "./curve.ts";
import { buildInside, type Reading } from "./inside.ts";
import type { Source } from "./own.ts";

/** Filters that fit beside each other on a phone, small or large. All patch sizes divide their pixels. */
const SMALL = { pixels: 28, across: 8 }, LARGE = { pixels: 56, across: 4 };
/** More filters are drawn small. */
const FEW = 16;

type Weights = Uint8Array<ArrayBuffer>;

export type Results = ReturnType<typeof buildResults>;

export function buildResults(story: Story, suffix: string) {
  const { learning: { live: words } } = story.texts;
  const [curveFigure, drawCurve] = buildCurve(story.texts);
  const [confusionFigure, drawConfusion] = buildConfusion(story.texts);
  const reading = buildReading(story, suffix), inside = buildInside(story, suffix), filters = buildFilters(story);
  const confusion = figure(words.confusion, confusionFigure, words.confusionWords);
  let course: Course = { epochs: 1, losses: [], accuracies: [] }, counts: Float32Array | undefined;
  let source: Source, names = DIGITS as readonly string[];
  let dark = false, frame = 0, runs = 0;
  const drawSoon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => drawCurve(course, dark));
  };
  const measure = coalesce(async ([weights, run]: [Weights, number]) => {
    const counted = await story.attempt(countAnswers(weights, source));
    if (!counted || run !== runs) return;
    counts = counted;
    confusion.hidden = false;
    drawConfusion(counts, names, dark);
  });
  return {
    root: h("div", { className: "live-results" },
      figure(words.curve, curveFigure, words.curveLegend), reading.root, confusion, inside.root, filters.root),
    /** Another run begins. */
    begin(epochs: number, images: Source): void {
      runs++;
      course = { epochs, losses: [], accuracies: [] };
      counts = undefined;
      confusion.hidden = true;
      source = images;
      names = source.names ?? DIGITS;
      reading.begin(names);
      filters.begin();
      drawSoon();
    },
    loss(at: number, loss: number): void {
      course.losses = thinned([...course.losses, [at, loss]]);
      drawSoon();
    },
    accuracy(accuracy: number, weights: Weights): void {
      course.accuracies.push(accuracy);
      measure([weights, runs]);
      drawSoon();
    },
    /** Shows what these weights make of the drawing. */
    async look(weights: Weights, scene: Scene | undefined): Promise<void> {
      filters.draw(weights, dark);
      const read = scene && (await reading.draw(weights, scene));
      if (read) inside.draw(read, scene);
    },
    theme(isDark: boolean): void {
      if (dark === isDark) return;
      dark = isDark;
      drawSoon();
      filters.theme(dark);
      if (counts) drawConfusion(counts, names, dark);
    },
  };
}

const figure = (title: string, picture: Node, legend: string) =>
  h("figure", {}, h("h4", {}, title), picture, h("figcaption", {}, legend));

/** The answer to the visitor's drawing. */
function buildReading({ texts: { learning: { live: words } }, attempt }: Story, suffix: string) {
  let bars: Bars;
  const place = h("div", { id: `learning-live-bars${suffix}` });
  const says = h("figcaption");
  return {
    root: h("figure", {}, h("h4", {}, words.bars), place, says),
    /** The bars of a run with these classes. */
    begin(names: readonly string[]): void {
      bars = new Bars(words.bars, names);
      place.classList.toggle("named", names !== DIGITS);
      place.replaceChildren(bars.root);
      says.textContent = "";
    },
    async draw(weights: Weights, scene: Scene): Promise<Reading | undefined> {
      const read = await attempt(readOnce(weights, scene));
      if (!read) return;
      const { classes } = read.result, { label, p } = classes[0]!;
      bars.draw(classes);
      says.textContent = words.says(label, percent(p));
      return read;
    },
  };
}

/** In a worker, because the page draws meanwhile. */
async function readOnce(weights: Weights, { photo, strokes }: Scene): Promise<Reading> {
  const vit = await Vit.load(weights, { worker: true });
  const { channels, image_size: [rows, cols] } = vit.config;
  const image = photo?.length === channels * rows * cols ? photo : drawingOf(strokes); // another size cannot take the photo's image
  try {
    return { weights, config: vit.config, result: await vit.classify(image, { attention: true }) };
  } finally {
    vit.dispose();
  }
}

/** The filters on one scale, which grows with them. */
function buildFilters({ texts: { learning: { live: words }, grid } }: Story) {
  const canvas = h("canvas", { className: "filters", ariaLabel: words.filters }), legend = h("p", { className: "grid-legend" });
  canvas.setAttribute("role", "img");
  let shown: { values: Float32Array; side: number } | undefined, top = 0;
  const paint = (dark: boolean) => {
    if (!shown) return;
    const { values, side } = shown;
    paintFilters(canvas, values, side, { top, dark, ...(values.length / side ** 2 > FEW ? SMALL : LARGE) });
    legend.textContent = grid.signed(rough(top));
  };
  return {
    root: figure(words.filters, h("div", { className: "grid" },
      h("div", { className: "grid-scroll" }, saveable(canvas, words.filters)), legend), words.filtersWords),
    begin(): void {
      shown = undefined;
      top = 0;
    },
    draw(weights: Weights, dark: boolean): void {
      const { shape, data } = readSafetensors(weights).tensors.get("patch_embed.proj.weight")!;
      shown = { values: Float32Array.from(data), side: shape.at(-1)! };
      top = Math.max(top, signedScale(shown.values).signed);
      paint(dark);
    },
    theme: paint,
  };
}
