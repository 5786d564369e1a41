/** Patch to token: pixels, filters, products, and the token that they make. */
import { signedScale } from "../../grid.ts";
import { percent } from "../../../logits.ts";
import { shapeOf } from "../../../pixels.ts";
import { inWords } from "../../../remedy.ts";
import { fieldOf } from "../../../stem.ts";
import { number } from "../../../texts/words.ts";
import { linked } from "../../cite.ts";
import { h } from "../../../dom.ts";
import { player, playing } from "../../../figure/parts.ts";
import type { Build, Scene, Story } from "../../scene.ts";
import { FilterBars, TokenBars } from "./bars.ts";
import { type Filters, pixelsOf, productsOf, roundTop, sumOf } from "./embed.ts";
import { buildField } from "./field.ts";
import { buildLift } from "./lift.ts";
import { buildNumbers } from "./numbers.ts";
import { filtersIn } from "./weights.ts";

export const texts = {};

export const build: Build = (root, story) => {
  const texts = story.texts.patches;
  let scene: Scene | undefined;
  let chosen = false; // the patch was chosen here: its pixels fly

  const words = buildWords(story);
  const lift = buildLift(texts, (patch) => {
    if (scene && String(patch) !== String(scene.patch)) {
      const pixels = pixelsOf(scene.result.input, scene.shape, patch);
      story.say(texts.patch(patch[0] + 1, patch[1] + 1, percent(sumOf(pixels) / pixels.length)));
      chosen = true;
    }
    story.choose({ patch });
  });
  const numbers = buildNumbers(texts);
  const caption = h("h3");
  const product = buildProduct(story);
  const field = buildField(story);
  const token = new TokenBars("patches-token"), tokenCaption = h("figcaption");
  const tokenFigure = h("figure", {}, tokenCaption, token.root);
  const classToken = buildClassToken(story);
  root.append(...words.leads,
    h("div", { className: "side-by-side" }, lift.root, product.root, field.root),
    caption, numbers.root, product.sum, tokenFigure, classToken.root, ...words.after);

  const filters = loadFilters((failure) => {
    if (failure) product.fail(failure);
    else story.redraw();
  });
  let fitted: unknown;

  const fit = ({ model, config, shape }: Scene) => {
    if (fitted === model) return;
    fitted = model;
    const plain = config.stem.length === 0;
    words.fit(config);
    numbers.fit(shape, plain);
    field.root.hidden = tokenFigure.hidden = plain;
    product.root.hidden = product.sum.hidden = !plain;
    classToken.root.hidden = config.prefix[0] !== "class";
  };

  return (next) => {
    scene = next;
    fit(next);
    const { result, shape, patch, config, dark } = next;
    const embedded = result.trace.tokens("embedded");
    const at = (index: number) => embedded.subarray(index * config.width, (index + 1) * config.width);
    const top = roundTop(signedScale(embedded).signed);
    const pixels = pixelsOf(result.input, shape, patch);
    lift.draw(next);
    caption.textContent = texts.unrolled(patch[0] + 1, patch[1] + 1, pixels.length);
    if (config.stem.length > 0) {
      numbers.draw({ pixels, added: 0, dark });
      field.draw(next);
      tokenCaption.textContent = texts.token(config.width);
      token.draw(at(next.token), top, tokenCaption.textContent);
    } else {
      const filter = filters(next);
      product.draw({ pixels, filters: filter, token: at(next.token), top, scene: next, numbers });
    }
    classToken.draw(at(0), top);
    if (chosen) numbers.unroll(lift.chosenBox(), root);
    chosen = false;
  };
};

/** The text of the chapter, which depends on whether the model has a stem. */
function buildWords({ texts: { patches: texts } }: Story) {
  const [lead, second] = [h("p", { className: "lead" }), h("p", { className: "lead" })];
  const [task, notice] = [h("p", { className: "task" }), h("p", { className: "notice-this" })];
  const cite = h("p", { className: "cite" });
  const fit = (config: Scene["config"]) => {
    const { gridRows, gridCols, patchRows, patchCols } = shapeOf(config);
    const plain = config.stem.length === 0;
    const pixels = patchRows * patchCols;
    lead.textContent = texts.lead(gridRows * gridCols, pixels);
    second.textContent = plain
      ? texts.plain(pixels, config.width)
      : texts.stem(config.stem.length, fieldOf(config), config.width);
    task.textContent = plain ? texts.taskPlain : texts.taskStem;
    notice.textContent = plain ? texts.noticePlain : texts.noticeStem;
    cite.replaceChildren(...linked(plain ? texts.citePlain : texts.citeStem));
  };
  return { leads: [lead, second, task], after: [notice, cite], fit };
}

