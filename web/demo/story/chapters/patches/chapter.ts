/** Patch to token: pixels, filters, products, and the token that they make. */
import { css, tone } from "../../../colour.ts";
import { h, write } from "../../../dom.ts";
import { player } from "../../../figure/parts.ts";
import { fieldOf } from "../../../stem.ts";
import { number, percent } from "../../../texts/words.ts";
import { formula, row, sub, sumOver } from "../../formula.ts";
import { signedScale } from "../../grid.ts";
import { buildProduct } from "../../product.ts";
import { buildGuess, fold, linked } from "../../prose.ts";
import type { ChapterBuilder, Scene } from "../../scene.ts";
import { inkOf, pixelsOf, tokenName } from "../../tokens.ts";
import { rowOf } from "../../vectors.ts";
import { loadWeights } from "../../weights.ts";
import { buildFilterBars, buildTokenBars, type Filters } from "./bars.ts";
import { buildLift } from "./lift.ts";
import type { Words } from "./texts/en.ts";

export const build: ChapterBuilder<Words> = (root, story, words) => {
  const { choices } = story;
  let scene: Scene | undefined;
  let chosen = false; // the patch was chosen here: its pixels fly
  let ended = false; // the slider has had a model's end
  let fitted: { model?: unknown; filters?: Filters; dark?: boolean } = {};

  const lead = h("p", { className: "lead" }), cite = h("p", { className: "cite" }), shapes = h("p", { className: "shapes" });
  const lift = buildLift(words, (patch) => {
    if (scene && String(patch) !== String(scene.patch)) {
      const pixels = inkIn(scene, patch), [row, column] = patch;
      story.say(words.patch({ row: row + 1, column: column + 1, ink: percent(pixels.reduce((sum, ink) => sum + ink, 0) / pixels.length) }));
      chosen = true;
    }
    story.choose({ patch });
  });
  const product = buildProduct("patches", words), caption = h("h3");
  const again = () => scene && draw(scene);
  const bars = buildFilterBars(words, choices, again);
  const status = h("p", { className: "grid-words", role: "status" }, words.filtersLoading);
  const key = h("p", { className: "grid-legend" });
  const adding = choices.slider("added", "", [0, 1, 1], 1, again), { label, input } = adding;
  input.id = "patches-added";
  const sum = h("div", { className: "adding", hidden: true },
    h("div", { className: "adding-tools" }, label, player(words.addAll, adding, 3200),
      formula(sub("t", "d"), "=", sumOver("i"), sub("w", row("d", ",", "i")), sub("p", "i"), "+", sub("b", "d"))),
    product.sum);
  const token = buildTokenBars("patches-token"), tokenCaption = h("figcaption");
  const tokenFigure = h("figure", { hidden: true }, tokenCaption, token.root);
  const filtersFigure = h("div", { className: "filters-figure" }, status, bars.root, key);
  const classText = h("p"), classKey = h("figcaption"), classBars = buildTokenBars("patches-class");
  const classToken = fold(story, words.classTitle, classText, h("figure", {},
    h("div", { className: "class-figure" }, h("span", { className: "empty-patch", aria: { hidden: "true" } }), classBars.root), classKey));

  root.append(lead);
  const guess = buildGuess(root, story, words, async (now) => {
    const { prefix: { length: prefix }, width } = now.config, embedded = now.result.trace.tokens("embedded");
    const empty = [...inkOf(now)].flatMap((ink, patch) => (ink === 0 ? [patch] : [])), [one] = empty;
    if (one === undefined || empty.length < 2) return undefined;
    const tokenOf = (patch: number) => rowOf(embedded, prefix + patch, width);
    const apart = (patch: number) => tokenOf(patch).reduce((most, value, d) => Math.max(most, Math.abs(value - tokenOf(one)[d]!)), 0);
    const other = empty.slice(1).reduce((best, patch) => (apart(patch) > apart(best) ? patch : best));
    const name = (patch: number) => tokenName(prefix + patch, now, story.words);
    const values = { one: name(one), other: name(other), width, most: number(apart(other)) };
    return apart(other) === 0 ? { option: "yes", words: words.equal(values) } : { option: "no", words: words.unequal(values) };
  });
  root.append(
    h("div", { className: "panel" }, h("div", { className: "side-by-side" }, lift.root, filtersFigure),
      caption, product.root, sum, tokenFigure, shapes),
    classToken, cite);

  const weightsOf = loadWeights(story, status, words.filtersMissing);
  const filtersOf = (now: Scene, size: number): Filters | undefined => {
    const weights = weightsOf(now), own = weights?.("patch_embed.proj.weight");
    if (!own) return undefined;
    return fitted.filters?.weights === own ? fitted.filters
      : { weights: own, bias: weights!("patch_embed.proj.bias"), count: now.config.width, size };
  };

  const fit = ({ model, config, shape }: Scene) => {
    if (fitted.model === model) return;
    fitted = { model };
    const { gridRows, gridCols, patchRows, patchCols, rows, cols } = shape;
    const plain = config.stem.length === 0, patches = gridRows * gridCols, pixels = patchRows * patchCols, { width } = config;
    lead.textContent = plain ? words.lead({ patches, pixels, width })
      : words.stemLead({ patches, pixels, width, convolutions: config.stem.length, side: fieldOf(config) });
    cite.replaceChildren(...linked(plain ? words.cite : words.stemCite));
    product.fit(Array.from({ length: pixels }, (_, i) => words.place({ row: Math.floor(i / patchCols) + 1, column: (i % patchCols) + 1 })), patchCols, plain);
    shapes.textContent = words.shapes({ rows, columns: cols, patches, pixels, width });
    tokenFigure.hidden = plain;
    filtersFigure.hidden = shapes.hidden = sum.hidden = !plain;
    classToken.hidden = config.prefix[0] !== "class";
  };
  const fitFilters = (filters: Filters, { shape, dark }: Scene) => {
    if (fitted.filters === filters && fitted.dark === dark) return;
    if (fitted.filters !== filters) choices.endAt("added", input, filters.size, !ended);
    ended = true;
    Object.assign(fitted, { filters, dark });
    bars.fit(filters, shape.patchCols, dark);
  };
  const draw = (now: Scene) => {
    const { result, patch, config, dark } = now, { width } = config;
    const embedded = result.trace.tokens("embedded"), top = roundTop(signedScale(embedded).signed);
    const own = rowOf(embedded, now.token, width), pixels = inkIn(now, patch);
    const colour = (ink: number) => css(tone(ink, dark));
    lift.draw(now);
    write(caption, words.unrolled({ row: patch[0] + 1, column: patch[1] + 1, pixels: pixels.length }));
    const plain = config.stem.length === 0, filters = plain ? filtersOf(now, pixels.length) : undefined;
    bars.root.hidden = !filters;
    if (plain) sum.hidden = !filters;
    if (filters) {
      fitFilters(filters, now);
      const d = bars.chosen(own), added = input.valueAsNumber, all = filters.size;
      const weights = rowOf(filters.weights, d, all), bias = filters.bias?.[d] ?? 0;
      bars.draw(own, d, product.multiply({ inputs: pixels, colour, weights, bias, model: own[d]!, added, dark }), top);
      product.output.dataset.filter = String(d);
      write(key, words.filtersKey({ top: String(top) }));
      label.firstChild!.textContent = words.added({ filter: d + 1 });
      input.ariaValueText = words.addedOf({ added, all });
    } else product.draw({ inputs: pixels, colour, dark });
    if (!plain) {
      write(tokenCaption, words.token({ width }));
      token.draw(own, top, tokenCaption.textContent!);
    }
    write(classText, words.classToken({ width, tokens: embedded.length / width }));
    write(classKey, words.classBars({ width, top: String(top) }));
    classBars.draw(rowOf(embedded, 0, width), top, classKey.textContent!);
  };
  return (next) => {
    scene = next;
    fit(next);
    draw(next);
    guess(next);
    if (chosen) product.unroll(lift.chosenBox(), next.shape.patchCols, root);
    chosen = false;
  };
};

/** The smallest of 1, 2, 5, 10, … that is not below `most`: the end of a scale that seldom changes. */
function roundTop(most: number): number {
  if (!(most > 0)) return 1;
  const ten = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5].find((step) => step * ten >= most) ?? 10) * ten;
}

/** The ink of a patch's pixels, line by line. */
const inkIn = ({ result: { input }, shape }: Scene, [row, column]: Scene["patch"]): Float32Array =>
  Float32Array.from(pixelsOf(row * shape.gridCols + column, shape), (at) => input[at]!);
