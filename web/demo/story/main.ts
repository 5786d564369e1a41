/** The story: reads the drawing with a trace, and draws the chapters that are near the screen. */
import type { ClassifyOptions, Vit } from "vitrine";
import { VitError } from "vitrine";
import { OPENING } from "../examples.ts";
import { drawingOf } from "../ink.ts";
import { shapeOf } from "../pixels.ts";
import { inWords } from "../remedy.ts";
import { showError, showMissing } from "../status.ts";
import { en } from "../texts/en.ts";
import { inLanguage, onLanguage } from "../texts/words.ts";
import { Choices } from "./choices.ts";
import { h } from "../dom.ts";
import { buildRail } from "./rail.ts";
import type { Chapter, Page, Scene, Selection, Story, Traced } from "./scene.ts";

/** The chapters whose code is written, in the order of the page. */
const CHAPTERS: Record<string, () => Promise<{ chapter: Chapter }>> = {
  patches: () => import("./patches/patches.ts"),
  positions: () => import("./positions.ts"),
  score: () => import("./score.ts"),
  layers: () => import("./layers/chapter.ts"),
  strokes: () => import("./strokes/strokes.ts"),
  doubt: () => import("./doubt/chapter.ts"),
  learning: () => import("./learning/learning.ts"),
  cnn: () => import("./cnn/cnn.ts"),
  masks: () => import("./masks.ts"),
  why: () => import("./why.ts"),
  teach: () => import("./teach.ts"),
};

interface Open {
  root: HTMLElement;
  near: boolean;
  seen: boolean;
  draw?: (scene: Scene) => void;
  drawn?: Scene;
}

/** Builds the story below the page. Returns what the page calls whenever it has drawn itself. */
export function tell(root: HTMLElement, page: Page): () => void {
  const { state } = page;
  let scene: Scene | undefined;
  let reading = false;

  const tools: Omit<Story, "texts" | "choices"> = {
    choose: (choice) => choose(page, choice),
    draw: (strokes, unfinished) => page.draw(strokes, unfinished),
    wipe: () => page.wipe(),
    classify: classifyScene,
    attempt: orNothing,
    say: (text) => page.say(text),
    redraw: () => {
      for (const chapter of open) chapter.drawn = undefined;
      page.redraw();
    },
  };
  let open: Open[] = [];
  let drawRail = () => {};
  let close = () => {};
  let built = state.chapterChoices;
  /** Builds rail and chapters, anew for each language and for a link with other choices. */
  const build = () => {
    close();
    built = state.chapterChoices;
    const story: Story = { ...tools, choices: new Choices(built), texts: inLanguage(en) };
    drawRail = buildRail(root.querySelector<HTMLElement>("#rail")!, page, story);
    [open, close] = openChapters(root, story, page.redraw);
  };
  build();
  onLanguage(build);
  holdTarget(root.querySelector<HTMLElement>("#chapters")!);

  /** While the pen is down, chapters beside the screen wait. */
  const isShown = ({ near, seen }: Open) => (state.unfinished ? seen : near);
  const drawChapters = () => {
    for (const chapter of open) {
      if (!scene || !isShown(chapter) || !chapter.draw || chapter.drawn === scene) continue;
      chapter.drawn = scene;
      chapter.draw(scene);
    }
  };

  /** One reading at a time. If the drawing changed meanwhile, the next frame asks again. */
  const readAgain = async () => {
    const { model, choice, version, unfinished } = state;
    if (reading || !model || state.example && !state.reading || !open.some(isShown)) return;
    if (scene?.version === version && scene.model === model) return;
    if (!state.reading || state.reading.version !== version) return; // blank, or the answer is to come
    reading = true;
    const photo = state.photo && state.reading.result.input;
    const strokes = photo ? OPENING : state.strokes;
    try {
      const result = await traced(model, { photo, strokes, unfinished });
      if (result && state.model === model) {
        scene = sceneOf(page, { model, file: choice!.own?.file ?? choice!.url, version, photo, strokes, unfinished, result });
      }
    } finally {
      reading = false;
      page.redraw();
    }
  };

  return () => {
    if (built !== state.chapterChoices) {
      scene = undefined; // the choices are for the link's drawing
      build();
    }
    drawRail();
    if (scene && isStale(scene, page)) scene = sceneOf(page, scene);
    drawChapters();
    void readAgain();
  };
}

