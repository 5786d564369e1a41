/** 8. Beside a convolutional network: two small models of one size read the visitor's drawing. */
import { smallModel } from "../../../explain/models.ts";
import { Bars } from "../../bars.ts";
import { linked } from "../../cite.ts";
import { h } from "../../../dom.ts";
import { coalesce } from "../../coalesce.ts";
import { loads } from "../../loads.ts";
import type { Build, Scene, Story } from "../../scene.ts";
import { buildMeasured } from "./measured.ts";
import { type Both, type Name, NAMES, ORDER, type Pair, type Read } from "./pair.ts";
import { buildReach } from "./pictures.ts";
import { buildTable } from "./table.ts";

export const texts = {};

export const build: Build = (root, story) => {
  const { cnn: texts } = story.texts;
  const body = h("div");
  const papers = texts.papers.map((sentence) => h("li", {}, ...linked(sentence)));
  root.append(
    h("p", { className: "lead" }, texts.lead), h("p", { className: "task" }, texts.task), body,
    h("p", { className: "notice-this" }, texts.notice),
    h("h3", {}, texts.when), h("ul", { className: "cnn-papers" }, ...papers));
  return loads(body, story, async () => {
    const [vit, convolutions] = await Promise.all([smallModel(NAMES.vit), smallModel(NAMES.convolutions)]);
    return buildFigures({ vit, convolutions }, story);
  });
};

async function buildFigures(pair: Pair, story: Story): Promise<[Node, (scene: Scene) => void]> {
  const { cnn: texts } = story.texts;
  const barsOf = (name: Name) => new Bars(texts[name], pair[name].config.labels);
  const bars = { convolutions: barsOf("convolutions"), vit: barsOf("vit") };
  const [reach, drawReach] = buildReach(pair, story);
  const [measured, drawMeasured] = buildMeasured(pair, story);
  const [table, drawTable] = await buildTable(pair, story);
  const answer = (name: Name) => h("figure", { id: `cnn-${name}` }, h("h3", {}, texts[name]), bars[name].root);
  const root = h("div", {}, h("div", { className: "side-by-side" }, ...ORDER.map(answer)), reach, measured, table);
  let both: Both | undefined, now: Scene;

  /** Both models read the drawing. */
  const read = coalesce(async (scene: Scene) => {
    const vit = await story.classify(scene, { attention: true }, pair.vit) as Read | undefined;
    const other = await story.classify(scene, {}, pair.convolutions);
    if (!vit || !other) return;
    bars.vit.draw(vit.classes);
    bars.convolutions.draw(other.classes);
    both = { version: scene.version, input: vit.input, attention: vit.attention };
    draw();
  });
  const draw = () => {
    if (!both) return;
    drawReach(now, both);
    drawMeasured(now, both);
    drawTable(both);
  };
  return [root, (scene) => {
    now = scene;
    if (both?.version === scene.version) draw();
    else read(scene);
  }];
}
