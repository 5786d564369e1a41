/** Look closer: the choice of map, every head's map, the model, and the way from ink to answer. */
import type { Vit } from "vitrine";
import { buildMaps, drawMaps } from "./blocks.ts";
import { fillChoices, listenToChoices, showChoices } from "./choices.ts";
import { choosePatch } from "./figure/cells.ts";
import { inPadUnits } from "./ink.ts";
import { buildLogits, drawLogits, percent } from "./logits.ts";
import { drawLooks } from "./looks.ts";
import { explain, scaleOfAll } from "./overlay.ts";
import { drawPatches } from "./patches.ts";
import { drawPicture, lookOf } from "./picture.ts";
import { drawPixels, shapeOf } from "./pixels.ts";
import { drawShare, send } from "./send.ts";
import { isBlank, type Reading, type State } from "./state.ts";
import { size } from "./status.ts";
import { drawStem, fieldOf, mapsOf } from "./stem.ts";
import { coalesce } from "./story/coalesce.ts";
import { listenToTakeaway } from "./takeaway.ts";
import { decimal, rough, words } from "./texts/words.ts";
import { drawTokens } from "./tokens.ts";
import { write } from "./write.ts";

type Find = (id: string) => HTMLElement;
const canvas = (find: Find, id: string) => find(id) as HTMLCanvasElement;

export interface Closer {
  /** Draws what a reading changes: words and choices always, pictures while it is open. */
  draw(): void;
  /** Draws the ink where a frame has changed no more than that. */
  drawInk(): void;
  /** Fits choices and texts to the model and the language. */
  fit(): void;
  share(): Promise<void>;
}

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
export function buildCloser(find: Find, state: State, { redraw, chosen, say }: Page): Closer {
  const isOpen = () => (find("closer") as HTMLDetailsElement).open;
  let stream: Stream | undefined;
  const trace = coalesce(async (reading: Reading) => {
    const model = state.model!;
    const read = await model.classify(reading.result.input, { trace: true }).catch(() => undefined); // the reader says why
    if (!read?.trace) return;
    stream = { model, reading, begin: read.trace.tokens(0), end: read.trace.tokens(model.config.depth) };
    redraw();
  });
  listenToChoices(find, state.view, redraw);
  listenToTakeaway(find, state, say);
  find("closer").addEventListener("toggle", redraw);
  for (const id of ["pixels", "journey-patches"]) {
    choosePatch(canvas(find, id), state, (row, col, pressed) => {
      if (pressed) state.view.map = "patch";
      state.view.patch = [row, col];
      if (pressed) chosen();
      redraw();
    });
  }
  return {
    draw() {
      const { model, reading } = state, open = isOpen();
      if (open && model && reading && stream?.reading !== reading) trace(reading);
      drawCloser(find, state, open, reading && stream?.model === model ? stream : undefined);
    },
    drawInk() {
      if (isOpen()) drawPicture(inPadUnits(canvas(find, "overlaid")), state, lookOf(find("pad")));
    },
    fit: () => state.model && fitCloser(find, state, redraw),
    share: () => send(find("share"), state, say),
  };
}

function drawCloser(find: Find, state: State, open: boolean, stream: Stream | undefined): void {
  const { model, view, reading } = state;
  drawLooks(find("looks"), state);
  write(find("explanation"), explain(state));
  write(find("running"), model ? words.status.running(words.status.builds[model.variant], size(state.modelBytes)) : "");
  showChoices(find, view, model !== undefined && view.map !== "rollout");
  find("save").ariaDisabled = String(isBlank(state));
  find("code").ariaDisabled = String(state.strokes.length === 0); // also for a photo, which code cannot hold
  drawShare(find("share"));
  if (!open) return;
  const attention = reading?.result.attention;
  const scale = attention && scaleOfAll(attention, view);
  drawPixels(canvas(find, "pixels"), state);
  drawStem(canvas(find, "stem"), state);
  drawPatches(canvas(find, "journey-patches"), state);
  writeFact("begin", rough(drawTokens(canvas(find, "tokens"), stream?.begin, state)));
  writeFact("end", rough(drawTokens(canvas(find, "blocks"), stream?.end, state)));
  drawMaps(find("maps"), state, scale, (value, { top }) => value / top);
  drawLogits(find("logits"), state);
  write(find("maps-min"), percent(0));
  write(find("maps-max"), scale ? words.maps.common(percent(scale.top)) : "");
}

/** Writes the model's choices and facts in the page's language. */
function fitCloser(find: Find, state: State, redraw: () => void): void {
  const { view, model } = state, config = model!.config;
  const { rows, cols, patchRows, patchCols, gridRows, gridCols } = shapeOf(config);
  fillChoices(find, config);
  buildMaps(find("maps"), config.depth, config.heads, (layer, head) => {
    const again = view.layer === layer && view.head === head;
    Object.assign(view, { layer, head: again ? "mean" : head });
    if (view.map === "rollout") view.map = "class";
    redraw();
  });
  buildLogits(find("logits"), config.labels);
  const hasStem = config.stem.length > 0, patches = gridRows * gridCols, by = (...sizes: number[]) => sizes.join("\u00a0×\u00a0");
  find("stem-step").hidden = !hasStem;
  find("patches-step").hidden = hasStem; // convolutions leave no patch to cut from the ink
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

/** Says how reliable the probabilities are. */
function onCalibration({ temperature, uncertain_below }: Vit["config"]): string {
  const { calibration } = words;
  const honest = temperature === 1 ? calibration.never : calibration.scaled(decimal(temperature, 2));
  return uncertain_below > 0 ? `${honest} ${calibration.limit(percent(uncertain_below))}` : honest;
}
