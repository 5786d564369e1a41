import type { Vit } from "vitrine";
import { showAnswer } from "./answer.ts";
import { drawBlocks, buildMaps, drawMaps } from "./blocks.ts";
import { fillChoices, listenToChoices, showChoices } from "./choices.ts";
import { buildExamples, drawExamples, writeOut } from "./examples.ts";
import { OFFERED } from "./handwriting.ts";
import { inPadUnits, type Stroke } from "./ink.ts";
import { isLongInComing } from "./line.ts";
import { buildBars, drawBars, drawLogits, percent } from "./logits.ts";
import { addressOf, choiceIn, MODELS, titleOf, type ModelFile } from "./models.ts";
import { paintScale } from "./colour.ts";
import { firstView, isIn, type LinkState } from "./link.ts";
import { stayForOffline } from "./offline/page.ts";
import { describe, drawOverlay, explain, heatMap, mostOf, patchAt } from "./overlay.ts";
import { drawPad, listen, type PadEvents } from "./pad.ts";
import { drawPatches } from "./patches.ts";
import { drawPicture, lookOf } from "./picture.ts";
import { choosePatch, drawPixels, shapeOf } from "./pixels.ts";
import { loadModel, read } from "./predict.ts";
import { inWords } from "./remedy.ts";
import { state } from "./state.ts";
import { fromLink, kept, keepOverReload } from "./share.ts";
import { showError, showProgress, showReady, showWord } from "./status.ts";
import { drawStem, fieldOf } from "./stem.ts";
import { loadStoryLazily } from "./story/lazy-story.ts";
import { isOpen } from "./tabs.ts";
import { followLanguage } from "./texts/language.ts";
import { decimal, onLanguage, words } from "./texts/words.ts";
import { followTheme } from "./theme.ts";
import { listenToTakeaway, showTakeaway } from "./takeaway.ts";
import { drawTokens } from "./tokens.ts";
import { sentence } from "./verdict.ts";
import { write } from "./write.ts";

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const canvas = (id: string) => element<HTMLCanvasElement>(id);
const select = (id: string) => element<HTMLSelectElement>(id);

const pad = canvas("pad");
const undo = element<HTMLButtonElement>("undo");
const redo = element<HTMLButtonElement>("redo");
const clear = element<HTMLButtonElement>("clear");

let loading: AbortController | undefined;
let busy = false;
let noticed: (() => void) | undefined; // shows a notice, which stays until the visitor draws on
let wanted: LinkState["view"]; // a link's choices, until a model has loaded
let word = ""; // stays in the status line too, even when a load ends

select("model").replaceChildren(...MODELS.map((choice) => new Option(titleOf(choice), choice.id)));
void start(choiceIn(location.href)).finally(stayForOffline); // loads while the page is built
followLanguage(select("language"), say);

// ---- Drawing the state ------------------------------------------------------

let scheduled = false;
let stale = true; // more than the ink must be drawn anew

function redraw(): void {
  stale = true;
  redrawInk();
}

function redrawInk(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    draw();
    if (state.model && !busy && state.answered !== state.version) void predict();
  });
}

function draw(): void {
  const look = lookOf(pad);
  drawPad(pad, state.strokes, keyPen);
  drawPicture(inPadUnits(canvas("overlaid")), state, look);
  if (stale) drawReading();
  stale = false;
  drawStory();
}

function drawReading(): void {
  const scale = drawOverlay(canvas("overlay"), state);
  paintScale(canvas("scale"), scale);
  drawPixels(canvas("pixels"), state);
  drawStem(canvas("stem"), state);
  drawPatches(canvas("journey-patches"), state);
  drawTokens(canvas("tokens"), state);
  drawBlocks(canvas("blocks"), state, scale);
  // The elements change last. After a change, whoever asks for a style makes the browser compute the styles again.
  write(element("scale-min"), scale ? percent(0) : "–");
  write(element("scale-max"), scale ? percent(scale.top) : "–");
  write(element("scale-tick"), scale ? words.maps.tick(percent(scale.uniform)) : "");
  write(element("explanation"), explain(state));
  canvas("overlay").setAttribute("aria-label", describe(state));
  drawPrediction();
  drawBars(element("bars"), state);
  drawMaps(element("maps"), state, scale);
  drawLogits(element("logits"), state);
  drawChoices();
}

