/** The two networks that are compared. */
import type { Attention, Classification, Vit } from "vitrine";
import { shapeOf } from "../../../pixels.ts";
import type { Scene } from "../../scene.ts";
import { patchIn } from "../../tokens.ts";

/** A Transformer with 2-D sines as positions, and convolutions alone. */
export const NAMES = { convolutions: "convolutions", vit: "sincos2d" } as const;
export const ORDER = ["convolutions", "vit"] as const;

export type Name = keyof typeof NAMES;
export type Pair = Record<Name, Vit>;

/** Both models' reading of one drawing. */
export interface Both {
  version: number;
  input: Float32Array; // (H,W)
  attention: Attention; // of the Transformer
}

export type Read = Classification & { attention: Attention };

/** The chosen patch in a small model's grid. */
export function patchOf(scene: Scene, { config }: Vit): [row: number, column: number] {
  const { gridRows, gridCols } = shapeOf(config);
  return patchIn(scene, gridRows, gridCols);
}
