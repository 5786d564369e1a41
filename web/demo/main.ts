import { sentence } from "./answer.ts";
import { buildExamples, DIGITS, OPENING } from "./examples.ts";
import type { Closer } from "./closer.ts";
import { element, inNextFrame, onChosen } from "./dom.ts";
import { buildDigitReader } from "./digits.ts";
import { drawTools, followDrawing, followTools } from "./drawing.ts";
import { firstView, isIn, type LinkState } from "./link.ts";
import { buildBars } from "./logits.ts";
import { choiceIn, CHOICES, MODELS, SIGNS, titleOf } from "./models.ts";
import { stayForOffline } from "./offline/page.ts";
import { heatMap, mostOf, patchAt } from "./overlay.ts";
import type { FileTransfer } from "./own/files.ts";
import { once } from "./once.ts";
import { drawPad, listen } from "./pad.ts";
import { fromLink, keepOverReload, restoreDrawing } from "./share.ts";
import { drawAnswer, drawStage } from "./stage.ts";
import { state } from "./state.ts";
import { drawStatus, withRemedy } from "./status.ts";
import { loadStoryLazily } from "./story/lazy-story.ts";
import { isOpen, onFiles } from "./tabs.ts";
import type { Teaching } from "./teach/teach.ts";
import { followLanguage, loadSentences } from "./texts/language.ts";
import { onLanguage, words } from "./texts/words.ts";
import { followLook, followTheme } from "./theme.ts";

const select = (id: string) => element<HTMLSelectElement>(id);
const pad = element<HTMLCanvasElement>("pad");
const announce = (text: string) => void (element("announce").textContent = text);

let linkView: LinkState["view"]; // a link's choices, until a model has loaded
let finished = false; // a drawing was finished, and its answer not yet told
let closer: Closer | undefined; // until its code is here
let teaching: Teaching | undefined; // likewise
let tries = 1; // of a prediction to load it: after a failure only a press does
let stale = true; // more than the ink must be drawn anew

const schedule = inNextFrame(() => {
  draw();
  void reader.readOn();
});
const reader = buildDigitReader(state, { redraw, fit, answered, refused });
select("model").replaceChildren(...CHOICES.map((id) => new Option(titleOf(id), id)));
const opensSigns = new URL(location.href).searchParams.get("model") === SIGNS; // the first model's load changes the address
void reader.load(choiceIn(location.href)).finally(stayForOffline); // loads while the page is built
followLanguage(select("language"), say);

// ---- Drawing the state ------------------------------------------------------

function redraw(): void {
  stale = true;
  schedule();
}

function draw(): void {
  drawPad(pad, state, keyPen);
  closer?.drawInk();
  teaching?.draw();
  if (stale) {
    stale = false;
    drawStage(state);
    closer?.draw();
    drawControls();
  }
  drawStory();
}

function drawControls(): void {
  const { progress, choice } = state;
  element("my-signs").hidden = !choice?.own;
  drawTools(element, state);
  select("model").value = (progress?.request ?? choice ?? choiceIn(location.href)).id;
  drawStatus(element("status"), state);
}

// ---- Words for the screen reader --------------------------------------------

/** Tells the result once a stroke is finished, not in every frame. */
function answered(): void {
  if (tries-- > 0) loadCloser().catch(() => {}); // told when it is opened
  const { reading, version, choice } = state;
  if (!finished || reading?.version !== version) return;
  finished = false;
  const most = mostOfMap();
  const text = sentence(reading.result, choice?.own !== undefined);
  announce(most ? `${text}. ${most}` : text);
}

function mostOfMap(): string {
  const { attention } = state.reading?.result ?? {};
  return attention ? mostOf(heatMap(attention, state.view), attention.grid[1]) : "";
}

function sayPatch(): void {
  const [row, col] = state.view.patch;
  announce(`${words.maps.chosen({ row: row + 1, column: col + 1 })} ${mostOfMap()}`);
}

/** Puts a text into the status line, at once or when the present load ends. */
function say(text: string): void {
  state.notice = { text: () => text };
  redraw();
}

// ---- The model and its choices ----------------------------------------------

function fit(): void {
  const { config } = state.model!, { view, choice } = state;
  finished = !state.example;
  buildBars(element("bars"), config.labels, choice!.own?.signs);
  const { layer, patch } = firstView(config);
  view.layer = layer;
  state.firstPatch = view.patch = patch;
  if (view.head !== "mean" && view.head >= config.heads) view.head = "mean";
  applyLinkView();
  closer?.fit();
}

/** Chooses what the page's link asked for, once there is a model that has it. */
function applyLinkView(): void {
  if (!linkView || !state.model) return;
  if (isIn(linkView, state.model.config)) {
    Object.assign(state.view, linkView);
    element<HTMLDetailsElement>("closer").open = true;
  }
  linkView = undefined;
}

