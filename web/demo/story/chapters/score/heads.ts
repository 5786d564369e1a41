/** All heads for one query: their maps, their outputs beside each other, and what is added to the token; a head's table. */
import type { Scale } from "../../../../base/heat.ts";
import { button, h, write } from "../../../dom.ts";
import { buildTable, tableRow } from "../../../figure/parts.ts";
import { decimal, number, percent } from "../../../texts/words.ts";
import { buildGrid, paintGrid, signedScale } from "../../grid.ts";
import type { Story } from "../../scene.ts";
import { patchOfToken, tokenName } from "../../tokens.ts";
import { largest } from "../../vectors.ts";
import type { Answer, Work } from "./head.ts";
import type { Words } from "./texts/en.ts";

type MapWords = Pick<Words, "head" | "headName" | "ofPrefix">;

const CELL = 14;

interface HeadsView extends Pick<Work, "scene" | "query" | "paper" | "changed"> {
  answers: readonly Answer[]; // of each head
  scale: Scale;
}

export function buildHeads(story: Story, own: Words) {
  const maps = buildMaps(story, own);
  const lead = h("p"), words = h("p", { className: "projection" });
  const grid = { number, columnName: (i: number) => own.number({ n: i + 1 }) };
  const concatenated = buildGrid(story, { ...grid, label: own.concatenated, rowName: (head) => own.head({ n: head + 1 }) });
  const projected = buildGrid(story, { ...grid, label: own.projected });
  const parts = [lead, maps.root, words,
    h("div", { className: "side-by-side" },
      h("figure", { className: "concatenated" }, concatenated.root, h("figcaption", {}, own.concatenated)),
      h("figure", { className: "projected" }, projected.root, h("figcaption", {}, own.projected)))];

  const draw = (view: HeadsView) => {
    const { scene: { config, result, layer, head, dark }, answers } = view, { width } = config;
    const d = answers[0]!.output.length, wide = width % d === 0 ? d : 1; // as many columns as an output has, if they fill whole rows
    write(lead, own.headsLead({ heads: answers.length, d }));
    maps.draw(view);
    const all = Float64Array.from(answers.flatMap(({ output }) => [...output]));
    concatenated.draw({ values: all, rows: answers.length, columns: d, dark, scale: signedScale(all), marked: { row: head } });
    concatenated.root.dataset.values = all.join(" ");
    const added = result.trace.added(layer, "attention").slice(view.query * width, (view.query + 1) * width);
    projected.draw({ values: added, rows: width / wide, columns: wide, dark, scale: signedScale(added) });
    projected.root.dataset.values = added.join(" ");
    const sizes = { heads: answers.length, d, inner: all.length, width };
    write(words, [
      config.attention === "per_head" ? own.noProjection(sizes) : own.projection(sizes),
      config.layer_scale ? own.layerScale : "", view.changed ? own.projectionOwn : "",
    ].join(" "));
  };
  return { parts, draw };
}

/** The maps of all heads; one is chosen by a press. */
export function buildMaps(story: Story, own: MapWords) {
  const root = h("div", { className: "head-maps" });
  let maps: { map: HTMLButtonElement; canvas: HTMLCanvasElement; small: HTMLElement }[] = [];
  const build = (heads: number) => {
    maps = Array.from({ length: heads }, (_, head) => {
      const canvas = h("canvas", { ariaHidden: "true" }), small = h("small");
      const map = button("", () => story.choose({ head }), { className: "head-map" });
      map.append(canvas, h("span", {}, own.head({ n: head + 1 })), small);
      return { map, canvas, small };
    });
    root.replaceChildren(...maps.map(({ map }) => map));
  };
  const draw = ({ scene, query, answers, paper, scale }: Omit<HeadsView, "changed">) => {
    if (maps.length !== answers.length) build(answers.length);
    const { config: { prefix }, shape: { gridRows: rows, gridCols: columns }, dark } = scene;
    const name = (token: number) => tokenName(token, scene, story.words);
    answers.forEach(({ weights }, head) => {
      const { map, canvas, small } = maps[head]!, most = largest(weights);
      paintGrid(canvas, { values: weights.subarray(prefix.length), rows, columns, scale, dark, under: paper }, CELL, patchOfToken(query, scene));
      map.ariaPressed = String(head === scene.head);
      map.ariaDescription = own.headName({ n: head + 1, token: name(most), share: percent(weights[most]!) });
      write(small, prefix.map((_, token) => own.ofPrefix({ name: name(token), share: percent(weights[token]!) })).join(", "));
    });
  };
  return { root, draw };
}

export function buildTokens(own: Words) {
  const table = buildTable(own.table, Object.values(own.tableHead), []);
  const root = h("div", { className: "grid-scroll" }, table);
  const draw = ({ scores, weights }: Answer, name: (token: number) => string) =>
    table.tBodies[0]!.replaceChildren(...[...scores].map((score, token) => {
      const share = weights[token]!;
      return tableRow(name(token), [number(score, 4), decimal(share, 4)], { score: String(score), share: String(share) });
    }));
  return { root, draw };
}
