/** Beside a convolutional network: what one unit of each of two small models can see, measured on the drawing. */
import type { Classification } from "vitrine";
import { h } from "../../../dom.ts";
import { smallModel } from "../../../explain/models.ts";
import { figure } from "../../../figure/parts.ts";
import { shapeOf } from "../../../pixels.ts";
import { lengthOf, receptiveField, stridesOf } from "../../../stem.ts";
import { percentage } from "../../../texts/words.ts";
import { buildGuess, fold, linked, repeatable } from "../../prose.ts";
import { coalesce } from "../../work.ts";
import { overDrawing, patchGrid } from "../../grid.ts";
import { loads } from "../../loads.ts";
import type { ChapterBuilder, Scene, Story } from "../../scene.ts";
import { patchIn } from "../../tokens.ts";
import { buildInfluence, type Influence, type Name, NAMES, ORDER, type Pair } from "./influence.ts";
import { buildNumbers } from "./table.ts";
import type { Words } from "./texts/en.ts";

const CELL = 34;

export const build: ChapterBuilder<Words> = (root, story, words) => {
  const questionBox = h("div"), body = h("div");
  const papers = Object.values(words.papers).map((sentence) => h("li", {}, ...linked(sentence)));
  root.append(h("p", { className: "lead" }, words.lead), questionBox, body, fold(story, words.when, h("ul", { className: "cnn-papers" }, ...papers)));
  return loads(body, story, async () => {
    const [vit, convolutions] = await Promise.all([smallModel(NAMES.vit), smallModel(NAMES.convolutions)]);
    return buildFigures({ vit, convolutions }, questionBox, story, words);
  });
};

async function buildFigures(pair: Pair, questionBox: HTMLElement, story: Story, words: Words): Promise<[Node, (scene: Scene) => void]> {
  const table = await buildNumbers(pair, story, words), reach = buildReach(pair, story, words);
  const guess = buildGuess(questionBox, story, words, reach.truth);
  let read: { version: number; answers: Record<Name, Classification> } | undefined;
  const readAgain = coalesce(async (scene: Scene) => {
    const [vit, convolutions] = [await story.classify(scene, {}, pair.vit), await story.classify(scene, {}, pair.convolutions)];
    if (!vit || !convolutions) return;
    read = { version: scene.version, answers: { vit, convolutions } };
    table.draw(read.answers);
    void reach.follow(scene.version, vit.input);
  });
  return [h("div", {}, reach.root, table.root), (scene) => {
    reach.draw(scene);
    if (read?.version !== scene.version) readAgain(scene);
    guess(scene);
  }];
}

/** Both networks side by side: how much each square changes the unit at the chosen patch. */
function buildReach(pair: Pair, story: Story, words: Words) {
  const networks = ORDER.map((name) => ({
    name, influence: buildInfluence(pair[name]), says: h("figcaption", { id: `cnn-reached-${name}` }),
    grid: patchGrid(story, { label: words.figure({ network: words.names[name] }), cell: CELL, number: share }),
  }));
  const [convolutions, vit] = networks.map(({ influence }) => influence) as [Influence, Influence];
  const side = lengthOf(receptiveField([0, 0], stridesOf(pair.convolutions.config)));
  let isAnswered = false;

  const { gridRows: rows, gridCols: columns } = shapeOf(pair.vit.config), all = rows * columns;
  /** The chosen patch, by its number in the small models' grid. */
  const chosen = (scene: Scene) => {
    const [row, column] = patchIn(scene, rows, columns);
    return row * columns + column;
  };
  const paint = repeatable((now: Scene) => {
    const at = chosen(now);
    const top = Math.max(...networks.flatMap(({ influence }) => influence.stages.flatMap((stage) => [...reaching(stage, at)])));
    for (const { name, influence: { stages, measured }, grid, says } of networks) {
      const stage = stages[name === "vit" ? Number(blocks.value) : stages.length - 1];
      if (!stage) continue;
      const values = reaching(stage, at), reached = countOf(values);
      grid.draw(overDrawing(now, values, { top, uniform: 0 }, [rows, columns]));
      says.textContent = measured < all ? words.measuring({ done: measured, all }) : words[name]({ reached, all, side });
      Object.assign(says.dataset, { reached: String(reached), measured: String(measured), values: values.join(" ") });
    }
  });
  const stages = Array.from({ length: pair.vit.config.depth + 1 }, (_, n) => [String(n), n ? words.block({ n }) : words.embedding] as const);
  const blocks = story.choices.chips("blocks", words.depth, stages, "0", () => paint());
  const root = h("div", { className: "panel side-by-side" },
    ...networks.map(({ name, grid, says }) => figure(words.names[name], grid.root, says)),
    h("div", {}, blocks.root, h("p", { className: "grid-legend" }, words.scale)));

  /** Measures one network after the other. Returns whether another drawing did not come between. */
  const follow = async (version: number, input: Float32Array) =>
    (await convolutions.follow(version, input, paint)) && vit.follow(version, input, paint);
  return {
    root, follow, draw: paint,
    /** How many squares reach the token after the first block. The first answer shows them. */
    async truth(scene: Scene) {
      const read = await story.classify(scene, {}, pair.vit);
      if (!read || !(await follow(scene.version, read.input))) return undefined;
      if (!isAnswered && blocks.value === "0") blocks.value = "1";
      isAnswered = true;
      paint();
      const at = chosen(scene), values = reaching(vit.stages[1]!, at), nonzero = values.filter((value) => value > 0);
      const reached = nonzero.length, least = share(Math.min(...nonzero)), own = share(values[at]!);
      const window = countOf(reaching(convolutions.stages.at(-1)!, at));
      return { option: optionOf(reached, all), words: words.truth({ reached, all, own, least, window }) };
    },
  };
}

/** How much each square changes one unit, of a matrix whose rows are the squares. */
const reaching = (stage: Float32Array, unit: number): Float32Array =>
  stage.filter((_, at) => at % Math.sqrt(stage.length) === unit);

const countOf = (values: Float32Array): number => values.filter((value) => value > 0).length;

const optionOf = (reached: number, all: number) => (reached === all ? "all" : reached < 2 ? "own" : reached < 10 ? "near" : "many");

/** A change in percent, which may be above 100. */
const share = (value: number): string =>
  value === 0 ? percentage(0, 0) : value < 0.0005 ? `< ${percentage(0.001, 1)}` : percentage(value, 1);
