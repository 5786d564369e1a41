/** The run from inside: its positions, and where its heads look in the visitor's drawing. */
import type { Classification, VitConfig } from "vitrine";
import { buildMaps, drawMaps } from "../../../../blocks.ts";
import { readSafetensors } from "../../../../../base/safetensors.mjs";
import { heatMap, scaleOfAll } from "../../../../overlay.ts";
import { shapeOf } from "../../../../pixels.ts";
import { number } from "../../../../texts/words.ts";
import { h } from "../../../../dom.ts";
import { buildGrid, patchGrid, signedScale } from "../../../grid.ts";
import type { Scene, Story } from "../../../scene.ts";
import { paperOf, patchIn } from "../../../tokens.ts";
import { rowOf } from "../../../vectors.ts";
import { alike, biasOf, nearAndFar } from "../similarity.ts";
import type { Words } from "../texts/en.ts";

/** What weights read in a drawing. */
export interface Reading {
  weights: Uint8Array<ArrayBuffer>;
  config: Readonly<VitConfig>;
  result: Classification;
}

/** A reading, and the choices of the visitor. */
interface InsideView extends Reading {
  scene: Scene;
  layer: number;
  head: number;
}

interface Part {
  root: HTMLElement;
  draw(shown: InsideView): void;
}

/** CSS pixels of a picture's side, whatever the number of its cells. */
const SIDE = 196;

/** The suffix makes the ids of another run its own. */
export function buildInside(story: Story, words: Words["live"], suffix: string) {
  const root = h("div", { className: "live-inside" });
  let parts: Part[] = [], shape = "", shown: InsideView;
  const draw = () => {
    for (const part of parts) part.draw(shown);
  };
  const choose = (layer: number, head: number) => {
    Object.assign(shown, { layer, head });
    draw();
  };
  return {
    root,
    draw(reading: Reading, scene: Scene): void {
      const { position, depth, heads, patch_size } = reading.config;
      const now = [position, depth, heads, patch_size].join();
      // Only the class token is read after the last layer, so relative positions are not learnt there.
      const first = { layer: position === "relative" ? 0 : depth - 1, head: 0 };
      shown = { ...(now === shape ? shown : first), ...reading, scene };
      if (now !== shape) {
        shape = now;
        parts = [buildPositions(story, words, reading.config), buildAttention(story, words, reading.config, choose)];
        for (const { root } of parts) root.id += suffix;
        root.replaceChildren(...parts.map((part) => part.root));
      }
      draw();
    },
  };
}

const figure = (id: string, title: string, ...inside: Node[]) =>
  h("figure", { id: `learning-live-${id}` }, h("h3", {}, title), ...inside);

function buildPositions(story: Story, words: Words["live"], config: Reading["config"]): Part {
  if (config.position === "learned") return buildAlike(story, words, config);
  if (config.position === "relative") return buildBias(story, words, config);
  return { root: figure("positions", words.controls.position, h("p", {}, words.fixed)), draw() {} };
}

/** How like the chosen patch's position all others are. */
function buildAlike(story: Story, words: Words["live"], config: Reading["config"]): Part {
  const { gridRows: rows, gridCols: columns } = shapeOf(config);
  const grid = patchGrid(story, { label: words.likeness, cell: SIDE / rows, number }), says = h("figcaption");
  return {
    root: figure("positions", words.likeness, grid.root, says),
    draw({ weights, scene }) {
      const all = alike(readSafetensors(weights).tensors.get("pos_embed")!, rows * columns);
      const [row, column] = patchIn(scene, rows, columns), values = rowOf(all, row * columns + column, rows * columns);
      grid.draw({ values, rows, columns, scale: { signed: 1 }, dark: scene.dark, marked: { row, column } });
      grid.canvas.dataset.values = values.join();
      const { near, far } = nearAndFar(all, columns);
      says.textContent = words.alike({ near: number(near), far: number(far) });
    },
  };
}

/** What a head adds to its scores for each offset. All heads have one scale. */
function buildBias(story: Story, words: Words["live"], config: Reading["config"]): Part {
  const { gridRows, gridCols } = shapeOf(config), [rows, columns] = [2 * gridRows - 1, 2 * gridCols - 1];
  const { up, down, left, right, row, column } = words.offset;
  const offset = (n: number, before: typeof up, none: string, after: typeof up) => (n < 0 ? before({ n: -n }) : n > 0 ? after({ n }) : none);
  const grid = buildGrid(story, {
    label: words.bias, number, cell: SIDE / rows,
    rowName: (at) => offset(at - gridRows + 1, up, row, down), columnName: (at) => offset(at - gridCols + 1, left, column, right),
  });
  const says = h("figcaption");
  return {
    root: figure("positions", words.bias, grid.root, says),
    draw({ weights, scene, layer, head }) {
      const { tensors } = readSafetensors(weights);
      const biases = Array.from({ length: config.depth * config.heads }, (_, at) => biasOf(
        tensors.get(`blocks.${Math.floor(at / config.heads)}.attn.rel_pos.relative_position_bias_table`)!, at % config.heads, rows * columns));
      const values = biases[layer * config.heads + head]!;
      grid.draw({ values, rows, columns, scale: signedScale(...biases), dark: scene.dark, marked: { row: gridRows - 1, column: gridCols - 1 } });
      grid.canvas.dataset.values = values.join();
      says.textContent = words.biasOf({ layer: layer + 1, head: head + 1 });
    },
  };
}

/** Where the class token looks: a small map for each layer and head, and the chosen one over the drawing. */
function buildAttention(story: Story, words: Words["live"], config: Reading["config"], choose: Parameters<typeof buildMaps>[3]): Part {
  const { page: texts, maps: names } = story.texts, shape = shapeOf(config);
  const grid = patchGrid(story, { label: words.attention, cell: SIDE / shape.gridRows });
  const small = h("div", { className: "maps", role: "group", ariaLabel: texts.maps }), says = h("figcaption");
  buildMaps(small, config.depth, config.heads, choose);
  return {
    root: figure("attention", words.attention, grid.root, says, h("p", { className: "axes" }, texts.axes), small),
    draw({ result, scene, layer, head }) {
      const { dark, patch } = scene, view = { map: "class", layer, head, patch, strength: 1 } as const;
      const scale = scaleOfAll(result.attention!, view), { gridRows: rows, gridCols: columns } = shape;
      const values = heatMap(result.attention!, view), [row, column] = patchIn(scene, rows, columns);
      grid.draw({ values, rows, columns, scale: { low: 0, high: scale.top }, dark, under: paperOf({ result, shape, dark }), marked: { row, column } });
      grid.canvas.dataset.values = values.join();
      says.textContent = names.button(layer + 1, head + 1);
      drawMaps(small, { model: { config }, reading: { result }, dark, view }, scale, (value, { top }) => value / top);
    },
  };
}
