/**
 * What JavaScript reads of a checkpoint, whose layout is in src/train/checkpoint.h: the JSON text after
 * the header.
 */
import type { Piece } from "../base/bytes.js";
import { isObject, parseObject } from "../base/json.js";
import { VitError } from "../errors.js";
import type { Variant } from "./module.js";
import type { Log } from "../train/log.js";
import { isRecipe, type Recipe } from "../train/recipe.js";

const MAGIC = "\0VITKCP\x03";
/** The size of src/train/checkpoint.c's header, whose second number is the text's size. */
const HEADER = 160;

export interface CheckpointState {
  readonly recipe: Recipe;
  readonly seed: number;
  /** The number of runs begun. */
  readonly runs: number;
  /** The threads that shared the work. */
  readonly threads: number;
  /** The build that trained; undefined: `vit train`. */
  readonly variant?: Variant;
  /** How many of the examples, the last ones, are for validation. */
  readonly validation: number;
  /** The epochs of the current run; 0 without one. */
  readonly epochs: number;
  /** Finished epochs of that run, and finished steps of the next epoch. */
  readonly epoch: number;
  readonly step: number;
  readonly log: readonly Log[];
}

const NUMBERS = ["seed", "runs", "threads", "validation", "epochs", "epoch", "step"] as const;

/** @throws {VitError} code `bad_file`. The module checks the rest. */
export function stateOf(bytes: Piece): CheckpointState {
  const textIn = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
  const begins = bytes.length >= HEADER && textIn(0, MAGIC.length) === MAGIC;
  const size = begins ? new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true) : Infinity;
  if (HEADER + size <= bytes.length) {
    const state = parseObject(textIn(HEADER, HEADER + size), "checkpoint");
    const { recipe, log } = state;
    const areCounts = NUMBERS.every((key) => Number.isSafeInteger(state[key]) && (state[key] as number) >= 0);
    if (areCounts && isRecipe(recipe) && Array.isArray(log) && log.every(isObject)) return state as unknown as CheckpointState;
  }
  throw new VitError("bad_file", "checkpoint: expected one of this version of vitrine, undamaged");
}
