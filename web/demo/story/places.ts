/** Figures of positions: how like a patch's the others' are, and what a head adds to its scores for each offset. */
import { number } from "../texts/words.ts";
import { type AnyScale, buildGrid, patchGrid } from "./grid.ts";
import type { Scene, Story } from "./scene.ts";
import { patchIn } from "./tokens.ts";
import { rowOf } from "./vectors.ts";

export function buildLikeness(story: Story, label: string, cell: number) {
  const { root, canvas, draw } = patchGrid(story, { label, cell, number });
  return {
    root, canvas,
    /** `cosines` are those of the patches' positions (N,N), on a grid of so many columns. */
    draw(cosines: Float32Array, columns: number, scene: Scene): void {
      const patches = Math.sqrt(cosines.length), rows = patches / columns, [row, column] = patchIn(scene, rows, columns);
      const values = rowOf(cosines, row * columns + column, patches), low = Math.min(...values);
      draw({ values, rows, columns, dark: scene.dark, marked: { row, column }, scale: low < 0 ? { signed: 1 } : { low, high: 1 } });
      canvas.dataset.values = values.join(" ");
    },
  };
}

export function buildOffsets(story: Story, label: string, cell: number) {
  const { up, down, left, right, row, column } = story.words.offset;
  let middle = { row: 0, column: 0 };
  const way = (n: number, less: typeof up, same: string, more: typeof up) => (n === 0 ? same : n < 0 ? less({ n: -n }) : more({ n }));
  const { root, canvas, draw } = buildGrid(story, {
    label, cell, number,
    rowName: (at) => way(at - middle.row, up, row, down), columnName: (at) => way(at - middle.column, left, column, right),
  });
  return {
    root, canvas,
    /** `values` are byOffset() of a grid of patches. */
    draw(values: Float32Array, { gridRows, gridCols }: Scene["shape"], scale: AnyScale, dark: boolean): void {
      middle = { row: gridRows - 1, column: gridCols - 1 };
      draw({ values, rows: 2 * gridRows - 1, columns: 2 * gridCols - 1, scale, dark, marked: middle });
      canvas.dataset.values = values.join(" ");
    },
  };
}