const drawPrediction = () => showAnswer(element, state, loading !== undefined);

function drawChoices(): void {
  const { view, model, history, strokes, example } = state;
  // Not `disabled`, because a disabled button loses the keyboard's focus when it was just pressed.
  undo.ariaDisabled = String(example || !history.canUndo);
  redo.ariaDisabled = String(!history.canRedo);
  clear.ariaDisabled = String(strokes.length === 0);
  showTakeaway(element, state);
  showChoices(element, view, model !== undefined && view.map !== "rollout");
}

// ---- Changing the drawing ---------------------------------------------------

const keep = keepOverReload(() => (state.example ? [] : state.strokes));
let stopExample = () => {};
let stroke: Stroke = []; // the stroke under the pen
let strokeEnded = false;

function changed(): void {
  inked();
  redraw();
}

/** A stroke goes on or ends: the last reading stays in sight until the next one. */
function inked(): void {
  state.version++;
  drawPrediction(); // at once, because a result must not stay for a frame after its drawing
  redrawInk();
}

/** Puts another drawing on the pad. Results that come later for the old drawing are dropped. */
function replace(strokes: Stroke[], unfinished = false): void {
  stopExample();
  hush();
  keyPen.down = false;
  state.unfinished = unfinished;
  state.example = false;
  state.strokes = strokes;
  state.reading = undefined;
  state.since = state.version + 1;
  keep();
  changed();
}

function remember(): void {
  state.history.remember(state.example ? [] : state.strokes);
}

function step(way: "undo" | "redo"): void {
  const other = state.history[way](state.strokes);
  if (!other) return;
  replace(other);
  strokeEnded = other.length > 0;
  if (!strokeEnded) element("announce").textContent = words.pad.blank;
}

function wipe(): void {
  if (state.strokes.length === 0) return;
  if (!state.example) remember();
  replace([]);
  element("announce").textContent = words.pad.cleared;
}

const hand: PadEvents = {
  begin(point) {
    remember();
    if (state.example) replace([]);
    hush();
    stroke = [point];
    state.unfinished = true;
    state.strokes = [...state.strokes, stroke];
    changed();
  },
  extend(points) {
    if (state.strokes.at(-1) !== stroke) return; // undone or cleared while the pen was down
    stroke.push(...points);
    inked();
  },
  end() {
    strokeEnded = true;
    state.unfinished = false;
    keep();
    inked(); // read again, as a drawing that is finished
  },
  hover(x, y) {
    const patch = state.view.map === "patch" && patchAt(state, x, y);
    if (!patch) return;
    state.view.patch = patch;
    redraw();
  },
  choosable: (x, y) =>
    state.view.map === "patch" && !state.example && patchAt(state, x, y) !== undefined,
  moved: redraw,
};
const keyPen = listen(pad, hand);

/** Tells the screen reader the result once a stroke is finished, not in every frame. */
function announce(): void {
  const { reading, version } = state;
  if (!strokeEnded || reading?.version !== version) return;
  strokeEnded = false;
  const { attention } = reading.result;
  const read = sentence(reading.result);
  const most = attention && mostOf(heatMap(attention, state.view), attention.grid[1]);
  element("announce").textContent = most ? `${read}. ${most}` : read;
}

/** Tells the screen reader the patch that keys or a tap chose, and where most of its map is. */
function sayPatch(): void {
  const [row, col] = state.view.patch;
  const { attention } = state.reading?.result ?? {};
  const most = attention ? ` ${mostOf(heatMap(attention, state.view), attention.grid[1])}` : "";
  element("announce").textContent = words.maps.chosen(row + 1, col + 1) + most;
}

// ---- The model --------------------------------------------------------------

/** Reads the current drawing. Only one reading runs at a time; the next frame asks again. */
async function predict(): Promise<void> {
  const { version, model } = state;
  busy = true;
  try {
    const answer = await read(state);
    if (model !== state.model) return; // replaced meanwhile: the next frame asks the new model
    state.answered = version;
    if (version >= state.since) {
      state.reading = answer;
      if (!loading && !noticed) showStatus();
      announce();
    }
  } catch (error) {
    if (model === state.model) fail("stopped", error);
  } finally {
    busy = false;
    redraw();
  }
}

