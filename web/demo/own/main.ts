import photos from "../../../weights/photos-int8.safetensors?url";
import { buildMaps, drawMaps } from "../blocks.ts";
import { paintScale } from "../colour.ts";
import { fillChoices, listenToChoices, showChoices } from "../choices.ts";
import { element as find, h, inNextFrame, onChosen } from "../dom.ts";
import { type ModelFile, MODELS } from "../models.ts";
import { choosePatch, nearestCell } from "../figure/cells.ts";
import { shapeOf } from "../pixels.ts";
import { addTime, buildReader, type Notice } from "../reader.ts";
import { drawNotice, inWords, isOfLine, size } from "../status.ts";
import { onLanguage, words } from "../texts/words.ts";
import { followLook } from "../theme.ts";
import { bytesOf } from "../story/bytes.ts";
import { type ConfigQuestion, fieldFor, parseOverrides, plain, questionsIn, showOverrides } from "./questions.ts";
import { loadCheckpoint, PIXELS, type Loaded } from "./checkpoint.ts";
import { allIn, type FileTransfer, type FileWithPath, misfit, sortOut, withPaths } from "./files.ts";
import { digitPhoto, examplePhoto, openCamera, openPhoto, sizeOf, type Photo } from "./photo.ts";
import { randomCheckpoint } from "./random.ts";
import { attentionLayers, read } from "./read.ts";
import * as show from "./show.ts";
import { type LoadRequest, type Reading, state } from "./state.ts";
import type { texts } from "./texts/en.ts";
import { ownWords } from "./words.ts";

const element = <E extends HTMLElement>(id: string) => find<E>(`own-${id}`);
const canvas = (id: string) => element<HTMLCanvasElement>(id);
const select = (id: string) => element<HTMLSelectElement>(id);
const status = element("status");
const configField = element<HTMLInputElement>("config");

/** The least runs for a median, which leaves the first out. */
const RUNS = 3;

const DIGITS = MODELS[0]!;
const PHOTOS: ModelFile = { id: "photos", url: photos, bytes: WEIGHTS_BYTES["photos-int8"] };

/** Models on huggingface.co whose model.safetensors load as they are, and that file's bytes. */
const HUB_MODELS = [
  ["facebook/deit-tiny-patch16-224", 22.9e6],
  ["timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k", 22.9e6],
  ["facebook/dinov2-small", 88.2e6],
  ["google/vit-base-patch16-224", 346e6],
  ["openai/clip-vit-base-patch32", 605e6],
] as const;

let files: File[] = []; // of the last checkpoint, loaded or not
let camera: { stop(): void } | undefined;
let turns = 0; // counts the checkpoints that were asked for

// ---- Drawing the state ------------------------------------------------------

const redraw = inNextFrame(() => {
  draw();
  void reader.readOn();
  if (camera && !state.model) redraw(); // the picture still moves
});

function draw(): void {
  show.drawPhoto(canvas("photo"), state);
  const scale = show.drawOverlay(canvas("overlay"), state);
  paintScale(canvas("scale"), scale, state.dark);
  const [low, high, tick] = show.scaleLabels(state, scale);
  element("scale-min").textContent = low;
  element("scale-max").textContent = high;
  element("scale-tick").textContent = tick;
  element("explanation").textContent = show.explain(state);
  canvas("overlay").setAttribute("aria-label", show.describe(state));
  canvas("photo").setAttribute("aria-label", state.photo ? ownWords().seen({ name: state.photo.name() }) : ownWords().noPhoto);
  show.drawClasses(element("classes"), canvas("similarity"), element("caption"), state, chooseObject);
  show.drawFacts(element("facts"), state);
  drawAllMaps();
  drawChoices();
  if (drawNotice(status, state, reader.isLoading)) return;
  status.replaceChildren();
  status.className = "";
}

let mapsLater = 0;

/** Draws all small maps with pauses between, because a large model's maps are megabytes. */
function drawAllMaps(): void {
  mapsLater ||= setTimeout(() => {
    mapsLater = 0;
    const { view } = state;
    const map = view.map === "similarity" ? "patch" : view.map;
    const { object: _, ...others } = state; // the small maps are of all tokens' choices, not of an object
    const mapsState = { ...others, view: { ...view, map } };
    drawMaps(element("maps"), mapsState, show.scaleOfView(mapsState));
  }, 60);
}

function drawChoices(): void {
  const { view, model, photo } = state;
  const byHead = view.map === "class" || view.map === "patch";
  showChoices(element, view, model !== undefined && byHead);
  select("pixels").disabled = files.length === 0 || reader.isLoading;
  element("hint").hidden = photo !== undefined;
  element("hint").textContent = show.invite(state);
  element("camera").setAttribute("aria-pressed", String(camera !== undefined));
}

// ---- The checkpoint, and what it sees ---------------------------------------

