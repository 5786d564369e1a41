/** What a position is: the numbers of all of them, and how alike they make the places. */
import { h } from "../../../dom.ts";
import { number } from "../../../texts/words.ts";
import { write } from "../../../write.ts";
import { buildGrid, signedScale } from "../../grid.ts";
import { buildLikeness, buildOffsets } from "../../places.ts";
import { cite, fold, whenOpen } from "../../prose.ts";
import type { Story } from "../../scene.ts";
import { patchOfToken, tokenName } from "../../tokens.ts";
import { biasOf, byOffset, cosines, positionsOf } from "../../vectors.ts";
import { layerAndHead, type Part, type Placed, tokenOf } from "./kinds.ts";
import type { Words } from "./texts/en.ts";

export function buildPicture(story: Story, { picture: words, papers }: Words): Part {
  let shown: Placed | undefined;
  const matrix = buildGrid(story, { label: words.matrix, number,
    rowName: (token) => tokenName(token, shown!, story.texts),
    columnName: (column) => words.number({ n: column + 1 }),
    choose: (token) => story.choose({ patch: patchOfToken(token, shown!) }) });
  const alike = buildLikeness(story, words.alike, 36), bias = buildOffsets(story, words.bias, 20);
  const figures = Object.entries({ matrix, alike, bias }).map(([name, { root, canvas }]) => {
    canvas.id = `positions-${name}`;
    return h("figure", {}, h("figcaption", {}, canvas.ariaLabel!), root);
  });
  const says = h("p"), root = fold(story, words.title, h("div", {}, says, h("div", { className: "side-by-side" }, ...figures)), cite(papers));

  const draw = (placed: Placed) => {
    shown = placed;
    const { kind, scene, shape, config: { width, prefix }, traced: { trace } } = placed, { dark } = scene;
    write(says, words[kind]);
    const adds = kind !== "none" && kind !== "relative";
    figures.forEach((figure, at) => (figure.hidden = at < 2 ? !adds : kind !== "relative"));
    if (adds) {
      const positions = positionsOf(trace), patches = positions.subarray(prefix.length * width);
      matrix.draw({ values: positions, rows: positions.length / width, columns: width, scale: signedScale(positions), dark, marked: { row: tokenOf(placed) } });
      matrix.canvas.dataset.values = positions.join(" ");
      alike.draw(cosines(patches, width), shape.gridCols, scene);
    } else if (kind === "relative") {
      const values = byOffset(biasOf(trace, ...layerAndHead(placed)), prefix.length, shape.gridRows, shape.gridCols);
      bias.draw(values, shape, signedScale(values), dark);
    }
  };
  return { root, draw: whenOpen(root, draw) };
}
