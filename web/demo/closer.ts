/** Look closer: the choice of map, every head's map, the model, and the way from ink to answer. */
import type { Vit } from "vitrine";
import { buildMaps, drawMaps } from "./blocks.ts";
import { fillChoices, listenToChoices, showChoices } from "./choices.ts";
import { element, write } from "./dom.ts";
import { choosePatch } from "./figure/cells.ts";
import { inPadUnits } from "./ink.ts";
import { buildLogits, drawLogits } from "./logits.ts";
import { drawLooks } from "./looks.ts";
import { explain, scaleOfAll } from "./overlay.ts";
import { drawPicture, lookOf } from "./picture.ts";
import { drawPatches, drawPixels, drawTokens } from "./journey.ts";
import { shapeOf } from "./pixels.ts";
import { drawShare, send } from "./send.ts";
import { isBlank, type Reading, type State } from "./state.ts";
import { size } from "./status.ts";
import { drawStem, fieldOf, mapsOf } from "./stem.ts";
import { coalesce } from "./story/work.ts";
import { listenToTakeaway } from "./takeaway.ts";
import { allWords, decimal, percent, rough } from "./texts/words.ts";

const canvas = (id: string) => element<HTMLCanvasElement>(id);

export type Closer = ReturnType<typeof buildCloser>;

interface Page {
  redraw(): void;
  /** A patch was chosen by keys or a tap. */
  chosen(): void;
  /** Puts a text into the status line. */
  say(text: string): void;
}

/** The tokens of a reading before the first block and after the last. */
interface Stream {
  model: Vit;
  reading: Reading;
  begin: Float32Array;
  end: Float32Array;
}

/** Its code comes after the first prediction, which does not need it. */
export function buildCloser(state: State, { redraw, chosen, say }: Page) {
  const isOpen = () => element<HTMLDetailsElement>("closer").open;
  let stream: Stream | undefined;
  const trace = coalesce(async (reading: Reading) => {
    const model = state.model!;
    const read = await model.classify(reading.result.input, { trace: true }).catch(() => undefined); // the reader says why
    if (!read?.trace) return;
    stream = { model, reading, begin: read.trace.tokens(0), end: read.trace.tokens(model.config.depth) };
    redraw();
  });
  listenToChoices(element, state.view, redraw);
  listenToTakeaway(state, say);
  element("closer").addEventListener("toggle", redraw);
  for (const id of ["pixels", "journey-patches"]) {
    choosePatch(canvas(id), state, (row, col, pressed) => {
      if (pressed) state.view.map = "patch";
      state.view.patch = [row, col];
      if (pressed) chosen();
      redraw();
    });
  }
  return {
    /** Draws what a reading changes: words and choices always, pictures while it is open. */
    draw() {
      const { model, reading } = state, open = isOpen();
      if (open && model && reading && stream?.reading !== reading) trace(reading);
      drawCloser(state, open, reading && stream?.model === model ? stream : undefined);
    },
    /** Draws the ink where a frame has changed no more than that. */
    drawInk() {
      if (isOpen()) drawPicture(inPadUnits(canvas("overlaid")), state, lookOf(element("pad")));
    },
    fit: () => state.model && fitCloser(state, redraw),
    share: () => send(element("share"), state, say),
  };
}

function drawCloser(state: State, open: boolean, stream: Stream | undefined): void {
  const { model, view, reading } = state, { closer } = allWords();
  drawLooks(element("looks"), state);
  write(element("explanation"), explain(state));
  write(element("running"), model ? closer.running({ build: closer.builds[model.variant], size: size(state.modelBytes) }) : "");
  showChoices(element, view, model !== undefined && view.map !== "rollout");
  element("save").ariaDisabled = String(isBlank(state));
  element("code").ariaDisabled = String(state.strokes.length === 0); // also for a photo, which code cannot hold
  drawShare(element("share"));
  if (!open) return;
  const attention = reading?.result.attention;
  const scale = attention && scaleOfAll(attention, view);
  drawPixels(canvas("pixels"), state);
  drawStem(canvas("stem"), state);
  drawPatches(canvas("journey-patches"), state);
  writeFact("begin", rough(drawTokens(canvas("tokens"), stream?.begin, state)));
  writeFact("end", rough(drawTokens(canvas("blocks"), stream?.end, state)));
  drawMaps(element("maps"), state, scale, (value, { top }) => value / top);
  drawLogits(element("logits"), state);
  write(element("maps-min"), percent(0));
  write(element("maps-max"), scale ? closer.scale({ p: percent(scale.top) }) : "");
}

function fitCloser(state: State, redraw: () => void): void {
  const { view, model } = state, config = model!.config;
  const { rows, cols, patchRows, patchCols, gridRows, gridCols } = shapeOf(config);
  fillChoices(element, config);
  buildMaps(element("maps"), config.depth, config.heads, (layer, head) => {
    const again = view.layer === layer && view.head === head;
    Object.assign(view, { layer, head: again ? "mean" : head });
    if (view.map === "rollout") view.map = "class";
    redraw();
  });
  buildLogits(element("logits"), config.labels);
  const hasStem = config.stem.length > 0, patches = gridRows * gridCols, by = (...sizes: number[]) => sizes.join("\u00a0×\u00a0");
  element("stem-step").hidden = !hasStem;
  element("patches-step").hidden = hasStem; // convolutions leave no patch to cut from the ink
  const facts: Record<string, string> = {
    pixels: by(rows, cols),
    maps: hasStem ? mapsOf(config) : "",
    patches: by(patches, patchRows * patchCols),
    tokens: by(config.prefix.length + patches, config.width),
    patch: by(patchRows, patchCols),
    width: String(config.width),
    depth: String(config.depth),
    classes: String(config.classes),
    stem: String(config.stem.length),
    field: fieldOf(config),
    calibration: onCalibration(config),
  };
  for (const [name, text] of Object.entries(facts)) writeFact(name, text);
}

function writeFact(name: string, text: string): void {
  for (const element of document.querySelectorAll(`[data-fact=${name}]`)) write(element, text);
}

function onCalibration({ temperature, uncertain_below }: Vit["config"]): string {
  const { calibration } = allWords();
  const honest = temperature === 1 ? calibration.never : calibration.scaled({ temperature: decimal(temperature, 2) });
  return uncertain_below > 0 ? `${honest} ${calibration.limit({ p: percent(uncertain_below) })}` : honest;
}
