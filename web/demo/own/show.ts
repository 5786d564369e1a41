/** The second tab's pictures and words, drawn from its state. */
import type { DetectedObject, Placement } from "vitrine";
import { accent, css, cssHeat, paint, paintInk } from "../colour.ts";
import { h } from "../dom.ts";
import { heat, place, type Scale, scaleOf } from "../../base/heat.ts";
import { scaled } from "../figure/canvas.ts";
import { headsOf, heatMap, mostOf, scaleOfAll } from "../overlay.ts";
import { shapeOf } from "../pixels.ts";
import { medianTime } from "../reader.ts";
import { size } from "../status.ts";
import { cosine, rowOf } from "../story/vectors.ts";
import { decimal, percent, words } from "../texts/words.ts";
import { type Photo, sizeOf } from "./photo.ts";
import type { OwnState, Reading } from "./state.ts";
import { ownWords } from "./words.ts";

/** Clears the canvas. Returns its context, in the screen's pixels, where edges can be sharp. */
function fit(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = scaled(canvas, canvas.clientWidth, canvas.clientHeight);
  context.resetTransform();
  return context;
}

/** Draws the part of the photo that the model saw, at the photo's own resolution. */
export function drawPhoto(canvas: HTMLCanvasElement, state: OwnState): void {
  const { photo, model, reading } = state;
  const shape = shapeOf(model?.config, reading?.size);
  canvas.parentElement!.style.aspectRatio = model ? `${shape.cols} / ${shape.rows}` : "";
  const cropped = !model || model.config.prepare?.kind === "photo";
  if (!cropped && reading?.input) return paintInk(canvas, reading.input, shape.rows, shape.cols, state.dark); // ink, found and centred
  const context = fit(canvas);
  if (!photo) return;
  const { left, top, width, height } = reading?.placement ?? middleOf(photo, model ? shape.cols / shape.rows : 1);
  context.drawImage(photo.source, left, top, width, height, 0, 0, canvas.width, canvas.height);
}

/** What is shown until the model has looked: the largest middle part of these proportions. */
function middleOf(photo: Photo, proportions: number): Placement {
  const [columns, rows] = sizeOf(photo);
  const width = Math.min(columns, rows * proportions);
  const height = width / proportions;
  return { left: (columns - width) / 2, top: (rows - height) / 2, width, height };
}

const chosenObject = ({ reading, object }: OwnState) => (object === undefined ? undefined : reading?.objects?.[object]);

/** The chosen map over the grid, in row order. */
function chosenMap(state: OwnState): Float32Array | undefined {
  const { reading, view } = state, { map } = view, object = chosenObject(state);
  if (object) return reading!.result.attention.fromPrefix(object.token, view.layer, view.head);
  if (map === "similarity") return similarity(state);
  return reading && heatMap(reading.result.attention, { ...view, map });
}

/** The cosine between the chosen patch's vector and each patch's: -1 to 1. */
function similarity({ model, reading, view }: OwnState): Float32Array | undefined {
  if (!model || !reading?.patches) return undefined;
  const { patches } = reading, { width } = model.config, [row, col] = view.patch;
  const one = rowOf(patches, row * shapeOf(model.config, reading.size).gridCols + col, width);
  return Float32Array.from({ length: patches.length / width }, (_, index) => cosine(one, rowOf(patches, index, width)));
}

/** Cosines: from 0 to 1. Attention: from 0 to the largest value of all maps on the page. */
export function scaleOfView(state: OwnState): Scale | undefined {
  const { reading, view } = state;
  if (chosenObject(state)) {
    const map = chosenMap(state)!;
    return scaleOf([map], 1 / map.length);
  }
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
  const object = chosenObject(state);
  const { gridRows, gridCols } = shapeOf(state.model?.config, state.reading?.size);
  const scale = scaleOfView(state)!;
  const [width, height] = [canvas.width / gridCols, canvas.height / gridRows];
  context.globalAlpha = view.strength;
  map.forEach((value, patch) => {
    const [row, col] = [Math.floor(patch / gridCols), patch % gridCols];
    const [x, y] = [Math.round(col * width), Math.round(row * height)];
    context.fillStyle = cssHeat(place(value, scale), state.dark);
    context.fillRect(x, y, Math.round((col + 1) * width) - x, Math.round((row + 1) * height) - y);
  });
  context.globalAlpha = 1;
  if (!object && (view.map === "patch" || view.map === "similarity")) {
    const [row, col] = view.patch;
    context.strokeStyle = css(accent(true)); // the dark theme's, because photos are dark
    context.lineWidth = 2.5 * devicePixelRatio;
    context.strokeRect(col * width, row * height, width, height);
  }
  drawBoxes(context, state);
  return scale;
}

