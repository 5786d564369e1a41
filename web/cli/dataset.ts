/** Examples to train on and to measure on, from a folder of photos or from IDX files. */
import { type VitConfig, VitError } from "vitrine";
import type { Part, Trainer } from "vitrine/train";
import { refusal } from "./command.ts";
import { type DataSet, type Example, type Readable, SHARE } from "./examples.ts";
import { openFolders } from "./folders.ts";
import { findIdx, openIdx } from "./idx.ts";
import { withoutName } from "./photos.ts";
import type { Terminal } from "./terminal.ts";

/** The trainer stores a class in a byte, in which 255 stands for no class. */
const MOST_CLASSES = 255;

/** @param share of each class to measure on; undefined: SHARE, or the folder's own part. */
export async function openData(path: string, share: number | undefined, terminal: Terminal): Promise<DataSet> {
  const idx = await findIdx(path, "train");
  const data = idx ? await openIdx(path, idx, share ?? SHARE) : await openFolders(path, share, terminal);
  const { length } = data.labels;
  if (length >= 2 && length <= MOST_CLASSES) return data;
  throw new Error(`${path}: expected 2 to ${MOST_CLASSES} classes, got ${length}`);
}

/** Adds all examples to a trainer. Names those that it refuses, and then throws. */
export function fill(trainer: Trainer, data: DataSet, terminal: Terminal): Promise<void> {
  return takeAll(data, trainer.config, terminal, "nothing was trained", (examples, part) =>
    trainer.add(examples.map(({ image }) => image), examples.map(({ label }) => label), { part }));
}

/** Takes all of the examples, or none if it refuses one. */
type Take = (examples: readonly Readable[], part: Part) => Promise<void>;

/** Gives `take` all examples of a data set. Names those that it refuses, and then throws. */
export async function takeAll(
  data: DataSet,
  config: Readonly<VitConfig>,
  terminal: Terminal,
  undone: string,
  take: Take,
): Promise<void> {
  let done = 0;
  let refused = 0;
  for await (const group of data.groups(config)) {
    terminal.status(`${done}/${data.parts.length} images`);
    for (const part of ["train", "validation"] as const) {
      refused += await takeGroup(group.filter((example) => example.part === part), part, terminal, take);
    }
    done += group.length;
  }
  if (refused === 0) return;
  const what = `${data.path}: expected images that can be read, got ${refused} that cannot`;
  throw new Error(`${what}; ${undone}`);
}

/** Returns how many were refused. */
async function takeGroup(examples: readonly Example[], part: Part, terminal: Terminal, take: Take): Promise<number> {
  const readable = examples.flatMap((example) => ("image" in example ? [example] : []));
  const together = await take(readable, part).catch(refusal);
  let refused = 0;
  for (const example of examples) {
    const error = "error" in example ? example.error
      : together instanceof VitError ? await take([example], part)
        .then(() => undefined, (cause: unknown) => withoutName(refusal(cause)))
      : undefined;
    if (error === undefined) continue;
    terminal.complain(`${example.name}: ${error}`);
    refused++;
  }
  return refused;
}
