/** The third tab: a number on a wide pad, written in words. Each word under the pointer lights where the model looked. */
import { button, chips, element as find, h, write } from "../dom.ts";
import { type Drawing, drawTools, followDrawing, followTools } from "../drawing.ts";
import { animate, lessMotion } from "../figure/motion.ts";
import { oneStop } from "../figure/cells.ts";
import { buildExamples } from "../examples.ts";
import { inPadUnits } from "../ink.ts";
import { placesOf, writePlaces } from "../looks.ts";
import { hottest, mostOf, paintMap } from "../overlay.ts";
import { unpack } from "../pack.ts";
import { drawPad, type KeyPen, listen } from "../pad.ts";
import { shapeOf } from "../pixels.ts";
import { copyText, drawShare, packForLink, sendLink } from "../send.ts";
import { keepOverReload, restoreDrawing } from "../share.ts";
import { isBlank } from "../state.ts";
import { drawStatus } from "../status.ts";
import { atLeastAThousandth, onLanguage, percent, sentencesOf, tag, words } from "../texts/words.ts";
import { followLook } from "../theme.ts";
import { whereOf } from "../where.ts";
import { ACROSS, EXAMPLES, OPENING } from "./examples.ts";
import { CHOICES, isLanguage, type Language, LANGUAGES, seesNone, type Word } from "./languages.ts";
import { load, onAnswer, onChange, type Reading, redraw, state } from "./store.ts";
import type { texts } from "./texts/en.ts";

const KEY = "vitrine-number";
/** How long each word has the light when they are shown one by one. */
const WORD_MS = 700;

const root = find("number");
let messages = sentencesOf<typeof texts>("number");

// ---- The elements -------------------------------------------------------------

const element = <E extends HTMLElement>(id: string) => find<E>(`number-${id}`);
/** A copy of a part of the first tab. Its ids get the tab's name before them. */
function copyOf(selector: string): HTMLElement {
  const copy = document.querySelector("#draw")!.querySelector(selector)!.cloneNode(true) as HTMLElement;
  for (const part of [copy, ...copy.querySelectorAll("[id]")]) if (part.id) part.id = `number-${part.id}`;
  return copy;
}

const pad = copyOf("#pad") as HTMLCanvasElement, overlay = copyOf("#overlay") as HTMLCanvasElement;
pad.dataset.attributes = "aria-roledescription=page.padRole aria-description=page.padKeys"; // its name is another
const title = h("h1", { className: "unseen" }), hint = copyOf("#hint"), examples = copyOf("#examples");
const text = h("output", { id: "number-words", ariaLive: "off" }), sure = h("p", { className: "sure" }, h("b"), " ", h("span"));
const looks = h("p", { className: "looks" }), scale = copyOf(".reading > .scale");
const play = button("", () => walk(), { id: "number-play", className: "pill" });
const copy = button("", () => void (wordElements().length > 0 && copyText(state.reading!.result.text, text, say)), { id: "number-copy", className: "pill" });
const share = copyOf("#share"), chapter = h("a", { className: "down", href: "#words" });
const settings = h("div", { className: "settings" });
const tries = h("p", { className: "examples" }, copyOf(".examples > span:first-child"), examples, copyOf(".keys"));
root.prepend(
  title,
  h("section", { className: "drawing" }, h("div", { className: "case sheet" }, pad, overlay, hint, copyOf(".pad-tools")), tries, settings),
  h("section", { className: "reading" }, text, sure, looks, scale, h("div", { className: "acts" }, play, copy, share)));
root.append(h("div", { className: "stage-foot" }, chapter, element("status")));

// ---- The drawing --------------------------------------------------------------

let pointed: number | undefined; // the word whose map is shown
let finished = false; // a drawing was finished, and its text not yet announced
let stopWalk = () => {};

const announce = (message: string) => void (find("announce").textContent = message);
const say = (message: string) => {
  state.notice = { text: () => message };
  redraw();
};
const drawing: Drawing = followDrawing(state, {
  opening: OPENING,
  keep(strokes) {
    const keep = keepOverReload(strokes, KEY);
    return () => {
      if (location.hash.includes("&d=")) showAddress();
      keep();
    };
  },
  redraw,
  inked() {
    stopWalk();
    if (!state.example && state.unfinished) walksWhenRead = false;
    redraw();
  },
  finished: () => (finished = true),
  liftKeyPen: () => (keyPen.down = false),
  say: announce,
});
const keyPen: KeyPen = listen(pad, drawing.hand, ACROSS);
followTools(element, () => !root.hidden, drawing);