interface Product {
  pixels: Float32Array;
  filters: Filters | undefined;
  token: Float32Array;
  top: number;
  scene: Scene;
  numbers: ReturnType<typeof buildNumbers>;
}

/** The filters, and the sum of products that makes one bar. */
function buildProduct({ choices, texts: { patches: texts } }: Story) {
  let last: Product | undefined;
  let fitted: { filters?: Filters; dark?: boolean } = {};
  const again = () => last && draw(last);
  const bars = new FilterBars(texts, choices, again);
  const status = h("p", { className: "grid-words" }, texts.filtersLoading);
  status.setAttribute("role", "status");
  const key = h("p", { className: "grid-legend" });
  const adding = choices.slider("added", "", [0, 1, 1], 1, again), { label, input } = adding;
  input.id = "patches-added";
  const byHand = h("output", { id: "patches-sum" });
  byHand.setAttribute("aria-live", "off");
  const theirs = h("span", { className: "theirs" });
  const sum = h("div", { className: "adding" },
    h("div", { className: "adding-tools" }, label, player(texts.addAll, playing(adding, 3200))),
    h("p", {}, byHand, " ", theirs));
  const root = h("div", { className: "filters-figure" }, status, bars.root, key);
  bars.root.hidden = sum.hidden = true;

  const fit = (filters: Filters, { shape, dark }: Scene) => {
    if (fitted.filters === filters && fitted.dark === dark) return;
    if (fitted.filters !== filters) choices.endAt("added", input, filters.size, !fitted.filters);
    fitted = { filters, dark };
    bars.fit(filters, shape.patchCols, dark);
  };
  const draw = (given: Product) => {
    last = given;
    const { pixels, filters, token, top, scene, numbers } = given;
    bars.root.hidden = sum.hidden = !filters;
    if (!filters) return numbers.draw({ pixels, added: 0, dark: scene.dark });
    fit(filters, scene);
    status.textContent = "";
    const d = bars.chosen, added = input.valueAsNumber, all = filters.size;
    const products = productsOf(pixels, filters, d);
    const bias = filters.bias?.[d] ?? 0, part = sumOf(products, added);
    const weights = Array.prototype.slice.call(filters.weights, d * all, (d + 1) * all) as number[];
    numbers.draw({ pixels, weights, products, added, dark: scene.dark });
    bars.draw(token, top, part + bias);
    key.textContent = texts.filtersKey(String(top));
    label.firstChild!.textContent = texts.added(d + 1);
    input.setAttribute("aria-valuetext", texts.addedOf(added, all));
    const sums = { sum: number(part, 4), bias: number(bias, 4), value: number(part + bias, 4) };
    byHand.textContent = texts.sum({ added, all, ...sums });
    theirs.textContent = texts.model(number(token[d]!, 4));
    Object.assign(byHand.dataset, { filter: d, sum: part + bias, model: token[d] });
  };
  return {
    root,
    sum,
    draw,
    fail(failure: unknown) {
      status.textContent = texts.filtersMissing(inWords(failure));
    },
  };
}

/** The filters of the scene's model, once they are here. `done` is told why they are not, if so. */
function loadFilters(done: (failure?: unknown) => void): (scene: Scene) => Filters | undefined {
  let file: Scene["file"] | undefined;
  let loaded: Filters | undefined;
  const load = async (wanted: Scene["file"]) => {
    [file, loaded] = [wanted, undefined];
    try {
      const filters = await filtersIn(wanted);
      if (file !== wanted) return; // another model was chosen
      loaded = filters;
      done();
    } catch (failure) {
      if (file !== wanted) return;
      file = undefined; // the next scene tries again
      done(failure);
    }
  };
  return (scene) => {
    if (file !== scene.file) void load(scene.file);
    return loaded;
  };
}

/** The class token: an empty square and its learnt numbers. */
function buildClassToken({ texts: { patches: texts } }: Story) {
  const bars = new TokenBars("patches-class");
  const text = h("p", { className: "lead" });
  const empty = h("span", { className: "empty-patch" });
  empty.setAttribute("aria-hidden", "true");
  const key = h("figcaption");
  const root = h("div", { className: "class-token" }, h("h3", {}, texts.classTitle), text,
    h("figure", {}, h("div", { className: "class-figure" }, empty, bars.root), key));
  return {
    root,
    draw(values: Float32Array, top: number) {
      text.textContent = texts.classToken(values.length);
      key.textContent = texts.classBars(values.length, String(top));
      bars.draw(values, top, key.textContent);
    },
  };
}
