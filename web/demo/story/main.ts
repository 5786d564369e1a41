/** The story: its model reads the drawing with a trace, and the chapters near the screen are drawn. */
import type { ClassifyOptions, Vit } from "vitrine";
import { VitError } from "vitrine";
import { OPENING } from "../examples.ts";
import { drawingOf } from "../ink.ts";
import { type Shape, shapeOf } from "../pixels.ts";
import { isBlank } from "../state.ts";
import { inWords, showError, showMissing } from "../status.ts";
import { onLanguage, sentencesOf } from "../texts/words.ts";
import { Choices } from "./choices.ts";
import { h } from "../dom.ts";
import { buildSaves } from "../figure/parts.ts";
import { buildRail, chaptersIn, stepsIn } from "./rail.ts";
import type { ChapterBuilder, Page, Scene, Selection, Story, Traced } from "./scene.ts";
import { buildTeller } from "./teller.ts";
import type { texts } from "./texts/en.ts";
import { inkOf, patchOfToken } from "./tokens.ts";
import { largest } from "./vectors.ts";
import { buildWalk } from "./walk.ts";

interface Open extends Record<"near" | "seen" | "here", boolean> { // here: in the middle of the screen
  root: HTMLElement;
  draw?: (scene: Scene) => void;
  drawn?: Scene;
}

