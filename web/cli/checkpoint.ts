/** The file OUT.checkpoint: a trainer's checkpoint, from which the same command continues. */
import { readFile } from "node:fs/promises";
import type { Trainer } from "vitrine/train";
import { reason } from "../errors.ts";
import { type State, stateOf } from "../engine/checkpoint.ts";

export interface Kept {
  readonly state: State;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** @returns undefined where there is no such file. */
export async function readCheckpoint(path: string): Promise<Kept | undefined> {
  const bytes = await readFile(path).catch((cause: { code?: unknown }) => {
    if (cause.code === "ENOENT") return undefined;
    throw new Error(`${path}: expected a checkpoint, got ${reason(cause)}`, { cause });
  });
  try {
    return bytes && { bytes: new Uint8Array(bytes), state: stateOf(new Uint8Array(bytes)) };
  } catch (cause) {
    throw refused(path, cause);
  }
}

/** What a run must share with its checkpoint to come to the same bits, and what to ask for. */
const SAME: Readonly<Record<"epochs" | "variant" | "threads", (kept: State) => string>> = {
  epochs: ({ epochs }) => `--epochs ${epochs}`,
  variant: ({ variant }) => `--variant ${variant}`,
  threads: ({ threads }) => `--threads ${threads}`,
};

/** @throws where the checkpoint is of another run than the trainer's of so many epochs. */
export async function continueFrom(path: string, { bytes, state }: Kept, trainer: Trainer, epochs: number): Promise<void> {
  const run = { epochs, variant: trainer.variant, threads: trainer.threads };
  const other = (Object.keys(SAME) as (keyof typeof SAME)[]).find((key) => (state[key] ?? run[key]) !== run[key]);
  if (other !== undefined) {
    throw new Error(`${path}: expected a checkpoint of this run, got one of another; go on with ${SAME[other](state)}, or begin anew with --fresh`);
  }
  await trainer.continueFrom(bytes).catch((cause: unknown) => {
    throw refused(path, cause);
  });
}

const refused = (path: string, cause: unknown) =>
  new Error(`${path}: ${(cause as Error).message}; --fresh begins anew`, { cause });