/**
 * Loads a model. The old model stays until the new one has loaded. If the load will take long, the
 * new model's light form reads in the meantime.
 */
async function start(choice: ModelFile): Promise<void> {
  loading?.abort();
  const turn = (loading = new AbortController());
  select("model").value = choice.id;
  showProgress(element("status"), 0, 0);
  const { light } = choice;
  if (light && state.choice !== light && (await isLongInComing(choice.url, choice.bytes))) {
    await fetchInto(light, turn).catch(() => {}); // the whole model may still load
  }
  try {
    await fetchInto(choice, turn);
  } catch (error) {
    if (loading === turn) refuse(choice, error);
  }
}

/** Loads a model and takes it, unless another was asked for meanwhile. */
async function fetchInto(choice: ModelFile, turn: AbortController): Promise<void> {
  const status = element("status");
  let bytes = 0;
  const model = await loadModel(choice, turn.signal, (loaded, total) => {
    bytes = loaded;
    if (loading === turn) showProgress(status, loaded, total);
  });
  if (loading === turn) take(model, choice, bytes);
  else model.dispose(); // another model was asked for at the last moment
}

/** Replaces the model. The drawing stays; the old model's reading of it is dropped. */
function take(model: Vit, choice: ModelFile, bytes: number): void {
  if (MODELS.includes(choice)) loading = undefined; // a light form: the whole model still loads
  noticed = undefined;
  state.model?.dispose();
  strokeEnded = state.model !== undefined && !state.example; // announces the new model's answer
  Object.assign(state, { model, choice, modelBytes: bytes, reading: undefined, answered: -1 });
  history.replaceState(null, "", addressOf(choice, location.href));
  fit();
  if (!loading) showStatus();
  redraw();
}

/** Tells that a model did not load. The old model, if any, stays in use. */
function refuse(choice: ModelFile, error: unknown): void {
  const { model, choice: old } = state;
  loading = undefined;
  if (!model || !old) return fail("notLoaded", error, choice);
  select("model").value = old.id;
  const stays = () => (old === choice.light ? words.trouble.light : old.id);
  notice(() => words.trouble.stays(choice.id, stays()), error, choice);
}

function fail(what: "stopped" | "notLoaded", error: unknown, choice = choiceIn(location.href)): void {
  state.model?.dispose();
  state.model = state.choice = state.reading = undefined;
  notice(() => words.trouble[what], error, choice);
  redraw();
}

function showStatus(): void {
  if (word) showWord(element("status"), word);
  else showReady(element("status"), state);
}

/** Puts a text into the status line, at once or when the present load ends. */
function say(text: string): void {
  word = text;
  if (state.model && !loading) showStatus();
}

/** Drops what the status line said, because the visitor draws on. */
function hush(): void {
  noticed = undefined;
  word = "";
}

function notice(what: () => string, error: unknown, choice: ModelFile): void {
  noticed = () => {
    const text = words.trouble.because(what(), inWords(error));
    showError(element("status"), text, () => void start(choice));
  };
  noticed();
}

/** Chooses what the page's link asked for, once there is a model that has it. */
function takeWanted(): void {
  if (!wanted || !state.model) return;
  if (isIn(wanted, state.model.config)) Object.assign(state.view, wanted);
  wanted = undefined;
}

/** Fits the page's choices and texts to the model. */
function fit(): void {
  const config = state.model!.config;
  buildBars(element("bars"), element("logits"), [...config.labels]);
  const { layer, patch } = firstView(config);
  Object.assign(state.view, { layer, patch });
  if (state.view.head !== "mean" && state.view.head >= config.heads) state.view.head = "mean";
  takeWanted();
  const stemmed = config.stem.length > 0;
  element("stem-step").hidden = !stemmed;
  element("stem-step").parentElement!.classList.toggle("stemmed", stemmed);
  nameChoices(config);
}