/** Builds the story below the page. Returns what the page calls whenever it has drawn itself. */
export function tell(root: HTMLElement, host: Page): () => void {
  const page: Telling = { ...host, beyond: {} }, { state } = page, status = root.querySelector<HTMLElement>("#story-status")!;
  let scene: Scene | undefined, reading = false;
  const teller = buildTeller(state, page.redraw, (why, retry) =>
    showError(status, sentencesOf<typeof texts>("story").notLoaded({ why }), () => {
      status.replaceChildren();
      retry();
    }));

  let open: Open[] = [], built = state.chapterChoices;
  let drawRail: ReturnType<typeof buildRail> = () => {}, life = new AbortController();
  const tools = {
    draw: page.draw, say: page.say, walk: buildWalk(page.redraw), classify: classifyScene, attempt: orNothing,
    choose: (choice: Partial<Selection>) => choose(page, choice, scene?.shape),
    redraw: () => {
      for (const chapter of open) chapter.drawn = undefined;
      page.redraw();
    },
  };
  /** Builds rail and chapters, anew for each language and for a link with other choices. */
  const build = () => {
    life.abort();
    life = new AbortController();
    built = state.chapterChoices;
    const choices = new Choices(built), story: Story = { ...tools, choices, words: sentencesOf<typeof texts>("story") };
    teller.reader = choices.of("reader") === "page" ? "page" : "plain";
    drawRail = buildRail(root, page, story, teller, life.signal);
    open = openChapters(root, story, page.redraw, life.signal);
  };
  build();
  onLanguage(build);
  holdTarget(root.querySelector<HTMLElement>("#chapters")!);

  /** While the pen is down, chapters beside the screen wait. */
  const mayDraw = ({ near, seen }: Open) => (state.unfinished ? seen : near);
  const drawChapters = () => {
    for (const chapter of open) {
      if (!scene || !mayDraw(chapter) || !chapter.draw || chapter.drawn === scene) continue;
      chapter.drawn = scene;
      chapter.draw(scene);
    }
  };

  /** One reading at a time. If the drawing changed meanwhile, the next frame asks again. */
  const readAgain = async () => {
    const { version, unfinished } = state, model = teller.model(), blank = isBlank(state);
    if (reading || !model || state.example && !state.reading || !open.some(mayDraw)) return;
    if (scene?.version === version && scene.model === model) return;
    if (!blank && state.reading?.version !== version) return; // the answer is to come
    reading = true;
    const photo = state.photo && state.reading!.result.input;
    const strokes = photo || blank ? OPENING : state.strokes;
    try {
      const result = await traced(model, { photo, strokes, unfinished });
      if (result && teller.model() === model) {
        scene = sceneOf(page, { model, file: teller.file, version, photo, strokes, unfinished, result });
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
    if (scene && isStale(scene, page, teller.model())) scene = sceneOf(page, scene);
    const other = scene !== undefined && scene.model !== teller.model(); // is to read the drawing
    drawRail(scene, open.find(({ here }) => here)?.root, other && open.some(mayDraw));
    drawChapters();
    void readAgain();
  };
}

/** Whether another patch, layer, head or theme was chosen since. Another model's choices wait for its reading. */
function isStale(scene: Scene, page: Telling, model: Vit | undefined): boolean {
  if (scene.model !== model) return false;
  const { state } = page, { patch, layer, head } = selectionOf(page, scene);
  return String(scene.patch) !== String(patch) || scene.layer !== layer || scene.head !== head || scene.dark !== state.dark;
}

/**
 * The story shows one head: the first where the page shows the mean of all, and the last where its model
 * has fewer. It begins with the patch that has most ink.
 */
function selectionOf({ state: { view, firstPatch }, beyond }: Telling, scene: Pick<Scene, "config" | "shape" | "result">): Selection {
  const { depth, heads } = scene.config, { patch } = view, layer = beyond.layer ?? view.layer, head = beyond.head ?? view.head;
  return {
    patch: patch === firstPatch ? patchOfToken(scene.config.prefix.length + largest(inkOf(scene)), scene)! : patch,
    layer: Math.min(layer, depth - 1),
    head: head === "mean" ? 0 : Math.min(head, heads - 1),
  };
}

/** A layer or head that the story's model has and the page's lacks is the story's choice alone. */
interface Telling extends Page {
  beyond: { layer?: number; head?: number };
}

type Sheet = Pick<Scene, "photo" | "strokes" | "unfinished">;
type Read = Sheet & Pick<Scene, "model" | "file" | "version" | "result">;

function sceneOf(page: Telling, read: Read): Scene {
  const { model: { config }, result } = read, shape = shapeOf(config), choice = selectionOf(page, { config, shape, result });
  const token = config.prefix.length + choice.patch[0] * shape.gridCols + choice.patch[1];
  return { ...read, ...choice, config, shape, token, dark: page.state.dark };
}

/** A patch of a small model that lies beyond the story's grid is not chosen. */
function choose({ state, redraw, beyond }: Telling, { patch: newPatch, ...choice }: Partial<Selection>, shape: Shape | undefined): void {
  const { view } = state, { depth, heads } = state.model!.config;
  const patch = newPatch && shape && newPatch[0] < shape.gridRows && newPatch[1] < shape.gridCols ? newPatch : undefined;
  if (patch) view.patch = patch;
  for (const [name, end] of [["layer", depth], ["head", heads]] as const) {
    const value = choice[name];
    if (value === undefined) continue;
    beyond[name] = value < end ? undefined : value;
    if (value < end) view[name] = value;
  }
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
 * Keeps the chapter, or the part of one, that a link leads to in its place while chapters above it load and grow, until
 * the visitor scrolls, presses or types.
 */
function holdTarget(chapters: HTMLElement): void {
  let held = false;
  const hold = () => {
    if (held) [...chapters.querySelectorAll("section")].find(({ id }) => location.hash === `#${id}`)?.scrollIntoView();
  };
  const follow = () => {
    held = true;
    hold();
  };
  addEventListener("hashchange", follow);
  for (const event of ["wheel", "touchmove", "pointerdown", "keydown"])
    addEventListener(event, () => (held = false), { capture: true, passive: true });
  new ResizeObserver(hold).observe(chapters);
  follow();
}

/** Watches the chapters and empties them when their life ends. A chapter's code loads when it first comes near the screen. */
function openChapters(root: HTMLElement, story: Story, redraw: () => void, life: AbortSignal): Open[] {
  const open = chaptersIn(root).map((root): Open => ({ root, near: false, seen: false, here: false }));
  const steps = stepsIn(root);
  steps.forEach((step, at) =>
    step.prepend(h("p", { className: "step-of" }, story.words.step({ n: at + 1, all: steps.length }))));
  const load = async (chapter: Open) => {
    chapter.draw = () => {}; // until the code is here
    const { root } = chapter, builds: Record<string, ChapterBuilder<never>> | undefined = await import("./chapters/chapters.ts").catch(() => undefined);
    if (life.aborted) return;
    if (!builds) return showMissing(root.appendChild(h("p")));
    chapter.draw = builds[root.id]!(root, story, sentencesOf<never>(root.id));
    root.append(buildSaves(story.words.save, root));
    chapter.drawn = undefined;
    redraw();
  };
  const watch = (which: "near" | "seen" | "here", rootMargin: string) => {
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const chapter = open.find(({ root }) => root === target)!;
        chapter[which] = isIntersecting;
        if (isIntersecting && !chapter.draw) void load(chapter);
      }
      redraw();
    }, { rootMargin });
    for (const { root } of open) observer.observe(root);
    life.addEventListener("abort", () => observer.disconnect());
  };
  watch("near", "40% 0px");
  watch("seen", "0px");
  watch("here", "-50% 0px");
  life.addEventListener("abort", () => {
    for (const { root } of open) {
      for (const part of root.querySelectorAll(":scope > section")) part.replaceChildren();
      root.replaceChildren(...root.querySelectorAll(":scope > :is(h2, section)"));
    }
  });
  return open;
}
