/** Reads the file OUT.checkpoint, from which the same command continues. */
import { readFile } from "node:fs/promises";
import type { Trainer } from "vitrine/train";
import { reason } from "../errors.ts";
import { type CheckpointState, stateOf } from "../engine/checkpoint.ts";

export interface Checkpoint {
  readonly state: CheckpointState;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** @returns undefined if there is no such file. */
export async function readCheckpoint(path: string): Promise<Checkpoint | undefined> {
  const bytes = await readFile(path).catch((cause: { code?: unknown }) => {
    if (cause.code === "ENOENT") return undefined;
    throw new Error(`${path}: expected a checkpoint, got ${reason(cause)}`, { cause });
  });
  try {
    return bytes && { bytes: new Uint8Array(bytes), state: stateOf(new Uint8Array(bytes)) };
  } catch (cause) {
    throw refusal(path, cause);
  }
}

/** What a run must share with its checkpoint to end with the same bits, as the option that sets it. */
const SAME: Readonly<Record<"epochs" | "variant" | "threads", (state: CheckpointState) => string>> = {
  epochs: ({ epochs }) => `--epochs ${epochs}`,
  variant: ({ variant }) => `--variant ${variant}`,
  threads: ({ threads }) => `--threads ${threads}`,
};

/** @throws if the checkpoint is not of the trainer's run of this many epochs. */
export async function continueFrom(path: string, { bytes, state }: Checkpoint, trainer: Trainer, epochs: number): Promise<void> {
  const run = { epochs, variant: trainer.variant, threads: trainer.threads };
  const other = (Object.keys(SAME) as (keyof typeof SAME)[]).find((key) => (state[key] ?? run[key]) !== run[key]);
  if (other !== undefined) {
    throw new Error(`${path}: expected a checkpoint of this run, got one of another; continue with ${SAME[other](state)}, or start over with --fresh`);
  }
  await trainer.continueFrom(bytes).catch((cause: unknown) => {
    throw refusal(path, cause);
  });
}

const refusal = (path: string, cause: unknown) =>
  new Error(`${path}: ${(cause as Error).message}; --fresh starts over`, { cause });
