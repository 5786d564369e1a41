/** The second tab's pictures and words, drawn from its state. */
import { css, cssTint, paint, tone } from "../colour.ts";
import { place, type Scale, tint } from "../heat.ts";
import { percent } from "../logits.ts";
import { heatMap, mostOf, scaleOfAll } from "../overlay.ts";
import { accent, shapeOf, type Shape } from "../pixels.ts";
import { size } from "../status.ts";
import { cropOf, sizeOf } from "./photo.ts";
import { similarity } from "./read.ts";
import type { OwnState } from "./state.ts";

/** Gives the canvas as many pixels as the screen shows. */
function fit(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const { clientWidth, clientHeight } = canvas;
  canvas.width = Math.max(1, Math.round(clientWidth * devicePixelRatio));
  canvas.height = Math.max(1, Math.round(clientHeight * devicePixelRatio));
  return canvas.getContext("2d")!;
}

/** Draws the part of the photo that the model sees, at the photo's own resolution. */
export function drawPhoto(canvas: HTMLCanvasElement, state: OwnState): void {
  const { photo, model, reading } = state;
  const shape = shapeOf(model?.config);
  canvas.parentElement!.style.aspectRatio = model ? `${shape.cols} / ${shape.rows}` : "";
  const cropped = !model || model.config.prepare?.kind === "photo";
  if (!cropped && reading?.input) return drawInput(canvas, reading.input, shape, state.dark);
  const context = fit(canvas);
  if (!photo) return;
  const [width, height] = sizeOf(photo);
  const side = Math.min(width, height);
  const crop = model
    ? cropOf(photo, model.config)
    : { left: (width - side) / 2, top: (height - side) / 2, width: side, height: side };
  context.drawImage(
    photo.source, crop.left, crop.top, crop.width, crop.height, 0, 0, canvas.width, canvas.height,
  );
}

/** Draws a digit model's prepared image: ink, found and centred. */
function drawInput(canvas: HTMLCanvasElement, input: Float32Array, shape: Shape, dark: boolean): void {
  paint(canvas, shape.rows, shape.cols, (row, col) => tone(input[row * shape.cols + col], dark));
}

/** The chosen map over the grid, in row order. */
export function chosenMap({ model, reading, view }: OwnState): Float32Array | undefined {
  if (!model || !reading) return undefined;
  const { map } = view;
  if (map !== "similarity") return heatMap(reading.result.attention, { ...view, map });
  return reading.patches && similarTo(reading.patches, model.config, view.patch);
}

function similarTo(
  patches: Float32Array,
  config: NonNullable<OwnState["model"]>["config"],
  [row, col]: readonly [number, number],
): Float32Array {
  return similarity(patches, config.width, row * shapeOf(config).gridCols + col);
}

/** Cosines: from 0 to 1. Attention: from 0 to the largest value of all maps on the page. */
export function scaleOfView({ reading, view }: OwnState): Scale | undefined {
  if (view.map === "similarity") return COSINES;
  return reading && scaleOfAll(reading.result.attention, { ...view, map: view.map });
}

const COSINES: Scale = { top: 1, uniform: 0 };

/** Draws the map over the photo. The photo shows through where the values are small. */
export function drawOverlay(canvas: HTMLCanvasElement, state: OwnState): Scale | undefined {
  const context = fit(canvas);
  const map = chosenMap(state);
  if (!map) return undefined;
  const { view } = state;
  const { gridRows, gridCols } = shapeOf(state.model?.config);
  const scale = scaleOfView(state)!;
  const [width, height] = [canvas.width / gridCols, canvas.height / gridRows];
  context.globalAlpha = view.strength;
  map.forEach((value, patch) => {
    const [row, col] = [Math.floor(patch / gridCols), patch % gridCols];
    const [x, y] = [Math.round(col * width), Math.round(row * height)];
    context.fillStyle = cssTint(tint(place(value, scale)));
    context.fillRect(x, y, Math.round((col + 1) * width) - x, Math.round((row + 1) * height) - y);
  });
  context.globalAlpha = 1;
  if (view.map === "patch" || view.map === "similarity") {
    const [row, col] = view.patch;
    context.strokeStyle = css(accent(true)); // the dark theme's, because photos are dark
    context.lineWidth = 2.5 * devicePixelRatio;
    context.strokeRect(col * width, row * height, width, height);
  }
  return scale;
}

/** The labels of the scale: shares of the attention, or cosines. */
export function scaleLabels({ view }: OwnState, scale: Scale | undefined): [string, string, string] {
  if (!scale) return ["–", "–", ""];
  if (view.map === "similarity") return ["0.00", "1.00", ""];
  return [percent(0), percent(scale.top), `tick: all equal, ${percent(scale.uniform)}`];
}

/** The overlay in words for a screen reader: its kind of map, and where most of the map is. */
export function describe(state: OwnState): string {
  const map = chosenMap(state);
  if (!map) return explain(state);
  return `${explain(state)} ${mostOf(map, shapeOf(state.model?.config).gridCols)}`;
}

