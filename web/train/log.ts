/** The log of a trainer's epochs, as a model's file keeps it. */
import type { Piece } from "../base/bytes.js";

/** The parts of the examples: trained on, and measured on. */
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

const LENGTH_BYTES = 8;

/** @internal The same file of safetensors with the log in its config. */
export function withLog(file: Piece, log: readonly Log[]): Piece {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const end = LENGTH_BYTES + length;
  const header = JSON.parse(new TextDecoder().decode(file.subarray(LENGTH_BYTES, end))) as {
    __metadata__: { vitrine: string };
  };
  const config = JSON.parse(header.__metadata__.vitrine) as object;
  header.__metadata__.vitrine = JSON.stringify({ ...config, log });
  const text = JSON.stringify(header);
  const bytes = new TextEncoder().encode(text);
  const padded = Math.ceil(bytes.length / LENGTH_BYTES) * LENGTH_BYTES; // tensors stay aligned
  const out = new Uint8Array(LENGTH_BYTES + padded + file.length - end).fill(0x20, LENGTH_BYTES, LENGTH_BYTES + padded);
  new DataView(out.buffer).setBigUint64(0, BigInt(padded), true);
  out.set(bytes, LENGTH_BYTES);
  out.set(file.subarray(end), LENGTH_BYTES + padded);
  return out;
}