const reader = buildReader<LoadRequest, Loaded & LoadRequest & { seconds: number }, Reading>(state, {
  async *open({ files, pixels }, loading) {
    const start = performance.now(), overrides = parseOverrides(configField.value);
    showOverrides(element("asked"), overrides);
    const loaded = await loadCheckpoint(files, pixels, overrides, loading);
    yield { ...loaded, files, pixels, seconds: (performance.now() - start) / 1000 };
  },
  took({ names, guessed, files, pixels, seconds }) {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    Object.assign(state, { names, seconds, bytes });
    state.version++;
    state.notice = guessed ? { text: () => ownWords().guessed } : undefined;
    select("pixels").value = pixels;
    fit();
  },
  refused(request, error) {
    const all = questionsIn(error);
    if (all.length > 0) ask(all);
    else refuse("checkpoint", error, () => void reader.load(request));
  },
  isStale: () => state.photo !== undefined &&
    (state.reading?.version !== state.version || lacksPatches() || state.times.length < RUNS),
  async read(model) {
    const { photo, reading: last } = state, reading = await read(state, photo!);
    reading.patches ??= last?.version === reading.version ? last.patches : undefined;
    if (state.view.map === "similarity") reading.patches ??= (await model.embed(photo!.source, reading.size && { size: reading.size })).patches;
    return reading;
  },
  answered(reading, version) {
    addTime(state, reading!.milliseconds);
    if (version === state.version || camera) {
      const first = state.reading?.version !== version;
      state.reading = reading;
      state.object = undefined;
      const { gridRows, gridCols } = shapeOf(state.model?.config, reading!.size);
      state.view.patch = nearestCell(state.view.patch, gridRows, gridCols);
      if (first && !camera) announce();
    }
    if (camera) state.version++; // because the next frame is another picture
  },
  stopped(error) {
    refuse("photo", error);
    stopCamera();
    state.photo = undefined;
  },
  redraw,
});

/** Similarity needs the patches' vectors, which a classification does not give. */
const lacksPatches = () => state.view.map === "similarity" && !state.reading?.patches;

function announce(): void {
  const { classes, objects, uncertain } = state.reading ?? {}, best = (classes ?? objects)?.[0];
  const { unsure, shown } = ownWords();
  find("announce").textContent = best
    ? `${uncertain ? `${unsure} ` : ""}${best.label}, ${show.answer(best.p, state)}`
    : shown;
}

function load(checkpoint: File[], pixels = ""): void {
  files = checkpoint;
  void reader.load({ files, pixels });
}

/** Adds a field for each key that the files do not tell. The answers go into the config field. */
function ask(all: readonly ConfigQuestion[]): void {
  const fields = element("asked");
  const answer = (key: string) => (value: unknown) => {
    try {
      configField.value = JSON.stringify({ ...parseOverrides(configField.value), [key]: value });
    } catch (error) {
      return refuse("answer", error); // the config field is no JSON
    }
    load(files, select("pixels").value);
  };
  for (const question of all) {
    fields.querySelector(`[data-key=${question.key}]`)?.remove();
    fields.append(fieldFor(question, answer(question.key)));
  }
  tell({ kind: "asking", text: () => ownWords().asks({ key: all.map(({ key }) => plain(key)).join(", ") }) });
}

function tell(notice: Notice): void {
  state.notice = notice;
  draw();
  status.scrollIntoView({ block: "nearest" });
}

/** Loads a model of ours, unless another one is asked for meanwhile. */
async function beginOurs({ id, url, bytes }: ModelFile): Promise<void> {
  const turn = ++turns;
  state.progress = { request: { files: [], pixels: "" }, loaded: 0, total: bytes };
  try {
    const file = new File([await bytesOf(url, id)], `${id}.safetensors`);
    if (turn === turns) begin([file]);
  } catch (error) {
    if (turn !== turns) return;
    state.progress = undefined;
    refuse("checkpoint", error);
  }
}

/** Loads another checkpoint. Answers that were given for the last one are dropped. */
function begin(checkpoint: File[]): void {
  turns++;
  configField.value = "";
  select("pixels").value = "";
  element("asked").replaceChildren();
  load(checkpoint);
}

type Refusal = "photo" | "checkpoint" | "answer" | "camera" | "nothing";

function refuse(what: Refusal, error: unknown, retry?: () => void): void {
  const text = () => {
    const { trouble } = words, own = ownWords();
    const why = inWords(error);
    const more = why.startsWith("preprocessor:") ? trouble.remedied({ what: why, remedy: own.orPixels }) : why;
    return trouble.because({ what: own[what], why: more });
  };
  tell({ kind: "failed", text, ...(retry && isOfLine(error) && { retry }) });
}

function fit(): void {
  const { config } = state.model!;
  const { gridRows, gridCols } = shapeOf(config);
  const { view } = state;
  view.layer = config.depth - 1;
  view.head = "mean";
  view.patch = [gridRows >> 1, gridCols >> 1];
  const whole = attentionLayers(state) === true;
  select("map").querySelector<HTMLOptionElement>("[value=rollout]")!.disabled = !whole;
  if (!whole && view.map === "rollout") view.map = "class";
  nameChoices();
}