/** Whether another patch, layer, head or theme was chosen since. Another model's choices wait for its reading. */
function isStale(scene: Scene, { state }: Page): boolean {
  if (scene.model !== state.model) return false;
  const { patch, layer, head } = chosen(state.view);
  return scene.patch !== patch || scene.layer !== layer || scene.head !== head || scene.dark !== state.dark;
}

/** The story shows one head: the first where the page shows the mean of all. */
const chosen = ({ patch, layer, head }: Page["state"]["view"]): Selection =>
  ({ patch, layer, head: head === "mean" ? 0 : head });

type Sheet = Pick<Scene, "photo" | "strokes" | "unfinished">;
type Read = Sheet & Pick<Scene, "model" | "file" | "version" | "result">;

function sceneOf({ state }: Page, { model, file, version, photo, strokes, unfinished, result }: Read): Scene {
  const { config } = model;
  const shape = shapeOf(config);
  const choice = chosen(state.view);
  const token = config.prefix.length + choice.patch[0] * shape.gridCols + choice.patch[1];
  return { ...choice, model, config, shape, file, photo, strokes, unfinished, version, result, token, dark: state.dark };
}

function choose({ state, redraw }: Page, { patch, layer, head }: Partial<Selection>): void {
  const { view } = state;
  if (patch) view.patch = patch;
  if (layer !== undefined) view.layer = layer;
  if (head !== undefined) view.head = head;
  if (patch && view.map === "class") view.map = "patch";
  redraw();
}

const imageOf = ({ photo, strokes, unfinished }: Sheet) => photo ?? drawingOf(strokes, unfinished);

async function traced(model: Vit, sheet: Sheet): Promise<Traced | undefined> {
  const result = await orNothing(model.classify(imageOf(sheet), { attention: true, trace: true }));
  return result?.trace && result.attention ? (result as Traced) : undefined;
}

const classifyScene = (scene: Scene, options?: ClassifyOptions, model = scene.model) =>
  orNothing(model.classify(imageOf(scene), options));

/** Undefined where there is nothing to read, or where the model stopped, which the status line then says. */
async function orNothing<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    const expected = error instanceof VitError && ["blank_image", "disposed"].includes(error.code);
    if (!expected) showError(document.getElementById("story-status")!, inWords(error));
    return undefined;
  }
}

/**
 * Keeps the chapter that a link leads to in its place while chapters above it load and grow, until
 * the visitor scrolls, presses or types.
 */
function holdTarget(chapters: HTMLElement): void {
  let target: HTMLElement | undefined;
  const follow = () => {
    target = [...chapters.querySelectorAll<HTMLElement>(".chapter")].find(({ id }) => location.hash === `#${id}`);
    target?.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  for (const event of ["wheel", "touchmove", "pointerdown", "keydown"])
    addEventListener(event, () => (target = undefined), { capture: true, passive: true });
  new ResizeObserver(() => target?.scrollIntoView()).observe(chapters);
  follow();
}

/**
 * Watches the chapters. A chapter's code loads when it comes near the screen for the first time.
 * Returns the chapters, and what closes them again.
 */
function openChapters(root: HTMLElement, story: Story, redraw: () => void): [Open[], close: () => void] {
  const open = Object.keys(CHAPTERS).map((id): Open =>
    ({ root: root.querySelector<HTMLElement>(`#${id}`)!, near: false, seen: false }));
  const load = async (chapter: Open) => {
    chapter.draw = () => {}; // until the code is here
    const code = await CHAPTERS[chapter.root.id]!().catch(() => undefined);
    if (closed) return;
    if (!code) return showMissing(chapter.root.appendChild(h("p")));
    chapter.draw = code.chapter(chapter.root, story);
    chapter.drawn = undefined;
    redraw();
  };
  const watch = (which: "near" | "seen", rootMargin: string) => {
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const chapter = open.find(({ root }) => root === target)!;
        chapter[which] = isIntersecting;
        if (isIntersecting && !chapter.draw) void load(chapter);
      }
      redraw();
    }, { rootMargin });
    for (const { root } of open) observer.observe(root);
    return observer;
  };
  const observers = [watch("near", "40% 0px"), watch("seen", "0px")];
  let closed = false;
  const close = () => {
    closed = true;
    for (const observer of observers) observer.disconnect();
    for (const { root } of open) root.replaceChildren(root.querySelector("h2")!);
  };
  return [open, close];
}