const address = (language: Language = state.language) => `#number=${language}`;
const showAddress = () => history.replaceState(history.state, "", address());

// ---- What was written ---------------------------------------------------------

/** Draws the text for people and, in `dataset`, for programs. */
function drawText(): void {
  const { reading, example, model, answered, version } = state, none = reading !== undefined && !reading.unfinished && seesNone(reading.result);
  const all = reading?.words ?? [], p = reading?.result.p ?? 0;
  text.dataset.text = reading && !example ? reading.result.text : "";
  text.dataset.p = reading && !example ? String(p) : "";
  text.ariaBusy = String(model !== undefined && answered !== version);
  text.lang = LANGUAGES[reading?.language ?? state.language].tag || tag;
  text.classList.toggle("unsure", !reading || none || reading.result.uncertain);
  showWords(all, none ? "?" : "");
  write(sure.firstElementChild!, none ? messages.unknown : all.length > 0 ? certaintyOf(reading!) : isBlank(state) || !model ? "" : words.waiting.reading);
  write(sure.lastElementChild!, all.length > 0 ? atLeastAThousandth(p) : "");
  const wordIndex = pointed !== undefined && all[pointed] ? pointed : undefined;
  const map = reading && (wordIndex === undefined ? meanOf(reading.maps) : reading.maps[wordIndex]);
  drawMap(map, reading);
  if (map && wordIndex !== undefined) {
    const { grid } = reading!.result.attention!, where = whereOf(map, grid, reading!.result.placement, state.strokes);
    writePlaces(looks, placesOf(map, where, messages.looks({ word: all[wordIndex]!.text.trim(), place: "{1}" })));
  } else write(looks, all.length > 0 ? messages.rest : messages.waiting);
  wordElements().forEach((word, at) => word.classList.toggle("lit", at === wordIndex));
  for (const one of [play, copy]) one.ariaDisabled = String(all.length === 0);
  play.hidden = lessMotion();
}

/** The mean of all maps; undefined where there are none. */
const meanOf = (maps: readonly Float32Array[]) => maps[0]?.map((_, at) => maps.reduce((sum, map) => sum + map[at]!, 0) / maps.length);

function certaintyOf({ result }: Reading): string {
  const { certain, sure, unsure } = words.answer;
  if (result.uncertain) return unsure;
  return result.p >= 0.99 ? certain : sure;
}

function drawMap(map: Float32Array | undefined, reading: Reading | undefined): void {
  const context = inPadUnits(overlay, ACROSS);
  root.classList.toggle("read", map !== undefined);
  if (map) paintMap(context, map, reading!.result.placement, shapeOf(state.model?.config), state.dark);
  overlay.ariaLabel = map ? mostOf(map, reading!.result.attention!.grid[1]) : words.maps.none;
  write(scale.firstElementChild!, percent(0));
  write(scale.lastElementChild!, map ? words.maps.onePatch({ p: percent(hottest(map)) }) : "");
}

let wordsKey = "";
const wordElements = (): Element[] => [...text.querySelectorAll(".word")];

/** Builds a word for each that was written, or shows a sign where there is none. What the keyboard is on stays where it is. */
function showWords(all: readonly Word[], sign: string): void {
  const key = JSON.stringify([all, sign]);
  if (key === wordsKey) return;
  wordsKey = key;
  const before = wordElements().indexOf(document.activeElement!);
  const parts = all.map(({ text: word }, at) => {
    const part = h("span", { role: "button", className: "word" }, word.trim());
    part.addEventListener("pointerenter", () => point(at));
    part.addEventListener("pointerleave", ({ pointerType }) => pointerType === "touch" || point(undefined));
    part.addEventListener("click", () => point(at));
    part.addEventListener("focus", () => point(at));
    part.addEventListener("blur", () => point(undefined));
    return part;
  });
  text.replaceChildren(...parts.flatMap((part, at) => [/^\s*/.exec(all[at]!.text)![0], part, h("wbr")]), sign);
  if (parts.length > 0) oneStop(parts);
  parts[Math.min(before, parts.length - 1)]?.focus();
}

