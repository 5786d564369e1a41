/** A trainer's examples, and the log of its epochs, as a model's file keeps it. */
import type { Piece } from "../base/bytes.js";

/** The parts of the examples: trained on, and measured on. */
export type Part = "train" | "validation";

export interface Measured {
  /** The mean cross-entropy. */
  readonly loss: number;
  /** The share of right answers: 0 to 1. */
  readonly accuracy: number;
}

/** @internal Examples as training keeps them: (count,C,H,W) bytes, and a class's number each. */
export interface Examples {
  readonly images: Piece;
  readonly labels: Piece;
}

/** One finished epoch. */
export interface Log extends Measured {
  /** Counted from 1, over all runs of the trainer. */
  readonly epoch: number;
  readonly validation?: Measured;
}
