/** What a unit at the chosen patch can see at each depth, as pictures of the drawing. */
import { css, paint, tone } from "../../../colour.ts";
import { type Colour, heat, mix, place, type Scale } from "../../../../base/heat.ts";
import { scaled } from "../../../figure/canvas.ts";
import { choosePatch } from "../../../figure/cells.ts";
import { percent } from "../../../logits.ts";
import { accent, shapeOf } from "../../../pixels.ts";
import { inside, lengthOf, type Span, stridesOf } from "../../../receptive.ts";
import { percentage } from "../../../texts/words.ts";
import { cite } from "../../cite.ts";
import { h } from "../../../dom.ts";
import { saveable } from "../../../figure/parts.ts";
import { drawLegend } from "../../grid.ts";
import type { Scene, Story } from "../../scene.ts";
import { type Both, type Pair, patchOf } from "./pair.ts";
import { receptive, spread } from "./reach.ts";

const SIDE = 112, GAP = 10; // CSS pixels of a picture, and between two of a saved row

/** One picture: what each pixel's colour is, and the rectangle that is outlined. */
interface Field {
  words: string;
  data: Record<string, string>;
  colourAt(ink: Colour, row: number, column: number): Colour;
  down: Span;
  across: Span;
}

export function buildReach(pair: Pair, story: Story): [HTMLElement, (scene: Scene, both: Both) => void] {
  const { cnn: texts } = story.texts;
  const rows = { convolutions: new Row(texts.reach(texts.convolutions), story), vit: new Row(texts.reach(texts.vit), story) };
  const legend = h("p", { className: "grid-legend" });
  const root = h("div", { className: "figure" },
    h("h3", {}, texts.reachTitle), h("p", {}, texts.reachWords),
    h("h4", {}, texts.convolutions), rows.convolutions.root,
    h("h4", {}, texts.vit), rows.vit.root, legend,
    cite(texts.rolloutCite));
  return [root, (scene, both) => {
    rows.convolutions.draw(convolutionFields(pair, scene, story), pair.convolutions, scene, both.input);
    const scale = scaleOf(both);
    drawLegend(legend, scale, scene.dark, [percent(0), percentage(1, 0), story.texts.grid.tick(percent(scale.uniform))]);
    rows.vit.draw(blockFields(pair, scene, both, story), pair.vit, scene, both.input);
  }];
}

/** The pictures of one network, side by side. */
class Row {
  readonly root: HTMLElement;
  readonly #pictures = h("div", { className: "cnn-fields" });
  readonly #label: string;
  readonly #story: Story;
  readonly #view: Pick<Scene, "patch"> = { patch: [0, 0] };