function point(at: number | undefined): void {
  stopWalk();
  show(at);
}

function show(at: number | undefined): void {
  if (at === pointed) return;
  pointed = at;
  redraw();
}

function walk(): void {
  stopWalk();
  const all = wordElements().length;
  const stop = animate(all * WORD_MS, (over) => show(over < 1 ? Math.floor(over * all) : undefined));
  stopWalk = () => {
    stop();
    stopWalk = () => {};
    show(undefined);
  };
}

share.addEventListener("click", () => {
  if (isBlank(state)) return;
  const packed = packForLink(state.strokes);
  void sendLink(share, packed && `${location.href.replace(/#.*/, "")}${address()}&d=${packed}`, say);
});

// ---- The tab ------------------------------------------------------------------

let choice: ReturnType<typeof chips<Language>>;

/** Says everything that is not drawn anew in each frame in the page's language. */
function rename(): void {
  messages = sentencesOf<typeof texts>("number");
  write(title, messages.title);
  pad.ariaLabel = messages.pad;
  text.ariaLabel = messages.words;
  write(play, messages.play);
  write(copy, find("copy").textContent!); // of the dialog with code
  write(chapter, messages.chapter);
  choice = chips(messages.language, CHOICES, state.language, choose);
  for (const input of choice.root.querySelectorAll("input")) {
    const { tag } = LANGUAGES[input.value as Language];
    if (tag) input.nextElementSibling!.setAttribute("lang", tag);
    else input.ariaLabel = messages.digits;
  }
  settings.replaceChildren(choice.root);
  buildExamples(examples, EXAMPLES, open);
  if (!state.notice?.kind) state.notice = undefined;
  redraw();
}

/** Opens an example, which then lights word by word. */
function open(strokes: typeof OPENING): void {
  drawing.open(strokes);
  walksWhenRead = true;
}
let walksWhenRead = false;

function choose(language: Language): void {
  Object.assign(state, { language, version: state.version + 1 });
  finished = true;
  showAddress();
  redraw();
}

onAnswer((reading) => {
  if (reading?.version !== state.version) return;
  if (walksWhenRead && !reading.unfinished) {
    walksWhenRead = false;
    drawText();
    if (!lessMotion()) walk();
  }
  if (!finished || reading.unfinished) return;
  finished = false;
  const { answer } = words, { result } = reading, parts = { label: result.text, p: percent(result.p) };
  announce(seesNone(result) ? messages.none : (result.uncertain ? answer.unsureOf : answer.readsAs)(parts));
});

onChange(() => {
  if (root.hidden) return;
  const { example } = state;
  drawPad(pad, state, keyPen, ACROSS);
  write(hint, example ? words.pad.yourTurn : messages.pad);
  root.classList.toggle("blank", isBlank(state));
  root.classList.toggle("example", example);
  drawTools(element, state);
  drawShare(share);
  drawText();
  drawStatus(element("status"), state);
});

/** The languages of the page that are written too; English for the others. */
const first = (): Language => {
  const code = tag.split("-")[0]!;
  return isLanguage(code) ? code : "en";
};

/** What the address asks for: a language, and a drawing. */
function followAddress(): void {
  const fragment = new URLSearchParams(location.hash.slice(1)), language = fragment.get("number") ?? "", packed = fragment.get("d");
  if (isLanguage(language) && language !== state.language) {
    Object.assign(state, { language, version: state.version + 1 });
    choice.value = language;
  }
  if (packed === null) return;
  const strokes = unpack(packed);
  showAddress();
  if (strokes) drawing.open(strokes);
  else say(words.trouble.link);
}

let entered = false;

/** The tab is opened, or another address of it. */
export function enter(): void {
  load();
  followAddress();
  if (!entered && isBlank(state)) {
    const strokes = restoreDrawing(KEY);
    if (strokes) drawing.open(strokes);
    else {
      walksWhenRead = true;
      drawing.invite();
    }
  }
  entered = true;
  redraw();
}

export const leave = (): void => stopWalk();

state.language = first();
rename();
onLanguage(rename);
followLook(state, pad, redraw);
chapter.addEventListener("click", () => addEventListener("hashchange", () => find("words").scrollIntoView(), { once: true }));
document.addEventListener("pointerdown", ({ target }) => {
  if (pointed !== undefined && !text.contains(target as Node)) point(undefined);
});