select("model").addEventListener("change", () => {
  const choice = MODELS.find(({ id }) => id === select("model").value);
  if (choice) void reader.load(choice);
  else withTeaching((teaching) => teaching.choose());
});

const sayMissing = () => say(withRemedy(words.trouble.story));

/** Loads the code of *Look closer* and *Share*: after the first prediction, or when one is pressed. */
const loadCloser = once(async () => {
  element("closer").ariaBusy = "true";
  try {
    const [{ buildCloser }] = await Promise.all([import("./closer.ts"), loadSentences()]);
    closer = buildCloser(state, { redraw, say, chosen: sayPatch });
    closer.fit();
    redraw();
  } finally {
    element("closer").ariaBusy = "false";
  }
});
const openCloser = () => loadCloser().catch(sayMissing);
element("closer").addEventListener("toggle", openCloser);
element("share").addEventListener("click", async () => {
  await openCloser();
  await closer?.share();
});

// ---- The drawing ------------------------------------------------------------

const drawing = followDrawing(state, {
  opening: OPENING,
  keep: keepOverReload,
  hover(x, y) {
    const patch = state.view.map === "patch" && patchAt(state, x, y);
    if (!patch) return;
    state.view.patch = patch;
    redraw();
  },
  choosable: (x, y) => state.view.map === "patch" && !state.example && patchAt(state, x, y) !== undefined,
  redraw,
  inked() {
    drawAnswer(state); // at once, because a result must not stay for a frame after its drawing
    schedule();
  },
  finished: () => (finished = true),
  liftKeyPen: () => (keyPen.down = false),
  say: announce,
});
const keyPen = listen(pad, drawing.hand);

followTools(element, () => isOpen("draw"), drawing);

const loadTeaching = once(async () => {
  await loadSentences();
  const { buildTeaching } = await import("./teach/teach.ts");
  return (teaching = buildTeaching(state, { load: reader.load, redraw, say, draw: drawing.open, wipe: drawing.wipe }));
});
const withTeaching = (use: (teaching: Teaching) => void) => void loadTeaching().then(use, sayMissing);
element("teach-this").addEventListener("click", () => withTeaching((teaching) => teaching.ask()));
element("my-signs").addEventListener("click", () => withTeaching((teaching) => teaching.open()));

/** The model refused the photo, so the code for photos is here. */
function refused(error: Error): void {
  void import("./open-photo.ts").then(({ takeBack }) => takeBack(error, drawing, say));
}

/** Reads a photo that was chosen, taken, dropped or pasted. Its code loads with the first one. Tells whether the files are for this tab. */
const readPhoto = (transfer: FileTransfer): Promise<boolean> =>
  loadSentences().then(() => import("./open-photo.ts")).then(
    ({ layPhoto }) => layPhoto(transfer, drawing, say),
    () => (sayMissing(), true),
  );
onFiles(readPhoto);
const photoInput = element<HTMLInputElement>("photo-input");
element("photo").addEventListener("click", () => photoInput.click());
onChosen(photoInput, (files) => void readPhoto({ entries: [], files }));

/** Shows the drawing that the page's address holds, if any. */
function openLink(): boolean {
  if (location.hash === "#teach-it") {
    history.replaceState(null, "", location.pathname + location.search);
    withTeaching((teaching) => teaching.open());
  }
  const link = fromLink();
  if (link === "damaged") say(words.trouble.link);
  if (typeof link === "string") return false;
  linkView = link.view;
  if (link.choices.some(([name, value]) => state.chapterChoices.get(name) !== value))
    state.chapterChoices = new Map([...state.chapterChoices, ...link.choices]);
  applyLinkView();
  drawing.open(link.strokes);
  if (link.signs !== undefined) withTeaching((teaching) => void teaching.takeLink(link.signs!));
  if (link.chapter && document.querySelector(`#chapters #${link.chapter}`)) location.hash = link.chapter;
  return true;
}

// ---- The page ---------------------------------------------------------------

const offerExamples = () =>
  buildExamples(element("examples"), DIGITS, (strokes) => drawing.open(strokes.map((stroke) => [...stroke])));

buildBars(element("bars"), Array.from("0123456789"));
offerExamples();
onLanguage(() => {
  CHOICES.forEach((id, index) => (select("model").options[index].text = titleOf(id)));
  offerExamples();
  closer?.fit();
  if (!state.notice?.kind) state.notice = undefined;
  announce("");
  redraw();
});
followTheme(element("theme"));
followLook(state, pad, redraw);

const drawStory = loadStoryLazily(element("story"), {
  state,
  hand: drawing.hand,
  redraw,
  draw: drawing.open,
  wipe: drawing.wipe,
  say: announce,
});
if (opensSigns) withTeaching((teaching) => teaching.choose());
addEventListener("hashchange", openLink);
if (!openLink()) {
  const strokes = restoreDrawing();
  if (strokes) drawing.open(strokes);
  else drawing.invite();
}
