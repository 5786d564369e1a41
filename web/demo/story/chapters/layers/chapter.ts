/** Layer by layer: what the model's head reads at each stop of the residual stream, and without parts. */
import type { Vit } from "vitrine";
import { fieldOf } from "../../../stem.ts";
import { h } from "../../../dom.ts";
import { saveable } from "../../../figure/parts.ts";
import { coalesce } from "../../coalesce.ts";
import type { Build, Scene } from "../../scene.ts";
import { buildAnswer, effect } from "./answer.ts";
import { keyOf, type Part, partsOf } from "./parts.ts";
import { type Run, runWithout } from "./runs.ts";
import { buildStream } from "./stream.ts";
import { buildTable } from "./table.ts";

const PAPERS = [
  ["residual", "https://arxiv.org/abs/1512.03385"],
  ["lens", "https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens"],
  ["tuned", "https://arxiv.org/abs/2303.08112"],
  ["heads", "https://arxiv.org/abs/1905.10650"],
] as const;

/** What is built for one model. */
interface Fitted {
  model: Vit;
  stream: ReturnType<typeof buildStream>;
  answer: ReturnType<typeof buildAnswer>;
  table: ReturnType<typeof buildTable>;
}

/** The runs of one drawing. `whole` leaves nothing out. */
interface Done {
  scene: Scene;
  run: Run;
  whole: Run;
}

export const texts = {};

export const build: Build = (root, story) => {
  const { choices, texts: { layers: words } } = story;
  const lead = h("p", { className: "lead" }), notice = h("p", { className: "notice-this" });
  const stem = h("p", { className: "lead" }), figure = h("div", { className: "layers" });
  const cites = PAPERS.flatMap(([name, href]) => [h("a", { href }, words.cite[name]), " · "]).slice(0, -1);
  root.append(lead, stem, h("p", { className: "task" }, words.task), notice, figure,
    h("p", { className: "lead caveat" }, words.caveat), h("p", { className: "cite" }, ...cites));
  let out: Part[] = [], shown: Scene | undefined, fitted: Fitted | undefined, done: Done | undefined;
  let announce = false; // a part was pressed since the last answer

  const paint = (scene: Scene) => {
    fitted!.stream.draw({ ...done!, scene });
    fitted!.answer.draw(done!.run, done!.whole);
    fitted!.table.theme(scene.dark);
    figure.setAttribute("aria-busy", "false");
  };

  const run = coalesce(async (scene: Scene) => {
    const parts = out, same = done && isOfOne(done.scene, scene);
    const whole = same ? done!.whole : await runWithout([], scene, story);
    const without = whole && parts.length > 0 ? await runWithout(parts, scene, story) : whole;
    if (!whole || !without || scene.model !== shown!.model) return;
    done = { scene, run: without, whole };
    paint(isOfOne(scene, shown!) ? shown! : scene);
    if (!same) void fitted!.table.fill(scene, story);
    if (announce && parts === out) story.say(effect(without, whole, words));
    announce &&= parts !== out;
  });

  const put = (parts: Part[]) => {
    for (const part of out) choices.set(choiceOf(part), undefined);
    for (const part of parts) choices.set(choiceOf(part), true);
    out = parts;
  };
  const leaveOut = (parts: Part[]) => {
    put(parts);
    announce = true;
    figure.setAttribute("aria-busy", "true");
    run(shown!);
  };
  const press = (part: Part) => {
    const others = out.filter((other) => keyOf(other) !== keyOf(part));
    leaveOut(others.length < out.length ? others : [...out, part]);
  };

  const fit = (scene: Scene) => {
    const { config, model } = scene;
    const pools = config.pool === "class" && config.prefix.length > 0;
    lead.textContent = pools ? words.lead : `${words.lead} ${words.meanLead}`;
    notice.textContent = pools ? words.notice : words.meanNotice;
    stem.textContent = config.stem.length > 0 ? words.stem(fieldOf(config)) : "";
    stem.hidden = config.stem.length === 0;
    fitted?.table.stop();
    const parts = Array.from({ length: config.depth }, (_, layer) => partsOf(layer, config)).flat();
    put(fitted ? [] : parts.filter((part) => choices.of(choiceOf(part)) === "on")); // another model's do not stay
    done = undefined;
    const stream = buildStream(scene, words, press);
    const answer = buildAnswer(config.labels, words, () => out.length > 0 && leaveOut([]));
    const table = buildTable(scene, story);
    figure.replaceChildren(h("p", { className: "hint" }, words.addedHint), saveable(stream.root, words.figure, stream.picture), answer.root, table.root);
    fitted = { model, stream, answer, table };
  };

  return (scene) => {
    if (fitted?.model !== scene.model) fit(scene);
    const same = done && isOfOne(done.scene, scene);
    shown = scene;
    if (same) return paint(scene); // another patch, head or theme
    fitted!.table.stop();
    figure.setAttribute("aria-busy", "true");
    run(scene);
  };
};

/** How a link names a part that is left out. */
const choiceOf = (part: Part) => `out-${keyOf(part).replaceAll(" ", "-")}`;

/** Whether two scenes are of one drawing, read by one model. */
const isOfOne = (a: Scene, b: Scene) => a.model === b.model && a.version === b.version;
