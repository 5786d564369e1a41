/** Teach it: the model learns the visitor's own signs, here in the tab. */
import { Vit } from "vitrine";
import type { LabelledDrawing } from "../../../train/handwriting.ts";
import { drawingOf } from "../../ink.ts";
import { percent } from "../../logits.ts";
import { pack } from "../../pack.ts";
import type { Texts } from "../../texts/en.ts";
import { Bars } from "../bars.ts";
import { h } from "../dom.ts";
import { coalesce } from "../coalesce.ts";
import type { Chapter, Scene } from "../scene.ts";
import { buildExampleRows } from "./examples.ts";
import { buildKeeper } from "./keeper.ts";
import { countRight, labelsAfter } from "./learn.ts";
import { buildLessons } from "./lessons.ts";
import { Shelves } from "./shelf.ts";
import { buildTakeaway } from "./takeaway.ts";

const shelves = new Shelves();
const restored = shelves.restore();

export const chapter: Chapter = (root, story) => {
  const texts = story.texts.teachIt;
  let scene: Scene | undefined; // until its drawing is kept
  let last: Scene | undefined;
  let kept: number | undefined; // the version of the drawing that was kept last
  const reading = buildReading(texts, story.attempt);

  const keep = (label: string) => {
    if (!scene) return;
    const { strokes } = scene;
    kept = scene.version;
    scene = undefined;
    shelves.change({ ...shelves.now, examples: [...shelves.now.examples, { label, strokes }] });
    story.wipe();
    if (shelves.now.taught) lessons.say(texts.again);
  };
  const remove = (example: LabelledDrawing) =>
    shelves.change({ ...shelves.now, examples: shelves.now.examples.filter((one) => one !== example) });

  const keeper = buildKeeper(texts, keep);
  const rows = buildExampleRows(texts, remove);
  const lessons = buildLessons(texts, shelves, () => last, () => reading.right(shelves.now.examples));
  const takeaway = buildTakeaway(texts, shelves, lessons.say);
  root.append(
    h("p", { className: "lead" }, texts.lead), h("p", { className: "task" }, texts.task),
    reading.answer, keeper.root, rows.root, lessons.root, reading.bars, takeaway.root,
    h("p", { className: "notice-this" }, texts.notice));

  const drawAll = () => {
    const { examples, taught } = shelves.now, known = last?.config.labels ?? [];
    keeper.draw(labelsAfter(known, examples), scene !== undefined);
    rows.draw(examples, known);
    lessons.draw();
    takeaway.draw();
    reading.draw(taught, scene);
  };
  shelves.follow(drawAll);
  void restored.then(drawAll);
  drawAll();

  return (next) => {
    const repainted = last?.dark !== next.dark || last.model !== next.model;
    last = next;
    root.dataset.drawing = pack(next.strokes); // whose answer stands above and whose example Keep makes
    scene = next.version === kept ? undefined : next;
    if (repainted) return drawAll();
    keeper.draw(labelsAfter(next.config.labels, shelves.now.examples), scene !== undefined);
    reading.draw(shelves.now.taught, scene);
  };
};

type Attempt = <Answer>(answer: Promise<Answer>) => Promise<Answer | undefined>;

/** The taught model's answer to the drawing, and to the examples. */
function buildReading(texts: Texts["teachIt"], attempt: Attempt) {
  const answer = h("p", { id: "teach-it-reads", hidden: true });
  const figure = h("div", { hidden: true });
  let file: Uint8Array | undefined, loading: Promise<Vit | undefined> = Promise.resolve(undefined);
  let bars: Bars | undefined, shown: Vit | undefined;

  const take = (taught: Uint8Array<ArrayBuffer> | undefined) => {
    if (file === taught) return;
    file = taught;
    void loading.then((old) => old?.dispose());
    loading = taught ? attempt(Vit.load(taught)) : Promise.resolve(undefined);
  };
  const read = coalesce(async (scene: Scene | undefined) => {
    const vit = await loading;
    if (vit && vit !== shown) {
      bars = new Bars(texts.reads, vit.config.labels);
      bars.root.id = "teach-it-bars";
      figure.replaceChildren(h("h3", {}, texts.reads), bars.root);
    }
    shown = vit;
    const result = vit && scene && (await attempt(vit.classify(drawingOf(scene.strokes, scene.unfinished))));
    answer.hidden = figure.hidden = !result;
    if (!result || vit !== shown) return;
    const best = result.classes[0]!;
    bars!.draw(result.classes);
    answer.textContent = texts.answer(best.label, percent(best.p));
    Object.assign(answer.dataset, { label: best.label, p: String(best.p), drawing: pack(scene.strokes) });
  });
  return {
    answer,
    bars: figure,
    draw(taught: Uint8Array<ArrayBuffer> | undefined, scene: Scene | undefined): void {
      take(taught);
      read(scene);
    },
    async right(examples: readonly LabelledDrawing[]): Promise<number> {
      const vit = await loading;
      return vit ? (await attempt(countRight(vit, examples))) ?? 0 : 0;
    },
  };
}