/** Where an object's box lies in the model's image: shares of its sides. */
function boxOf({ placement }: Reading, { box }: DetectedObject) {
  const { left, top, width, height } = placement;
  return { left: (box.left - left) / width, top: (box.top - top) / height, width: box.width / width, height: box.height / height };
}

/** The smallest object over a patch, by its place among the reading's. */
export function objectAt({ reading, model }: OwnState, row: number, col: number): number | undefined {
  const { gridRows, gridCols } = shapeOf(model?.config, reading?.size), x = (col + 0.5) / gridCols, y = (row + 0.5) / gridRows;
  const over = (reading?.objects ?? []).map((object, index) => ({ index, ...boxOf(reading!, object) }))
    .filter(({ left, top, width, height }) => x >= left && x <= left + width && y >= top && y <= top + height);
  return over.sort((a, b) => a.width * a.height - b.width * b.height)[0]?.index;
}

/** Draws boxes with their labels. The chosen one comes last, is bolder and alone has its label. */
function drawBoxes(context: CanvasRenderingContext2D, state: OwnState): void {
  const { reading } = state, { canvas } = context, chosen = chosenObject(state), objects = reading?.objects ?? [];
  const unit = devicePixelRatio;
  context.font = `${13 * unit}px sans-serif`;
  context.textBaseline = "top";
  for (const object of chosen ? [...objects.filter((one) => one !== chosen), chosen] : [...objects].reverse()) {
    const { left, top, width, height } = boxOf(reading!, object);
    const sides = [left * canvas.width, top * canvas.height, width * canvas.width, height * canvas.height] as const;
    const colour = object === chosen ? css(accent(true)) : "#fff"; // over photos, which are dark
    for (const [stroke, line] of [["#000", 3], [colour, 1.5]] as const) {
      context.strokeStyle = stroke;
      context.lineWidth = line * unit * (object === chosen ? 1.6 : 1);
      context.strokeRect(...sides);
    }
    if (chosen && object !== chosen) continue;
    const text = `${object.label} ${percent(object.p)}`, tall = 18 * unit, wide = context.measureText(text).width + 8 * unit;
    const x = Math.max(0, Math.min(sides[0], canvas.width - wide)), y = Math.max(0, sides[1] - tall);
    context.fillStyle = "#000";
    context.fillRect(x, y, wide, tall);
    context.fillStyle = colour;
    context.fillText(text, x + 4 * unit, y + 2.5 * unit);
  }
}

/** The labels of the scale: shares of the attention, or cosines. */
export function scaleLabels({ view }: OwnState, scale: Scale | undefined): [string, string, string] {
  if (!scale) return ["–", "–", ""];
  if (view.map === "similarity") return [decimal(0, 2), decimal(1, 2), ""];
  return [percent(0), percent(scale.top), ownWords().tick({ p: percent(scale.uniform) })];
}

/** The overlay in words for a screen reader: its kind of map, and where most of the map is. */
export function describe(state: OwnState): string {
  const map = chosenMap(state);
  if (!map) return explain(state);
  return `${explain(state)} ${mostOf(map, shapeOf(state.model?.config, state.reading?.size).gridCols)}`;
}

export const invite = ({ model }: OwnState): string =>
  model ? ownWords().invitePhoto : ownWords().inviteAll;

export function explain(state: OwnState): string {
  const { model, reading, view, photo } = state;
  const { maps } = words, own = ownWords();
  if (!model) return own.noModel;
  if (!photo) return own.givePhoto;
  if (!reading) return own.looking;
  const [row, column] = [view.patch[0] + 1, view.patch[1] + 1];
  const [layer, heads] = [view.layer + 1, headsOf(view)];
  const object = chosenObject(state);
  if (object) return own.ofObject({ label: object.label, layer, heads });
  const byClass = model.config.prefix.length > 0;
  return {
    class: (byClass ? maps.ofClass : own.ofMean)({ layer, heads }),
    patch: maps.ofPatch({ row, column, layer, heads }),
    rollout: byClass ? maps.toClass : own.toMean,
    similarity: own.similarity({ row, column }),
  }[view.map];
}

