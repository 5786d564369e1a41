/** A model with a stem: how far the chosen patch sees after each convolution. */
import { css, paint, tone } from "../../../colour.ts";
import { accent } from "../../../pixels.ts";
import { scaled } from "../../../figure/canvas.ts";
import { inside, lengthOf, seenBy, type Span, stridesOf, unitOf } from "../../../receptive.ts";
import { h } from "../../../dom.ts";
import { player, playing, saveable } from "../../../figure/parts.ts";
import type { Scene, Story } from "../../scene.ts";
import type { Words } from "./texts/en.ts";

export function buildField({ choices }: Story, own: Words) {
  const canvas = saveable(h("canvas"), own.fieldFigure);
  const words = h("p", { id: "patches-field-words" });
  let scene: Scene | undefined;
  let fitted: unknown;
  const shown = () => {
    if (!scene) return;
    const { config, shape, patch } = scene;
    const down = fieldsOf(config, shape.patchRows, patch[0]), across = fieldsOf(config, shape.patchCols, patch[1]);
    const passed = input.valueAsNumber;
    paintField(canvas, scene, down, across, passed);
    const [rows, columns] = [lengthOf(down[passed]!), lengthOf(across[passed]!)];
    const seen = lengthOf(inside(down[passed]!, shape.rows)) * lengthOf(inside(across[passed]!, shape.cols));
    words.textContent = own.field({ passed, rows, columns, inside: seen, all: shape.rows * shape.cols });
    Object.assign(words.dataset, { passed, top: down[passed]![0], bottom: down[passed]![1] });
    Object.assign(words.dataset, { left: across[passed]![0], right: across[passed]![1] });
    input.ariaValueText = canvas.ariaLabel = words.textContent;
  };
  const passing = choices.slider("passed", own.passed, [0, 1, 1], 1, shown), { label, input } = passing;
  input.id = "patches-passed";
  const root = h("figure", { className: "field" }, canvas, words, label,
    h("div", { className: "figure-tools" },
      player(own.grow, playing(passing, 2400))));

  return {
    root,
    draw(next: Scene) {
      scene = next;
      if (fitted !== next.model) choices.endAt("passed", input, next.config.stem.length, !fitted);
      fitted = next.model;
      shown();
    },
  };
}

/** Along one side: the pixels known to the places above a patch after 0, 1, … convolutions of a stem. */
function fieldsOf(config: Scene["config"], patchSize: number, index: number): Span[] {
  const strides = stridesOf(config);
  return [0, ...strides].map((_, passed) => {
    const before = strides.slice(0, passed), unit = unitOf(before);
    return seenBy([Math.floor((index * patchSize) / unit), Math.ceil(((index + 1) * patchSize) / unit) - 1], before);
  });
}

const ZOOM = 8; // CSS pixels for a pixel of the image
const MARGIN = 6; // pixels of padding that are in the picture
const image = document.createElement("canvas");

/** The image with a margin, because the field reaches into the padding. */
function paintField(canvas: HTMLCanvasElement, scene: Scene, down: Span[], across: Span[], passed: number): void {
  const { shape: { rows, cols }, result, dark } = scene;
  const [width, height] = [cols + 2 * MARGIN, rows + 2 * MARGIN];
  paint(image, rows, cols, (row, column) => tone(result.input[row * cols + column]!, dark));
  const context = scaled(canvas, width * ZOOM, height * ZOOM, width, height);
  context.imageSmoothingEnabled = false;
  context.translate(MARGIN, MARGIN);
  context.globalAlpha = 0.3;
  context.drawImage(image, 0, 0);
  context.globalAlpha = 1;
  context.save();
  const box = (k: number): [number, number, number, number] =>
    [across[k]![0], down[k]![0], lengthOf(across[k]!), lengthOf(down[k]!)];
  context.beginPath();
  context.rect(...box(passed));
  context.clip();
  context.drawImage(image, 0, 0);
  context.restore();
  context.strokeStyle = css(accent(dark));
  for (let k = 0; k <= passed; k++) {
    context.globalAlpha = k === passed || k === 0 ? 1 : 0.4;
    context.lineWidth = k === passed ? 0.5 : 0.25;
    context.strokeRect(...box(k));
  }
  context.globalAlpha = 1;
}
