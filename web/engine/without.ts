/** The parts that a run leaves out or replaces, for src/vit.h's `vit_ablation`. */
import type { Shape } from "./shape.js";

/** What a head takes in place of its own queries, keys or values. */
export interface Replaced {
  readonly layer: number;
  readonly head: number;
  /** 0: the queries, 1: the keys, 2: the values. */
  readonly part: number;
  /** (T,d) */
  readonly rows: Float32Array;
}

/** Parts that a run leaves out or replaces. Layers and heads count from 0. */
export interface Without {
  readonly heads: readonly (readonly [layer: number, head: number])[];
  readonly mlps: readonly number[];
  readonly norms: readonly number[];
  readonly positions: boolean;
  readonly replaced: readonly Replaced[];
}

/** The masks of src/wasm/session.c's `without`: heads (L,h), MLPs (L), norms (L). */
export function masksOf(without: Without | undefined, { depth, heads }: Shape): Uint8Array {
  const masks = new Uint8Array(depth * (heads + 2));
  for (const [layer, head] of without?.heads ?? []) masks[layer * heads + head] = 1;
  for (const layer of without?.mlps ?? []) masks[depth * heads + layer] = 1;
  for (const layer of without?.norms ?? []) masks[depth * (heads + 1) + layer] = 1;
  return masks;
}
