/** Teaching on the stage: a lesson turns a few drawings of a sign into *My signs*, a model like the others. */
import { element, h } from "../dom.ts";
import { drawStrokes, inPadUnits, type Stroke } from "../ink.ts";
import { choiceIn, MODELS, type ModelFile, type Own, SIGNS } from "../models.ts";
import { inWords } from "../status.ts";
import type { State } from "../state.ts";
import { decimal, onLanguage, sentencesOf } from "../texts/words.ts";
import { countRight, learn } from "./learn.ts";
import { buildLesson, type Progress } from "./lesson.ts";
import { Shelves } from "./shelf.ts";
import { bySign, buildSigns } from "./signs.ts";
import { unpackExamples } from "./text.ts";
import type { texts as english } from "./texts/en.ts";
import type { LabelledDrawing } from "../../train/handwriting.ts";

export type Teaching = ReturnType<typeof buildTeaching>;

interface Page extends Record<"redraw" | "wipe", () => void> {
  load(choice: ModelFile): Promise<void>;
  say(text: string): void; // in the status line
  draw(strokes: Stroke[]): void;
}

type Phase = "closed" | "lesson" | "learning" | "signs";

export function buildTeaching(state: State, page: Page) {
  const root = element("teach-it");
  let phase: Phase = "closed";
  let drawings: Stroke[][] = [];
  let trouble = "", progress: Progress | undefined, stop = () => {};
  const shelves: Shelves = new Shelves(() => {
    signs.draw();
    follow();
  });

  // ---- The panel, anew for each language ----
  const build = (typed?: string) => {
    const texts = sentencesOf<typeof english>("teachIt");
    return [texts, buildLesson(texts, {
      keep() {
        drawings = [...drawings, state.strokes];
        trouble = "";
        page.wipe();
        drawGhost();
        draw();
      },
      remove(index) {
        drawings = drawings.toSpliced(index, 1);
        drawGhost();
        draw();
      },
      learn: (label) => void teach(allDrawings().map((strokes) => ({ label, strokes }))),
      cancel,
      stop: () => stop(),
    }, typed), buildSigns(texts, shelves, {
      another() {
        page.wipe();
        begin();
      },
      learn: () => void teach([]),
      close: () => show("closed"),
    })] as const;
  };
  let [texts, lesson, signs] = build();
  onLanguage(() => {
    [texts, lesson, signs] = build(lesson.typed());
    show(phase);
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || phase === "learning") return;
    event.stopPropagation(); // it would clear the pad too
    if (phase === "lesson") cancel();
    else show("closed");
  });

  function show(next: Phase): void {
    const opened = phase === "closed" && next !== "closed", closed = phase !== "closed" && next === "closed";
    phase = next;
    document.body.classList.toggle("teaching", phase !== "closed");
    root.hidden = phase === "closed";
    const panel = phase === "signs" ? signs : lesson;
    root.replaceChildren(h("h2", { id: "teach-it-title" }, phase === "signs" ? texts.signs : texts.title), panel.root);
    if (phase === "signs") signs.draw();
    drawGhost();
    draw();
    if (opened) {
      panel.focus();
      root.scrollIntoView({ block: "nearest" });
    }
    if (closed) element("pad").focus({ preventScroll: true });
    page.redraw();
  }

  function draw(): void {
    if (phase !== "lesson" && phase !== "learning") return;
    const labels = state.model?.config.labels ?? [];
    lesson.draw({ drawings, inked: isInked(), labels, trouble, dark: state.dark, ...(progress && { progress }) });
  }

  // ---- A lesson ----
  function cancel(): void {
    show("closed");
    if (drawings.length > 0) page.draw(drawings[0]!);
  }

  const isInked = () => state.strokes.length > 0 && !state.example && !state.unfinished;
  const allDrawings = () => (isInked() ? [...drawings, state.strokes] : drawings);

  function begin(): void {
    [drawings, trouble] = [[], ""];
    show("lesson");
  }

  async function teach(added: readonly LabelledDrawing[]): Promise<void> {
    const lessonStop = new AbortController(), before = phase;
    stop = () => lessonStop.abort();
    drawings = allDrawings();
    progress = { step: 0, steps: 1, accuracy: 0, secondsLeft: 0 };
    show("learning");
    await shelves.restored;
    const examples = [...shelves.now.examples, ...added], base = baseOf(), start = performance.now();
    try {
      const taught = await learn(examples, typeof base === "string" ? addressOf(base) : base, {
        signal: lessonStop.signal,
        onStep(at, step, steps) {
          progress = { ...at, step, steps };
          draw();
        },
      });
      const seconds = decimal((performance.now() - start) / 1000, 1);
      progress = undefined;
      shelves.change({ examples, taught, base });
      await loaded;
      const right = state.model ? await countRight(state.model, examples) : 0;
      if (drawings.length > 0 && state.strokes.length === 0) page.draw(drawings.at(-1)!);
      show("closed");
      page.say(texts.taught({ seconds, right, all: examples.length }));
    } catch (error) {
      progress = undefined;
      const why = lessonStop.signal.aborted ? texts.stopped : texts.failed({ why: inWords(error) });
      if (before === "signs") signs.say(why);
      else trouble = why;
      if (isInked() && drawings.at(-1) === state.strokes) drawings = drawings.slice(0, -1);
      show(before);
    }
  }

  /** What a lesson begins with: the model that reads, or the one that *My signs* came from. */
  function baseOf(): string | Uint8Array<ArrayBuffer> {
    if (state.choice?.id !== SIGNS) return (state.choice ?? MODELS[0]!).id;
    return shelves.now.base ?? MODELS[0]!.id;
  }

  // ---- The model ----
  /** The taught file that the page reads with, and its load. */
  let currentFile: Uint8Array | undefined, loaded: Promise<void> = Promise.resolve();

  /** The page reads with the shelf's model, if it reads with *My signs* or has just learnt. */
  function follow(): void {
    const { taught } = shelves.now;
    if (taught === currentFile) return;
    if (taught) return read(taught);
    currentFile = undefined;
    if (state.choice?.id === SIGNS) loaded = page.load(choiceIn(location.href));
  }

  function read(taught: Uint8Array<ArrayBuffer>): void {
    currentFile = taught;
    loaded = page.load({ id: SIGNS, url: "", bytes: taught.length, own: { file: taught, signs: signsOf(shelves.now.examples) } });
  }

  /** The first drawing of the sign lies on the pad while the next one is drawn. */
  function drawGhost(): void {
    const ghost = document.querySelector<HTMLCanvasElement>("#ghost") ?? h("canvas", { id: "ghost", ariaHidden: "true" });
    element("pad").before(ghost);
    ghost.hidden = phase !== "lesson";
    if (ghost.hidden) return;
    drawStrokes(inPadUnits(ghost), drawings[0] ?? [], getComputedStyle(ghost).color);
  }

  return {
    /** Begins a lesson with what is on the pad. */
    ask() {
      begin();
      if (!isInked()) return;
      drawings = [state.strokes];
      page.wipe();
      drawGhost();
    },
    /** Reads with *My signs*; shows it if nothing was taught yet. */
    choose: () => void shelves.restored.then(() => (shelves.now.taught ? read(shelves.now.taught) : show("signs"))),
    open: () => void shelves.restored.then(() => show("signs")),
    /** Takes the examples of a link: text.ts. */
    async takeLink(text: string) {
      const examples = unpackExamples(text);
      await shelves.restored; // so that Undo brings back what the link replaces
      if (examples) shelves.change({ examples });
      show("signs");
      signs.say(examples ? texts.linked : texts.damaged);
    },
    draw,
  };
}

