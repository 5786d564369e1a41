/** Layer by layer: what the classifier reads at each stage of the token stream, and without parts. */
import type { Vit } from "vitrine";
import { button, h, write } from "../../../dom.ts";
import { buildTable, tableRow } from "../../../figure/parts.ts";
import { shares } from "../../../logits.ts";
import { fieldOf } from "../../../stem.ts";
import { percent, signed, tag } from "../../../texts/words.ts";
import { buildGuess, cite, fold, linked, whenOpen } from "../../prose.ts";
import { coalesce } from "../../work.ts";
import { signedColour } from "../../grid.ts";
import type { ChapterBuilder, Scene, Traced } from "../../scene.ts";
import { keyOf, logOdds, type Loss, type Part, partsOf, type Run, runWithout, sweep } from "./runs.ts";
import { buildStrip, nameOf } from "./strip.ts";
import type { Words } from "./texts/en.ts";

export const build: ChapterBuilder<Words> = (root, story, words) => {
  const { choices } = story;
  const lead = h("p", { className: "lead" }), stem = h("p");
  const figure = h("div"), says = h("p", { className: "effect" }), last = h("p", { className: "last-block" });
  const back = button(words.back, () => out.length > 0 && leaveOut([]));
  const panel = h("div", { className: "panel layers" }, figure,
    h("div", { className: "layers-answer" }, says, h("span", {}, words.outlines), back), last);
  const tableLead = h("p"), table = h("div");
  const turns = fold(story, words.sweep.title, tableLead, table);
  turns.classList.add("sweep");
  let out: Part[] = [], currentScene: Scene | undefined;
  let fitted: { model: Vit; blocks: Part[][]; strip: ReturnType<typeof buildStrip>; table: ReturnType<typeof buildLosses> } | undefined;
  /** The runs of one drawing, of which `whole` leaves nothing out, and the losses, which are found once. */
  let done: { result: Traced; run: Run; whole: Run } | undefined, swept: { result: Traced; losses: Promise<Loss[] | undefined> } | undefined;
  let announce = false; // a part was pressed since the last answer

  const lossesOf = (scene: Scene) => {
    const { result } = scene;
    if (swept?.result !== result) swept = { result, losses: sweep(fitted!.blocks.flat(), scene, story, () => currentScene!.result !== result) };
    return swept.losses;
  };

  root.append(lead, stem);
  const guess = buildGuess(root, story, words, async (scene) => {
    const losses = scene.unfinished ? undefined : await lossesOf(scene);
    return losses && truthOf(losses, scene, words);
  });
  const { trust } = words;
  root.append(panel, turns, fold(story, trust.title, h("p", {}, trust.odds), h("p", {}, ...linked(trust.lens)), cite(trust.cite)));

  const fillTable = coalesce(async (scene: Scene) => {
    if (scene.unfinished) return;
    turns.ariaBusy = "true";
    write(tableLead, words.sweep.busy);
    const losses = await lossesOf(scene);
    if (!losses || fitted?.model !== scene.model) return;
    fitted.table.draw(losses, scene);
    write(tableLead, words.sweep.lead({ label: scene.result.classes[0]!.label }));
    turns.ariaBusy = "false";
  });
  const drawTable = whenOpen(turns, fillTable);

  const paint = () => {
    const { run, whole } = done!;
    fitted!.strip.draw(run, whole);
    write(says, effect(run, whole, words));
    Object.assign(panel.dataset, { label: run.classes[0]!.label, p: run.classes[0]!.p });
    back.ariaDisabled = String(run.out.length === 0); // not `disabled`, which loses the focus
    panel.ariaBusy = "false";
  };

  const run = coalesce(async (scene: Scene) => {
    const parts = out, { result } = scene;
    const whole = done?.result === result ? done.whole : await runWithout([], scene, story);
    const without = whole && parts.length > 0 ? await runWithout(parts, scene, story) : whole;
    if (!whole || !without || scene.model !== currentScene!.model) return;
    done = { result, run: without, whole };
    paint();
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
    panel.ariaBusy = "true";
    run(currentScene!);
  };
  const press = (part: Part) => leaveOut(out.includes(part) ? out.filter((other) => other !== part) : [...out, part]);

  const fit = (scene: Scene) => {
    const { config, model } = scene;
    const blocks = partsOf(config);
    put(fitted ? [] : blocks.flat().filter((part) => choices.of(choiceOf(part)) === "on")); // another model's do not stay
    done = undefined;
    const strip = buildStrip(blocks, config.labels, words, press);
    fitted = { model, blocks, strip, table: buildLosses(blocks, words) };
    figure.replaceChildren(strip.root);
    table.replaceChildren(fitted.table.root);
    stem.hidden = config.stem.length === 0;
    write(stem, stem.hidden ? "" : words.stem({ field: fieldOf(config) }));
    write(last, readsToken(scene) ? words.last({ depth: config.depth }) : "");
  };

  return (scene) => {
    if (fitted?.model !== scene.model) fit(scene);
    currentScene = scene;
    drawTable(scene);
    guess(scene);
    if (done?.result === scene.result) return paint(); // another patch, head or theme
    const reader = words.readers[readsToken(scene) ? "token" : "mean"];
    write(lead, words.lead({ reader, label: scene.result.classes[0]!.label, stage: leadsFrom(scene) }));
    panel.ariaBusy = "true";
    run(scene);
  };
};

/** How a link names a part that is left out. */
const choiceOf = (part: Part) => `out-${keyOf(part).replaceAll(" ", "-")}`;

/** Whether the classifier reads the class token, and not the mean of the patches. */
const readsToken = ({ config }: Scene) => config.pool === "class" && config.prefix.length > 0;

/** The first stage from which on the classifier reads the answer. At stage 0 a class token knows nothing of the drawing. */
function leadsFrom(scene: Scene): number {
  const { config, result: { trace, classes: [answer] } } = scene, first = readsToken(scene) ? 1 : 0;
  let stage = config.depth;
  while (stage > first && trace.lens(stage - 1)[0]!.index === answer!.index) stage--;
  return stage;
}

/** What is left out, and what became of the answer. */
function effect({ out, classes }: Run, { classes: whole }: Run, words: Words): string {
  const now = classes[0]!, { label, index, p } = whole[0]!;
  if (out.length === 0) return words.whole({ label, share: percent(p) });
  const sentenceValues = {
    parts: new Intl.ListFormat(tag).format(out.map((part) => nameOf(part, words))), label, before: percent(p), after: percent(shares(classes)[index]!),
    odds: signed(logOdds(classes, index) - logOdds(whole, index)),
  };
  return now.index === index ? words.same(sentenceValues) : words.other({ ...sentenceValues, now: now.label });
}

/** Of a head of block 1, its MLP and a part of the last block: the one without which most is lost. */
function truthOf(losses: Loss[], { config: { depth }, result }: Scene, words: Words) {
  const worst = (of: (part: Part) => boolean) =>
    losses.filter(({ part }) => of(part)).reduce((most, loss) => (loss.odds < most.odds ? loss : most));
  const worsts = {
    head: worst(({ kind, layer }) => kind === "head" && layer === 0),
    mlp: worst(({ kind, layer }) => kind === "mlp" && layer === 0),
    last: worst(({ layer }) => layer === depth - 1),
  };
  const options = Object.keys(worsts) as (keyof typeof worsts)[];
  const option = options.reduce((most, one) => (worsts[one].odds < worsts[most].odds ? one : most));
  const { part, best } = worsts[option];
  return { option, words: words.truth({
    label: result.classes[0]!.label, head: signed(worsts.head.odds), mlp: signed(worsts.mlp.odds), last: signed(worsts.last.odds),
    part: nameOf(part, words), read: best.label, share: percent(best.p),
  }) };
}

const FULL = 5; // the change that gets the strongest colour

function buildLosses(blocks: Part[][], words: Words) {
  const cells = new Map(blocks.flat().map((part) => [part, h("td", { data: { part: keyOf(part) } })]));
  const columns = blocks[0]!.map(({ kind, head }) => (kind === "head" ? words.head({ n: head + 1 }) : words.mlp));
  const rows = blocks.map((parts, layer) => tableRow(words.block({ n: layer + 1 }), parts.map((part) => cells.get(part)!)));
  const draw = (losses: Loss[], { dark, result: { classes: [whole] } }: Scene) => {
    for (const { part, odds, best } of losses) {
      const cell = cells.get(part)!;
      cell.textContent = best.index === whole!.index ? signed(odds) : words.sweep.becomes({ odds: signed(odds), label: best.label });
      cell.dataset.odds = String(odds);
      // A third of the strength, so that the number stays easy to read.
      cell.style.setProperty("--tint", signedColour(odds / 3, FULL, dark));
    }
  };
  return { root: h("div", { className: "grid-scroll" }, buildTable(words.sweep.table, ["", ...columns], rows)), draw };
}
