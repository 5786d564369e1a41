/**
 * The file OUT.checkpoint: a line that names its kind, a line of JSON that tells the run, the
 * trainer's own checkpoint, and the SHA-256 of all that.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Log } from "vitrine/train";
import type { Variant } from "vitrine";
import { reason } from "../errors.ts";
import { writeWhole } from "./output.ts";

/** What a run must share with its checkpoint to come to the same bits. */
export interface Run {
  readonly epochs: number;
  readonly variant: Variant;
  readonly threads: number;
  /** The SHA-256 of the trainer before its first step: data, model, recipe, seed. */
  readonly start: string;
}

export interface Place {
  readonly run: Run;
  /** Finished epochs, and steps of the next one. */
  readonly epoch: number;
  readonly step: number;
  readonly log: readonly Log[];
}

export interface Kept extends Place {
  readonly trainer: Uint8Array<ArrayBuffer>;
}

const MAGIC = "vitrine train checkpoint 1\n";
const HASH_BYTES = 32;
const END_OF_LINE = 10;

export const hashOf = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

export async function writeCheckpoint(path: string, place: Place, trainer: Uint8Array): Promise<void> {
  const header = new TextEncoder().encode(`${MAGIC}${JSON.stringify(place)}\n`);
  await writeWhole(path, header, trainer, hashOf(header, trainer));
}

/** @returns undefined where there is no such file. */
export async function readCheckpoint(path: string): Promise<Kept | undefined> {
  const bytes = await readFile(path).catch((cause: { code?: unknown }) => {
    if (cause.code === "ENOENT") return undefined;
    throw new Error(`${path}: expected a checkpoint, got ${reason(cause)}`, { cause });
  });
  if (!bytes) return undefined;
  const end = bytes.length - HASH_BYTES;
  const line = bytes.indexOf(END_OF_LINE, MAGIC.length);
  const ours = bytes.toString("latin1", 0, MAGIC.length) === MAGIC;
  if (!ours || line < 0 || line >= end || !hashOf(bytes.subarray(0, end)).equals(bytes.subarray(end))) {
    throw new Error(`${path}: expected a checkpoint of vitrine train, got another or a damaged file; --fresh begins anew`);
  }
  const place = JSON.parse(bytes.toString("utf8", MAGIC.length, line)) as Place;
  return { ...place, trainer: new Uint8Array(bytes.subarray(line + 1, end)) };
}

/** What to ask for so that a run is the checkpoint's. */
const SAME: Readonly<Record<keyof Run, (kept: Run) => string>> = {
  epochs: ({ epochs }) => `--epochs ${epochs}`,
  variant: ({ variant }) => `--variant ${variant}`,
  threads: ({ threads }) => `--threads ${threads}`,
  start: () => "the same data, model, recipe, seed and share to validate with",
};

/** @throws where the checkpoint is of another run. */
export function checkSame(path: string, kept: Run, run: Run): void {
  const other = (Object.keys(SAME) as (keyof Run)[]).find((key) => kept[key] !== run[key]);
  if (other === undefined) return;
  throw new Error(`${path}: expected a checkpoint of this run, got one of another; go on with ${SAME[other](kept)}, or begin anew with --fresh`);
}
