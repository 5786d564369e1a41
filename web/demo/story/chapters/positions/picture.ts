/** What a position is: the numbers of all of them, and how alike they make the places. */
import { h, write } from "../../../dom.ts";
import { number } from "../../../texts/words.ts";
import { buildGrid, signedScale } from "../../grid.ts";
import { buildLikeness, buildOffsets } from "../../places.ts";
import { cite, fold, whenOpen } from "../../prose.ts";
import type { Story } from "../../scene.ts";
import { patchOfToken, tokenName } from "../../tokens.ts";
import { biasOf, byOffset, cosines, positionsOf, turnedBy } from "../../vectors.ts";
import { type Comparison, layerAndHead, type Part, type PositionKind, tokenOf } from "./kinds.ts";
import type { Words } from "./texts/en.ts";

const FIGURES: Readonly<Record<PositionKind, readonly string[]>> = {
  none: [], sincos1d: ["matrix", "alike"], sincos2d: ["matrix", "alike"], learned: ["matrix", "alike"], relative: ["bias"], rotary: ["turned"],
};

export function buildPicture(story: Story, { picture: words, papers }: Words): Part {
  let current: Comparison | undefined;
  const matrix = buildGrid(story, { label: words.matrix, number,
    rowName: (token) => tokenName(token, current!, story.words),
    columnName: (column) => words.number({ n: column + 1 }),
    choose: (token) => story.choose({ patch: patchOfToken(token, current!) }) });
  const alike = buildLikeness(story, words.alike, 36), bias = buildOffsets(story, words.bias, 20), turned = buildOffsets(story, words.turned, 20);
  const figures = Object.entries({ matrix, alike, bias, turned }).map(([name, { root, canvas }]) => {
    canvas.id = `positions-${name}`;
    return { name, figure: h("figure", {}, h("figcaption", {}, canvas.ariaLabel!), root) };
  });
  const says = h("p"), root = fold(story, words.title, h("div", {}, says, h("div", { className: "side-by-side" }, ...figures.map(({ figure }) => figure))), cite(papers));

  const draw = (comparison: Comparison) => {
    current = comparison;
    const { kind, scene, shape, config, traced: { trace } } = comparison, { width, prefix } = config, { dark } = scene;
    write(says, words[kind]);
    for (const { name, figure } of figures) figure.hidden = !FIGURES[kind].includes(name);
    const offsets = (figure: typeof bias, values: Float32Array) => figure.draw(values, shape, signedScale(values), dark);
    if (kind === "relative") {
      offsets(bias, byOffset(biasOf(trace, ...layerAndHead(comparison)), prefix.length, shape.gridRows, shape.gridCols));
    } else if (kind === "rotary") {
      offsets(turned, turnedBy(trace, ...layerAndHead(comparison), tokenOf(comparison), config.rotary_base, shape));
    } else if (kind !== "none") {
      const positions = positionsOf(trace), patches = positions.subarray(prefix.length * width);
      matrix.draw({ values: positions, rows: positions.length / width, columns: width, scale: signedScale(positions), dark, marked: { row: tokenOf(comparison) } });
      matrix.canvas.dataset.values = positions.join(" ");
      alike.draw(cosines(patches, width), shape.gridCols, scene);
    }
  };
  return { root, draw: whenOpen(root, draw) };
}