/** Writes the model's choices and facts in the page's language. */
function nameChoices(config: Vit["config"]): void {
  const { rows, cols, patchRows, patchCols, gridRows, gridCols } = shapeOf(config);
  fillChoices(element, config);
  buildMaps(element("maps"), config.depth, config.heads, (layer, head) => {
    const again = state.view.layer === layer && state.view.head === head;
    Object.assign(state.view, { layer, head: again ? "mean" : head });
    if (state.view.map === "rollout") state.view.map = "class";
    redraw();
  });
  const facts: Record<string, string> = {
    pixels: `${rows}\u00a0×\u00a0${cols}`,
    patches: String(gridRows * gridCols),
    patch: `${patchRows}\u00a0×\u00a0${patchCols}`,
    width: String(config.width),
    depth: String(config.depth),
    classes: String(config.classes),
    stem: String(config.stem.length),
    field: fieldOf(config),
    calibration: onCalibration(config),
  };
  for (const span of document.querySelectorAll<HTMLElement>("[data-fact]")) {
    span.textContent = facts[span.dataset.fact!];
  }
}

/** Says how reliable the probabilities are. */
function onCalibration({ temperature, uncertain_below }: Vit["config"]): string {
  const { calibration } = words;
  const honest = temperature === 1 ? calibration.never : calibration.scaled(decimal(temperature, 2));
  return uncertain_below > 0 ? `${honest} ${calibration.limit(percent(uncertain_below))}` : honest;
}

// ---- The page's controls ----------------------------------------------------

undo.addEventListener("click", () => step("undo"));
redo.addEventListener("click", () => step("redo"));
clear.addEventListener("click", wipe);
document.addEventListener("keydown", (event) => {
  if (!isOpen("draw") || (event.target as HTMLElement).matches("select, input")) return;
  if (document.querySelector("dialog[open]")) return; // Escape closes the dialog
  const key = event.ctrlKey || event.metaKey ? event.key.toLowerCase() : "";
  if (key === "y" || (key === "z" && event.shiftKey)) step("redo");
  else if (key === "z") step("undo");
  else if (event.key === "Escape" || event.key === "Delete") wipe();
  else return;
  event.preventDefault();
});

select("model").addEventListener("change", () => {
  void start(MODELS.find(({ id }) => id === select("model").value)!);
});
listenToChoices(element, state.view, redraw);
for (const id of ["pixels", "journey-patches"]) {
  choosePatch(canvas(id), state, (row, col, pressed) => {
    if (pressed) state.view.map = "patch";
    state.view.patch = [row, col];
    if (pressed) sayPatch();
    redraw();
  });
}

buildBars(element("bars"), element("logits"), Array.from("0123456789"));
const offerExamples = () =>
  buildExamples(element("examples"), (strokes) => openDrawing(strokes.map((stroke) => [...stroke])));
offerExamples();
onLanguage(rename);
followTheme(element("theme"), (dark) => {
  state.dark = dark;
  drawExamples(element("examples"));
  redraw();
});
new ResizeObserver(redraw).observe(pad);

/** Says everything that is not drawn anew in each frame in another language. */
function rename(): void {
  MODELS.forEach((choice, index) => (select("model").options[index].text = titleOf(choice)));
  offerExamples();
  drawExamples(element("examples"));
  if (state.model) nameChoices(state.model.config);
  word = element("announce").textContent = "";
  if (!loading && noticed) noticed();
  else if (!loading && state.model) showStatus();
  redraw();
}

/** Writes an example on the empty pad, so that there is something to see while the model loads. */
function invite(): void {
  const { strokes } = OFFERED[0];
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  state.example = true;
  stopExample = writeOut(strokes, still ? 0 : 1400, (shown, done) => {
    state.strokes = shown;
    state.unfinished = !done;
    changed();
  });
}

/** Shows the drawing that the page's address holds, if any. */
function openLink(): boolean {
  const link = fromLink();
  if (link === "damaged") say(words.share.damaged);
  if (typeof link === "string") return false;
  wanted = link.view;
  for (const [name, value] of link.choices) state.wanted.set(name, value);
  takeWanted();
  openDrawing(link.strokes);
  if (link.chapter && document.querySelector(`#${link.chapter}.chapter`)) location.hash = link.chapter;
  return true;
}

function openDrawing(strokes: Stroke[], unfinished = false): void {
  remember();
  strokeEnded = true;
  replace(strokes, unfinished);
}

const drawStory = loadStoryLazily(element("story"), {
  state,
  hand,
  redraw,
  draw: openDrawing,
  wipe,
  say: (text) => (element("announce").textContent = text),
});
listenToTakeaway(element, state, say);
addEventListener("hashchange", openLink);
if (!openLink()) {
  const strokes = kept();
  if (strokes) openDrawing(strokes);
  else invite();
}
