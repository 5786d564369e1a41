/** The parts of a trainer's examples, and the log of its epochs, as a model's file stores it. */

/** Which examples are trained on, and which are measured on. */
export type Part = "train" | "validation";

export interface Measured {
  /** The mean cross-entropy. */
  readonly loss: number;
  /** The share of right answers: 0 to 1. */
  readonly accuracy: number;
}

/** One finished epoch. */
export interface Log extends Measured {
  /** Counted from 1, over all runs of the trainer. */
  readonly epoch: number;
  readonly validation?: Measured;
}
