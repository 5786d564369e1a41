/**
 * A trainer's checkpoint: 8 bytes that name it, the length of a JSON header, the header, then parts
 * of bytes: the weights, the examples, and what the run needs to go on.
 */
import type { Piece } from "../base/bytes.js";
import { isObject, parseObject } from "../base/json.js";
import { VitError } from "../errors.js";
import type { Examples, Log, Part } from "./log.js";
import { isRecipe, type Recipe } from "./recipe.js";

const MAGIC = "VITTRN1\n";
const START = MAGIC.length + 4;

export interface State {
  readonly recipe: Recipe;
  readonly seed: number;
  /** Runs that were begun. */
  readonly runs: number;
  /** The epochs of the run that is not finished; 0: there is none. */
  readonly epochs: number;
  readonly log: readonly Log[];
}

export interface Checkpoint extends State {
  readonly model: Piece;
  readonly examples: Readonly<Record<Part, Examples>>;
  /** Empty without a run. */
  readonly run: Piece;
}

export function pack({ model, examples, run, ...state }: Checkpoint): Piece {
  const { train, validation } = examples;
  const parts = [model, train.images, train.labels, validation.images, validation.labels, run];
  const sizes = parts.map(({ length }) => length);
  const header = new TextEncoder().encode(JSON.stringify({ ...state, sizes }));
  const bytes = new Uint8Array(START + header.length + sizes.reduce((sum, size) => sum + size, 0));
  bytes.set(new TextEncoder().encode(MAGIC));
  new DataView(bytes.buffer).setUint32(MAGIC.length, header.length, true);
  let at = START;
  for (const part of [header, ...parts]) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** @throws {VitError} code `bad_file`. The module checks the weights and the run by itself. */
export function unpack(bytes: Piece): Checkpoint {
  const name = new TextDecoder().decode(bytes.subarray(0, MAGIC.length));
  if (name !== MAGIC || bytes.length < START) throw damaged("it does not begin as one");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
  if (length > bytes.length - START) throw damaged("it is too short");
  const text = new TextDecoder().decode(bytes.subarray(START, START + length));
  const header = parseObject(text, "checkpoint");
  const { sizes, recipe, seed, runs, epochs, log } = header;
  const counts = [seed, runs, epochs, ...(Array.isArray(sizes) ? sizes : [])] as unknown[];
  const whole = counts.every((count) => Number.isSafeInteger(count) && (count as number) >= 0);
  if (!whole || !Array.isArray(sizes) || sizes.length !== 6 || !isRecipe(recipe) || !isLog(log)) {
    throw damaged("its header lacks something");
  }
  let at = START + length;
  const parts = (sizes as number[]).map((size) => bytes.slice(at, (at += size)));
  if (at !== bytes.length) throw damaged(`it has ${bytes.length} bytes, not ${at}`);
  const [model, images, labels, images2, labels2, run] = parts as [Piece, Piece, Piece, Piece, Piece, Piece];
  return {
    recipe, seed: seed as number, runs: runs as number, epochs: epochs as number, log, model, run,
    examples: { train: { images, labels }, validation: { images: images2, labels: labels2 } },
  };
}

const isLog = (log: unknown): log is Log[] => Array.isArray(log) && log.every(isObject);

export function damaged(why: string): VitError {
  return new VitError("bad_file", `checkpoint: expected one of this version of vitrine, undamaged, but ${why}`);
}
