/** What a position is: the numbers of all of them, and how alike they make the places. */
import { h } from "../../../dom.ts";
import { number } from "../../../texts/words.ts";
import { write } from "../../../write.ts";
import { buildGrid, patchGrid, signedScale } from "../../grid.ts";
import type { Story } from "../../scene.ts";
import { patchOfToken, tokenName } from "../../tokens.ts";
import { cosine, positionsOf, rowOf } from "../../vectors.ts";
import { layerAndHead, type Part, patchOf, type Placed, tokenOf } from "./kinds.ts";
import { biasOf, byOffset } from "./numbers.ts";
import type { Words } from "./texts/en.ts";

export function buildPicture(story: Story, { picture: words }: Words): Part {
  let shown: Placed | undefined;
  const matrix = buildGrid(story, { label: words.matrix, number,
    rowName: (token) => tokenName(token, shown!, story.texts),
    columnName: (column) => words.number({ n: column + 1 }),
    choose: (token) => story.choose({ patch: patchOfToken(token, shown!) }) });
  const alike = patchGrid(story, { label: words.alike, number, cell: 36 });
  const way = (n: number, same: string, less: Words["picture"]["up"], more: Words["picture"]["up"]) =>
    n === 0 ? same : n < 0 ? less({ n: -n }) : more({ n });
  const bias = buildGrid(story, { label: words.bias, number, cell: 20,
    rowName: (row) => way(row - shown!.shape.gridRows + 1, words.sameRow, words.up, words.down),
    columnName: (column) => way(column - shown!.shape.gridCols + 1, words.sameColumn, words.left, words.right) });
  const figures = [matrix, alike, bias].map((grid, at) =>
    h("figure", {}, h("figcaption", {}, [words.matrix, words.alike, words.bias][at]!), grid.root));
  [matrix, alike, bias].forEach(({ canvas }, at) => (canvas.id = `positions-${["matrix", "alike", "bias"][at]}`));
  const says = h("p");
  const root = h("div", {}, says, h("div", { className: "side-by-side" }, ...figures));

  const draw = (placed: Placed) => {
    shown = placed;
    if (!root.closest("details")!.open) return;
    const { kind, scene: { dark }, shape: { gridRows, gridCols }, config: { width, prefix }, traced: { trace } } = placed;
    write(says, words[kind]);
    const adds = kind !== "none" && kind !== "relative";
    figures.forEach((figure, at) => (figure.hidden = at < 2 ? !adds : kind !== "relative"));
    if (adds) {
      const positions = positionsOf(trace), token = tokenOf(placed), [row, column] = patchOf(placed);
      const own = rowOf(positions, token, width), rows = positions.length / width;
      const likeness = Array.from({ length: rows - prefix.length }, (_, at) => cosine(own, rowOf(positions, prefix.length + at, width)));
      matrix.draw({ values: positions, rows, columns: width, scale: signedScale(positions), dark, marked: { row: token } });
      matrix.canvas.dataset.values = positions.join(" ");
      const low = Math.min(...likeness);
      alike.draw({ values: likeness, rows: gridRows, columns: gridCols, dark, marked: { row, column },
        scale: low < 0 ? { signed: 1 } : { low, high: 1 } });
      alike.canvas.dataset.values = likeness.join(" ");
    } else if (kind === "relative") {
      const values = byOffset(biasOf(trace, ...layerAndHead(placed)), prefix.length, gridRows, gridCols);
      bias.draw({ values, rows: 2 * gridRows - 1, columns: 2 * gridCols - 1, scale: signedScale(values), dark,
        marked: { row: gridRows - 1, column: gridCols - 1 } });
      bias.canvas.dataset.values = values.join(" ");
    }
  };
  return { root, draw };
}
