/** The run from inside: its positions, and where its heads look in the visitor's drawing. */
import type { VitConfig } from "vitrine";
import { buildMaps, drawMaps } from "../../../../blocks.ts";
import { figure } from "../../../../figure/parts.ts";
import { heatMap, scaleOfAll } from "../../../../overlay.ts";
import { shapeOf } from "../../../../pixels.ts";
import { allWords, number } from "../../../../texts/words.ts";
import { h } from "../../../../dom.ts";
import { overDrawing, patchGrid, signedScale } from "../../../grid.ts";
import { buildLikeness, buildOffsets } from "../../../places.ts";
import type { Scene, Story, Traced } from "../../../scene.ts";
import { biasOf, byOffset, cosines, nearAndFar, positionsOf } from "../../../vectors.ts";
import type { Words } from "../texts/en.ts";

export interface Reading {
  config: Readonly<VitConfig>;
  result: Traced;
}

interface InsideView extends Reading {
  scene: Scene;
  layer: number;
  head: number;
}

interface Part {
  root: HTMLElement;
  draw(view: InsideView): void;
}

/** CSS pixels of a picture's side, whatever the number of its cells. */
const SIDE = 196;

/** The suffix makes the ids of another run its own. */
export function buildInside(story: Story, words: Words["live"], suffix: string) {
  const root = h("div", { className: "live-inside" });
  let parts: Part[] = [], shape = "", view: InsideView;
  const draw = () => {
    for (const part of parts) part.draw(view);
  };
  const choose = (layer: number, head: number) => {
    Object.assign(view, { layer, head });
    draw();
  };
  return {
    root,
    draw(reading: Reading, scene: Scene): void {
      const { position, depth, heads, patch_size } = reading.config;
      const now = [position, depth, heads, patch_size].join();
      // Only the class token is read after the last layer, so relative positions are not learnt there.
      const first = { layer: position === "relative" ? 0 : depth - 1, head: 0 };
      view = { ...(now === shape ? view : first), ...reading, scene };
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

const named = (id: string, title: string, ...inside: Node[]) =>
  Object.assign(figure(title, ...inside), { id: `learning-live-${id}` });

function buildPositions(story: Story, words: Words["live"], config: Reading["config"]): Part {
  if (config.position === "learned") return buildAlike(story, words, config);
  if (config.position === "relative") return buildBias(story, words, config);
  return { root: named("positions", words.controls.position, h("p", {}, words.fixed)), draw() {} };
}

/** How like the chosen patch's position all others are. */
function buildAlike(story: Story, words: Words["live"], config: Reading["config"]): Part {
  const { gridRows, gridCols } = shapeOf(config), { prefix, width } = config;
  const likeness = buildLikeness(story, words.likeness, SIDE / gridRows), says = h("figcaption");
  return {
    root: named("positions", words.likeness, likeness.root, says),
    draw({ result, scene }) {
      const all = cosines(positionsOf(result.trace).subarray(prefix.length * width), width), { near, far } = nearAndFar(all, gridCols);
      likeness.draw(all, gridCols, scene);
      says.textContent = words.alike({ near: number(near), far: number(far) });
    },
  };
}

/** What a head adds to its scores for each offset. All heads have one scale. */
function buildBias(story: Story, words: Words["live"], config: Reading["config"]): Part {
  const shape = shapeOf(config), { gridRows, gridCols } = shape, { depth, heads, prefix } = config;
  const offsets = buildOffsets(story, words.bias, SIDE / (2 * gridRows - 1)), says = h("figcaption");
  return {
    root: named("positions", words.bias, offsets.root, says),
    draw({ result, scene, layer, head }) {
      const biases = Array.from({ length: depth * heads }, (_, at) =>
        byOffset(biasOf(result.trace, Math.floor(at / heads), at % heads), prefix.length, gridRows, gridCols));
      offsets.draw(biases[layer * heads + head]!, shape, signedScale(...biases), scene.dark);
      says.textContent = words.biasOf({ layer: layer + 1, head: head + 1 });
    },
  };
}

/** Where the class token looks: a small map for each layer and head, and the chosen one over the drawing. */
function buildAttention(story: Story, words: Words["live"], config: Reading["config"], choose: Parameters<typeof buildMaps>[3]): Part {
  const { page, maps } = allWords(), shape = shapeOf(config);
  const grid = patchGrid(story, { label: words.attention, cell: SIDE / shape.gridRows });
  const small = h("div", { className: "maps", role: "group", ariaLabel: page.maps }), says = h("figcaption");
  buildMaps(small, config.depth, config.heads, choose);
  return {
    root: named("attention", words.attention, grid.root, says, h("p", { className: "axes" }, page.axes), small),
    draw({ result, scene, layer, head }) {
      const { dark, patch } = scene, view = { map: "class", layer, head, patch, strength: 1 } as const;
      const scale = scaleOfAll(result.attention, view), values = heatMap(result.attention, view);
      grid.draw(overDrawing({ patch, result, shape, dark }, values, { low: 0, high: scale.top }));
      grid.canvas.dataset.values = values.join(" ");
      says.textContent = maps.button({ layer: layer + 1, head: head + 1 });
      drawMaps(small, { model: { config }, reading: { result }, dark, view }, scale, (value, { top }) => value / top);
    },
  };
}