function nameChoices(): void {
  const { config } = state.model!;
  fillChoices(element, config);
  buildMaps(element("maps"), config.depth, config.heads, chooseHead);
}

/** Chooses a head. Choosing the same head again returns to the mean of all. */
function chooseHead(layer: number, head: number): void {
  state.view.head = state.view.layer === layer && state.view.head === head ? "mean" : head;
  if (state.view.map !== "patch") state.view.map = "class";
  chooseLayer(layer);
}

function chooseObject(object: number | undefined): void {
  state.object = object;
  redraw();
}

/** Chooses a layer. If a run keeps only one layer, another layer needs another run. */
function chooseLayer(layer: number): void {
  state.view.layer = layer;
  if (state.model && attentionLayers(state) !== true) {
    state.reading = undefined;
    state.version++;
  }
  redraw();
}

// ---- The photo --------------------------------------------------------------

function lookAt(photo: Photo): void {
  state.photo = photo;
  state.reading = undefined;
  state.version++;
  if (state.notice?.kind === "failed") state.notice = undefined;
  redraw();
}

async function showFile(file: File): Promise<void> {
  stopCamera();
  try {
    lookAt(await openPhoto(file, file.name));
  } catch (error) {
    refuse("photo", error);
  }
}

async function toggleCamera(): Promise<void> {
  if (camera) return stopCamera();
  try {
    const newCamera = await openCamera();
    camera = newCamera;
    lookAt(newCamera.photo);
  } catch (error) {
    refuse("camera", error);
  }
}

/** Stops the camera. Its last picture stays. */
function stopCamera(): void {
  if (!camera) return;
  const { photo } = state;
  if (photo?.source instanceof HTMLVideoElement) {
    const [width, height] = sizeOf(photo), still = h("canvas", { width, height });
    still.getContext("2d")!.drawImage(photo.source, 0, 0);
    state.photo = { ...photo, source: still };
  }
  camera.stop();
  camera = undefined;
  redraw();
}

// ---- The page's controls ----------------------------------------------------

export const receive = async (transfer: FileTransfer): Promise<void> => accept(await allIn(transfer));

function accept(all: FileWithPath[]): void {
  const { checkpoint, picture } = sortOut(all);
  if (checkpoint.length > 0) begin(checkpoint);
  else if (!picture) refuse("nothing", misfit(all));
  if (picture) void showFile(picture);
}

const pixelsTitle = (id: string) => ownWords().pixels[(id || "own") as keyof (typeof texts)["pixels"]];

/** Says everything that is not drawn anew in each frame in another language. */
function rename(): void {
  for (const option of select("pixels").options) option.text = pixelsTitle(option.value);
  if (state.model) nameChoices();
  redraw();
}

/** Must be called when the visitor leaves the tab. */
export const leave = stopCamera;

/** What the tab's buttons do, by their ids without own-. */
const buttons: Readonly<Record<string, () => void>> = {
  "choose-photo": () => element("photo-input").click(),
  "choose-folder": () => element("folder-input").click(),
  photos() {
    void beginOurs(PHOTOS);
    if (!state.photo) lookAt(examplePhoto());
  },
  random() {
    begin([randomCheckpoint()]);
    if (!state.photo) lookAt(examplePhoto());
  },
  digits() {
    void beginOurs(DIGITS);
    stopCamera();
    lookAt(digitPhoto());
  },
  example() {
    stopCamera();
    lookAt(examplePhoto());
  },
  camera: () => void toggleCamera(),
};
for (const [id, act] of Object.entries(buttons)) element(id).addEventListener("click", act);

/** Does what a button does that was pressed before this code was there. */
export const press = (id: string): void => buttons[id.replace("own-", "")]?.();

for (const name of ["photo", "folder", "files"]) {
  onChosen(element<HTMLInputElement>(`${name}-input`), (files) => accept(withPaths(files)));
}

element("known").replaceChildren(...HUB_MODELS.map(([name, bytes]) => h("li", {}, `${name}, ${size(bytes)}`)));
select("pixels").replaceChildren(...["", ...Object.keys(PIXELS)].map((id) => new Option(pixelsTitle(id), id)));
configField.addEventListener("change", () => {
  if (files.length > 0) load(files, select("pixels").value);
});
select("pixels").addEventListener("change", () => load(files, select("pixels").value));
listenToChoices(element, state.view, (id) => (id === "layer" ? chooseLayer(state.view.layer) : redraw()));
for (const id of ["photo", "similarity"]) {
  choosePatch(canvas(id), state, (row, col, pressed) => {
    const { view, model } = state;
    if (!model) return;
    if (pressed && view.map !== "similarity") view.map = "patch";
    view.patch = [row, col];
    if (state.reading?.objects) chooseObject(pressed ? undefined : show.objectAt(state, row, col));
    if (pressed || view.map === "patch" || view.map === "similarity" || model.config.classes === 0)
      redraw();
  }, () => state.reading?.size);
}
canvas("photo").addEventListener("pointerleave", () => chooseObject(undefined));
onLanguage(rename);
followLook(state, canvas("photo"), redraw);
