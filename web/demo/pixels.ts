import type { VitConfig } from "vitrine";

/** The sizes of the model's image, its patches and their grid. */
export interface Shape {
  rows: number;
  cols: number;
  patchRows: number;
  patchCols: number;
  gridRows: number;
  gridCols: number;
}

/** @param size the image's own, if it is not the config's */
export function shapeOf(config: Readonly<VitConfig> | undefined, size: readonly [number, number] | undefined = config?.image_size): Shape {
  const [rows, cols] = size ?? [28, 28];
  const [patchRows, patchCols] = config?.patch_size ?? [4, 4];
  const [down, across] = config?.patch_stride ?? [patchRows, patchCols];
  return {
    rows,
    cols,
    patchRows,
    patchCols,
    gridRows: Math.floor((rows - patchRows) / down) + 1,
    gridCols: Math.floor((cols - patchCols) / across) + 1,
  };
}