const addressOf = (id: string) => new URL((MODELS.find((model) => model.id === id) ?? MODELS[0]!).url, document.baseURI);

/** The signs that are the visitor's own. A digit that was corrected stays the model's. */
function signsOf(examples: readonly LabelledDrawing[]): Own["signs"] {
  const own = [...bySign(examples)].filter(([label]) => !/^\d$/.test(label));
  return new Map(own.map(([label, all]) => [label, { count: all.length, picture: pictureOf(all[0]!.strokes) }]));
}

const PICTURE = 256, PEN = 26;

/** The drawing fills the picture. */
function pictureOf(strokes: readonly Stroke[]): string {
  const canvas = h("canvas", { width: PICTURE, height: PICTURE }), context = canvas.getContext("2d")!;
  const points = strokes.flat(), xs = points.map(({ x }) => x), ys = points.map(({ y }) => y);
  const middle = (all: number[]) => (Math.min(...all) + Math.max(...all)) / 2;
  const side = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), 1);
  const scale = (PICTURE - PEN) / side;
  context.setTransform(scale, 0, 0, scale, PICTURE / 2 - scale * middle(xs), PICTURE / 2 - scale * middle(ys));
  drawStrokes(context, strokes.map((stroke) => stroke.map((point) => ({ ...point, width: PEN / scale }))), "#000");
  return canvas.toDataURL();
}