  constructor(label: string, story: Story) {
    this.#label = label;
    this.#story = story;
    const canvases = () => [...this.#pictures.querySelectorAll("canvas")];
    this.root = h("div", {}, saveable(this.#pictures, label, () => joined(canvases())));
  }

  draw(fields: readonly Field[], vit: Pair["vit"], scene: Scene, input: Float32Array): void {
    this.#view.patch = scene.patch;
    if (this.#pictures.children.length === 0) this.#pictures.append(...fields.map((_, at) => this.#figure(vit, at === 0)));
    const { rows, cols } = shapeOf(vit.config);
    fields.forEach(({ words, data, colourAt, down, across }, at) => {
      const figure = this.#pictures.children[at] as HTMLElement;
      const canvas = figure.querySelector("canvas")!;
      Object.assign(figure.dataset, data);
      figure.lastElementChild!.textContent = words;
      canvas.setAttribute("aria-label", `${this.#label}: ${words}`);
      const small = h("canvas");
      paint(small, rows, cols, (row, column) => colourAt(tone(input[row * cols + column]!, scene.dark), row, column));
      enlarge(canvas, small, { rows, cols, down, across, dark: scene.dark });
    });
  }

  /** The first picture of a row takes the keyboard; all take the pointer. */
  #figure(vit: Pair["vit"], first: boolean): HTMLElement {
    const canvas = h("canvas", first ? { tabIndex: 0 } : {});
    canvas.setAttribute("role", first ? "application" : "img");
    const { texts } = this.#story;
    if (first) {
      canvas.setAttribute("aria-roledescription", texts.cnn.chooser);
      canvas.setAttribute("aria-description", texts.cnn.chooserKeys);
    }
    choosePatch(canvas, { model: vit, view: this.#view }, (row, column, pressed) => {
      if (!pressed) return;
      this.#view.patch = [row, column]; // because the next key may come before the next scene
      this.#story.choose({ patch: [row, column] });
      this.#story.say(texts.story.chosen(row + 1, column + 1));
    });
    return h("figure", {}, canvas, h("figcaption"));
  }
}

interface Frame {
  rows: number;
  cols: number;
  down: Span;
  across: Span;
  dark: boolean;
}

/** Draws a picture of few pixels large and sharp, and a rectangle around some of them. */
function enlarge(canvas: HTMLCanvasElement, small: HTMLCanvasElement, { rows, cols, down, across, dark }: Frame): void {
  const context = scaled(canvas, SIDE, SIDE, cols, rows);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0);
  context.strokeStyle = css(accent(dark));
  context.lineWidth = 0.6;
  const [top, bottom] = inside(down, rows), [left, right] = inside(across, cols);
  context.strokeRect(left + 0.3, top + 0.3, right - left + 0.4, bottom - top + 0.4);
}

const within = ([first, last]: Span, at: number): boolean => at >= first && at <= last;

function convolutionFields({ convolutions }: Pair, scene: Scene, { texts }: Story): Field[] {
  const { config } = convolutions, [row, column] = patchOf(scene, convolutions);
  const [rows, cols] = config.image_size;
  const downs = receptive(config, row), acrosses = receptive(config, column);
  const all: Field = {
    ...fieldOf([0, rows - 1], [0, cols - 1], scene.dark),
    words: texts.cnn.pooled, data: { pixels: String(rows * cols) },
  };
  return [...downs.slice(1).map((down, at) => {
    const across = acrosses[at + 1]!, side = lengthOf(across);
    const words = texts.cnn.convolution(at + 1, stridesOf(config)[at]!, side);
    const pixels = lengthOf(inside(down, rows)) * lengthOf(inside(across, cols));
    return { ...fieldOf(down, across, scene.dark), words, data: { side: String(side), pixels: String(pixels) } };
  }), all];
}

/** What is seen keeps its ink on a tint; the rest fades. */
const fieldOf = (down: Span, across: Span, dark: boolean): Pick<Field, "down" | "across" | "colourAt"> => ({
  down, across,
  colourAt: (ink, row, column) =>
    within(down, row) && within(across, column) ? mix(ink, accent(dark), 0.22) : mix(ink, tone(0, dark), 0.7),
});

const scaleOf = ({ attention }: Both): Scale => ({ top: 1, uniform: 1 / attention.tokens });

function blockFields({ vit }: Pair, scene: Scene, both: Both, { texts }: Story): Field[] {
  const { patchRows, patchCols, gridCols } = shapeOf(vit.config), { prefix } = both.attention;
  const [row, column] = patchOf(scene, vit), token = prefix + row * gridCols + column;
  const scale = scaleOf(both);
  const spanOf = (place: number, size: number): Span => [place * size, (place + 1) * size - 1];
  const down = spanOf(row, patchRows), across = spanOf(column, patchCols);
  return spread(both.attention, token).map((share, blocks) => {
    const reached = share.filter((value, at) => at >= prefix && value > 0).length;
    const own = share[token]!, patches = share.subarray(prefix);
    const next = patches.reduce((best, value, at) => (prefix + at !== token && value > (patches[best] ?? -1) ? at : best), -1);
    const where = texts.story.patch(Math.floor(next / gridCols) + 1, (next % gridCols) + 1);
    const colourAt = (ink: Colour, y: number, x: number) => {
      const value = share[prefix + Math.floor(y / patchRows) * gridCols + Math.floor(x / patchCols)]!;
      if (value === 0) return mix(ink, tone(0, scene.dark), 0.7);
      const [r, g, b, alpha] = heat(place(value, scale), scene.dark);
      return mix(ink, [r, g, b], 0.85 * alpha);
    };
    const words = blocks === 0 ? texts.cnn.embedded(patchRows, patchCols) : texts.cnn.block(blocks, reached, percent(own), where, percent(patches[next]!));
    return { words, colourAt, down, across, data: { own: String(own), reached: String(reached) } };
  });
}

/** Canvases in one row, as one picture. */
function joined(canvases: readonly HTMLCanvasElement[]): HTMLCanvasElement {
  const { width: side } = canvases[0]!, gap = Math.round((GAP * side) / SIDE);
  const all = h("canvas", { width: canvases.length * (side + gap) - gap, height: side });
  canvases.forEach((canvas, at) => all.getContext("2d")!.drawImage(canvas, at * (side + gap), 0));
  return all;
}