/** Draws the first classes, or for a model without a head the patches' similarities. */
export function drawClasses(
  list: HTMLElement,
  canvas: HTMLCanvasElement,
  caption: HTMLElement,
  state: OwnState,
  choose: (object: number | undefined) => void,
): void {
  const { model, reading } = state;
  const headless = model?.config.classes === 0;
  const classes = reading?.classes ?? [];
  if (reading?.objects) drawObjects(list, state, choose);
  else list.replaceChildren(...classes.map(({ label, p }, index) => rowFor(label, p, index === 0, partsOf(label, answer(p, state)))));
  list.classList.toggle("doubt", model?.config.untrained === true || reading?.uncertain === true);
  canvas.hidden = !headless || !reading;
  if (headless && reading) drawSimilarity(canvas, state);
  const own = ownWords();
  caption.textContent = !model
    ? own.noCheckpoint
    : headless
      ? own.headless
      : reading
        ? model.config.untrained ? own.untrained
          : !reading.objects ? (reading.uncertain ? own.unsure : own.sees) : reading.objects.length > 0 ? own.finds : own.findsNothing
        : own.waiting;
}

/** The lists that show a reading's objects. They are built once, so that a row keeps the focus. */
const built = new WeakMap<HTMLElement, DetectedObject[]>();

/** A button for each object, which shows its map while it is pointed at or has the focus. */
function drawObjects(list: HTMLElement, state: OwnState, choose: (object: number | undefined) => void): void {
  const objects = state.reading!.objects!;
  if (built.get(list) !== objects || list.childElementCount !== objects.length) {
    built.set(list, objects);
    list.replaceChildren(...objects.map(({ label, p }, index) => {
      const button = h("button", { type: "button" }, ...partsOf(label, answer(p, state)));
      for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => choose(index));
      for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => choose(undefined));
      return rowFor(label, p, index === 0, [button]);
    }));
  }
}

/** A probability as a share of a hundred; a regression's value as it is. */
export const answer = (p: number, { model }: OwnState): string => (hasValues(model) ? decimal(p, 4) : percent(p));

const hasValues = (model: OwnState["model"]) => model?.config.problem_type === "regression";

const partsOf = (label: string, text: string) => [h("b", {}, label), h("i"), h("span", {}, text)];

function rowFor(label: string, p: number, best: boolean, parts: HTMLElement[]): HTMLElement {
  const row = h("li", { className: best ? "best" : "", data: { label, p: String(p) } }, ...parts);
  row.style.setProperty("--p", Math.min(1, Math.max(0, p)).toFixed(4));
  return row;
}

function drawSimilarity(canvas: HTMLCanvasElement, state: OwnState): void {
  const { view, dark } = state, map = similarity(state);
  if (!map) return;
  const { gridRows, gridCols } = shapeOf(state.model?.config, state.reading?.size);
  const least = map.reduce((a, b) => Math.min(a, b), 1);
  canvas.setAttribute("aria-label", ownWords().cosines({ least: decimal(least, 2) }));
  paint(canvas, gridRows, gridCols, (row, col) => {
    if (view.patch[0] === row && view.patch[1] === col) return accent(dark);
    return heat(place(map[row * gridCols + col], COSINES), dark);
  });
}

export function drawFacts(list: HTMLElement, state: OwnState): void {
  const { model, names, seconds, bytes } = state;
  if (!model) return list.replaceChildren();
  const { config, family, assumed, skipped } = model;
  const { depth, width, heads, patch_size, image_size, classes } = config;
  const median = medianTime(state);
  const { facts: say } = ownWords();
  const how = model.variant + (model.threads > 1 ? say.threads({ count: model.threads }) : "");
  const facts = {
    [say.model]:
      say.shape({ depth, width: String(width), heads, patch: patch_size.join("×"), image: image_size.join("×") }) +
      (classes ? say.classes({ count: String(classes) }) : say.noClasses) + (config.untrained ? say.untrained : ""),
    ...(names && { [say.names]: say.imagenet }),
    ...(family !== "vitrine" && { [say.family]: family }),
    ...(assumed.length > 0 && { [say.assumed]: assumed.map((key) => (key in config ? `${key}: ${String(config[key])}` : key)).join(", ") }),
    ...(skipped.length > 0 && { [say.skipped]: say.tensors({ count: String(skipped.length) }) }),
    [say.load]: say.loaded({ size: size(bytes), seconds: decimal(seconds, 1) }),
    [say.memory]: say.used({ size: size(model.memory) }),
    [say.speed]: median === undefined ? "–" : say.time({ milliseconds: decimal(median, median < 10 ? 1 : 0), how }),
  };
  list.replaceChildren(...Object.entries(facts).flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]));
}
