/** The six models of the chapter, and what one of them computed from the drawing. */
import type { Classification, VitConfig } from "vitrine";
import type { Shape } from "../../../pixels.ts";
import type { Scene, Traced } from "../../scene.ts";
import { patchIn } from "../../tokens.ts";

export const KINDS = ["none", "sincos1d", "sincos2d", "learned", "relative", "rotary"] as const satisfies VitConfig["position"][];
export type PositionKind = (typeof KINDS)[number];

export interface Comparison {
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
  draw(comparison: Comparison): void;
}

/** The chosen patch on the small model's grid. */
export const patchOf = ({ scene, shape }: Comparison) => patchIn(scene, shape.gridRows, shape.gridCols);

export function tokenOf(comparison: Comparison): number {
  const [row, col] = patchOf(comparison);
  return comparison.config.prefix.length + row * comparison.shape.gridCols + col;
}

/** The layer and head of the whole page, or the small model's last where it has fewer. */
export function layerAndHead({ scene, config }: Comparison): [layer: number, head: number] {
  return [Math.min(scene.layer, config.depth - 1), Math.min(scene.head, config.heads - 1)];
}
