/** The six models of the chapter, and what one of them computed from the drawing. */
import type { Classification, VitConfig } from "vitrine";
import type { Shape } from "../../../pixels.ts";
import type { Scene, Traced } from "../../scene.ts";
import { patchIn } from "../../tokens.ts";

export const KINDS = ["none", "sincos1d", "sincos2d", "learned", "relative", "rotary"] as const satisfies VitConfig["position"][];
export type PositionKind = (typeof KINDS)[number];

export interface Placed {
  kind: PositionKind;
  scene: Scene;
  config: Readonly<VitConfig>; // of the model
  shape: Shape; // of the model
  traced: Traced; // the drawing as it is, with the model's positions
  before: Classification; // the drawing as it is, with attention
  after: Classification; // with its patches scrambled, with attention
  order: readonly number[]; // place i of the grid has patch order[i]
  on: boolean; // whether positions were added in `before` and `after`
}

export interface Part {
  root: HTMLElement;
  draw(placed: Placed): void;
}

/** The chosen patch on the small model's grid. */
export const patchOf = ({ scene, shape }: Placed) => patchIn(scene, shape.gridRows, shape.gridCols);

export function tokenOf(placed: Placed): number {
  const [row, col] = patchOf(placed);
  return placed.config.prefix.length + row * placed.shape.gridCols + col;
}

/** The layer and head of the whole page, or the small model's last where it has fewer. */
export function layerAndHead({ scene, config }: Placed): [layer: number, head: number] {
  return [Math.min(scene.layer, config.depth - 1), Math.min(scene.head, config.heads - 1)];
}
