/**
 * How many images are run together. web/vit.ts splits a call's images into batches of this size.
 * src/vit.c alone then decides how many of a batch go through the blocks at once.
 */
import { isTraced, type Wants } from "./model.js";
import type { Shape } from "./shape.js";

/** The most memory for a batch's images and results. */
const MOST_BYTES = 32 * 2 ** 20;
const MOST_IMAGES = 64;

export function batchSize(shape: Shape, wants: Wants): number {
  const { channels, rows, columns, logits, heads, tokens, width } = shape;
  const attention = wants.attention.length * heads * tokens * tokens;
  const floats =
    channels * rows * columns + logits + attention + Number(wants.tokens) * tokens * width;
  if (isTraced(wants)) return 1;
  const fitting = Math.floor(MOST_BYTES / (floats * Float32Array.BYTES_PER_ELEMENT));
  return Math.min(Math.max(fitting, 1), MOST_IMAGES);
}