/** What a visitor can do when there is no photo. */
export const invite = ({ model }: OwnState): string =>
  model
    ? "Drop or paste a photo here, or choose one"
    : "Drop a checkpoint’s folder and a photo here, or choose files";

export function explain({ model, reading, view, photo }: OwnState): string {
  if (!model) return "Load a checkpoint, and each patch takes the colour of the attention it gets.";
  if (!photo) return "Give the model a photo.";
  if (!reading) return "Looking…";
  const [row, col] = view.patch;
  const patch = `the patch in row ${row + 1}, column ${col + 1}`;
  const heads = view.head === "mean" ? "mean of all heads" : `head ${view.head + 1}`;
  const where = `to each patch in layer ${view.layer + 1}, ${heads}.`;
  const reader = model.config.prefix.length > 0 ? "the class token" : "the mean of all patches";
  return {
    class: `Attention of ${reader} ${where}`,
    patch: `Attention of ${patch} ${where}`,
    rollout: `How much of each patch reaches ${reader} through all layers (Abnar & Zuidema, 2020).`,
    similarity: `Similarity of each patch to ${patch} after the last layer: the cosine of their vectors.`,
  }[view.map];
}

/** Draws the first classes, or for a model without a head the patches' similarities. */
export function drawClasses(
  list: HTMLElement,
  canvas: HTMLCanvasElement,
  caption: HTMLElement,
  state: OwnState,
): void {
  const { model, reading } = state;
  const headless = model?.config.classes === 0;
  const classes = reading?.classes ?? [];
  list.replaceChildren(...classes.map(({ label, p }, index) => classRow(label, p, index === 0)));
  canvas.hidden = !headless || !reading;
  if (headless && reading) drawSimilarity(canvas, state);
  caption.textContent = !model
    ? "No checkpoint yet"
    : headless
      ? "The model has no head, so it names nothing. Similarity to the chosen patch:"
      : reading
        ? model.config.untrained ? "The model is untrained: it only guesses" : "The model sees"
        : "Waiting for a photo";
}

function classRow(label: string, p: number, best: boolean): HTMLElement {
  const row = document.createElement("li");
  const [name, bar, share] = ["b", "i", "span"].map((tag) => document.createElement(tag));
  name.textContent = label;
  share.textContent = percent(p);
  row.dataset.label = label;
  row.dataset.p = String(p);
  row.style.setProperty("--p", p.toFixed(4));
  row.classList.toggle("best", best);
  row.append(name, bar, share);
  return row;
}

function drawSimilarity(canvas: HTMLCanvasElement, { model, reading, view, dark }: OwnState): void {
  if (!reading?.patches) return;
  const { config } = model!;
  const { gridRows, gridCols } = shapeOf(config);
  const map = similarTo(reading.patches, config, view.patch);
  const least = map.reduce((a, b) => Math.min(a, b), 1);
  canvas.setAttribute("aria-label", `Cosine similarities from ${least.toFixed(2)} to 1`);
  paint(canvas, gridRows, gridCols, (row, col) => {
    if (view.patch[0] === row && view.patch[1] === col) return accent(dark);
    return tint(place(map[row * gridCols + col], COSINES));
  });
}

/** Draws shape, size, memory and speed, one row each. */
export function drawFacts(list: HTMLElement, { model, names, seconds, bytes, times }: OwnState): void {
  if (!model) return list.replaceChildren();
  const { config, family, assumed, skipped } = model;
  const { depth, width, heads, patch_size, image_size, classes } = config;
  const median = times.toSorted((a, b) => a - b)[times.length >> 1];
  const threads = model.threads > 1 ? `, ${model.threads} threads` : "";
  const facts = {
    Model:
      `${depth} layers of width ${width}, ${heads} heads, patches of ${patch_size.join("×")} in ` +
      `${image_size.join("×")}, ${classes || "no"} classes${config.untrained ? ", untrained" : ""}`,
    ...(names && { Names: "ImageNet’s, because its 1,000 classes have none of their own" }),
    ...(family !== "vitrine" && { Family: family }),
    ...(assumed.length > 0 && { Assumed: assumed.map((key) => `${key}: ${String(config[key])}`).join(", ") }),
    ...(skipped.length > 0 && { Skipped: `${skipped.length} tensors that are not the image model’s` }),
    Load: `${size(bytes)} in ${seconds.toFixed(1)} s`,
    Memory: `${size(model.memory)} of WebAssembly memory`,
    Speed:
      median === undefined
        ? "–"
        : `${median.toFixed(median < 10 ? 1 : 0)} ms a photo (${model.variant}${threads})`,
  };
  list.replaceChildren(
    ...Object.entries(facts).flatMap(([term, text]) => {
      const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
      dt.textContent = term;
      dd.textContent = text;
      return [dt, dd];
    }),
  );
}
