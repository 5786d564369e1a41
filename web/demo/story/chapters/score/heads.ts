/** All heads for one query: their maps, their outputs beside each other, and what is added to the token; a head's table. */
import { sized } from "../../../figure/canvas.ts";
import { buildTable, tableRow } from "../../../figure/parts.ts";
import { percent } from "../../../logits.ts";
import type { Scale } from "../../../../base/heat.ts";
import { decimal, number } from "../../../texts/words.ts";
import { button, h } from "../../../dom.ts";
import { buildGrid, colourOf, signedScale } from "../../grid.ts";
import type { Scene, Story } from "../../scene.ts";
import { tokenName } from "../../tokens.ts";
import type { Answer } from "./head.ts";
import type { Words } from "./texts/en.ts";
import { write } from "../../../write.ts";

type MapWords = Pick<Words, "head" | "headName" | "ofPrefix">;

const CELL = 14;

export interface HeadsView {
  scene: Scene;
  query: number; // the token's index
  answers: readonly Answer[]; // of each head
  paper: CanvasImageSource;
  scale: Scale;
  changed: boolean;
}

/** Returns the figure and what draws it. */
export function buildHeads(story: Story, own: Words): { parts: HTMLElement[]; draw(shown: HeadsView): void } {
  const maps = buildMaps(story.texts, own, (head) => story.choose({ head }));
  const lead = h("p");
  const words = h("p", { className: "projection" });
  const grid = { number, columnName: (i: number) => own.number({ n: i + 1 }) };
  const concatenated = buildGrid(story, { ...grid, label: own.concatenated, rowName: (head) => own.head({ n: head + 1 }) });
  const projected = buildGrid(story, { ...grid, label: own.projected });
  const parts = [lead, maps.root, words,
    h("div", { className: "side-by-side" },
      h("figure", { className: "concatenated" }, concatenated.root, h("figcaption", {}, own.concatenated)),
      h("figure", { className: "projected" }, projected.root, h("figcaption", {}, own.projected)))];

  const draw = (shown: HeadsView) => {
    const { scene, answers } = shown;
    const { config, result, layer, head, dark } = scene;
    const d = answers[0]!.output.length;
    write(lead, own.headsLead({ heads: answers.length, d }));
    maps.draw(shown);
    const all = Float64Array.from(answers.flatMap(({ output }) => [...output]));
    concatenated.draw({
      values: all, rows: answers.length, columns: d, dark, scale: signedScale(all), marked: { row: head },
    });
    concatenated.root.dataset.values = all.join(" ");
    const added = result.trace.added(layer, "attention").slice(shown.query * config.width, (shown.query + 1) * config.width);
    projected.draw({ values: added, rows: config.width / columnsOf(config.width, d), columns: columnsOf(config.width, d), dark, scale: signedScale(added) });
    projected.root.dataset.values = added.join(" ");
    const sizes = { heads: answers.length, d, inner: all.length, width: config.width };
    write(words, [
      config.attention === "per_head" ? own.noProjection(sizes) : own.projection(sizes),
      config.layer_scale ? own.layerScale : "", shown.changed ? own.projectionOwn : "",
    ].join(" "));
  };
  return { parts, draw };
}

/** As many columns as the heads' outputs have, if they fill whole rows. */
const columnsOf = (width: number, d: number): number => (width % d === 0 ? d : 1);

/** The maps of all heads; one is chosen by a press. */
export function buildMaps(texts: Story["texts"], own: MapWords, choose: (head: number) => void) {
  const root = h("div", { className: "head-maps" });
  const draw = (shown: Omit<HeadsView, "changed">) => {
    while (root.childElementCount > shown.answers.length) root.lastElementChild!.remove();
    while (root.childElementCount < shown.answers.length) {
      const index = root.childElementCount;
      root.append(mapButton(own.head({ n: index + 1 }), () => choose(index)));
    }
    shown.answers.forEach((answer, index) => drawMap(root.children[index] as HTMLElement, shown, answer, texts, own));
  };
  return { root, draw };
}

function mapButton(name: string, press: () => void): HTMLElement {
  const made = button("", press, { className: "head-map" });
  made.append(h("canvas", { aria: { hidden: "true" } }), h("span", {}, name), h("small"));
  return made;
}

function drawMap(root: HTMLElement, { scene, query, paper, scale }: Omit<HeadsView, "changed">, { weights }: Answer, texts: Story["texts"], own: MapWords): void {
  const { config, shape: { gridRows: rows, gridCols: columns }, dark } = scene;
  const prefix = config.prefix.length;
  const [canvas, name, small] = [...root.children] as [HTMLCanvasElement, HTMLElement, HTMLElement];
  const context = sized(canvas, columns * CELL, rows * CELL, columns, rows);
  context.imageSmoothingEnabled = false;
  context.drawImage(paper, 0, 0, columns, rows);
  for (let patch = 0; patch < rows * columns; patch++) {
    context.fillStyle = colourOf(weights[prefix + patch]!, scale, dark);
    context.fillRect(patch % columns, Math.floor(patch / columns), 1 - 1 / CELL, 1 - 1 / CELL);
  }
  if (query >= prefix) {
    context.strokeStyle = getComputedStyle(canvas).color;
    context.lineWidth = 2 / CELL;
    context.strokeRect((query - prefix) % columns, Math.floor((query - prefix) / columns), 1, 1);
  }
  const index = [...root.parentElement!.children].indexOf(root);
  const most = weights.indexOf(Math.max(...weights));
  root.ariaPressed = String(index === scene.head);
  const where = { token: tokenName(most, scene, texts), share: percent(weights[most]!) };
  root.ariaDescription = own.headName({ n: index + 1, ...where });
  write(name, own.head({ n: index + 1 }));
  write(small, config.prefix.map((_, token) =>
    own.ofPrefix({ name: tokenName(token, scene, texts), share: percent(weights[token]!) })).join(", "));
}

/** A table of all tokens. */
export function buildTokens(own: Words) {
  const table = buildTable(own.table, Object.values(own.tableHead), []);
  const root = h("div", { className: "grid-scroll" }, table);
  const draw = ({ scores, weights }: Answer, name: (token: number) => string) =>
    table.tBodies[0]!.replaceChildren(...[...scores].map((score, token) => {
      const row = tableRow(name(token), number(score, 4), decimal(weights[token]!, 4));
      Object.assign(row.dataset, { score, share: weights[token] });
      return row;
    }));
  return { root, draw };
}
