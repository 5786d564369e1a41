/** The command index: the photos' vectors in one file, by any number of runs on any number of machines. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type Embedding, Index, type Vit, VitError } from "vitrine";
import { reason } from "../errors.ts";
import { jsonOf, type PhotoCommand, refusal, type Tools } from "./command.ts";
import { Interrupted } from "./interrupt.ts";
import { SHARD_OPTION, UsageError } from "./options.ts";
import { checkOut, readOut, writeWhole } from "./output.ts";
import { type PhotoResult, withoutName } from "./photos.ts";
import { duration } from "./progress.ts";

/** Between two saves there is this time at least, and so much that saving takes a tenth of it. */
const SAVE_MILLISECONDS = 30_000;
const SAVE_SHARE = 10;

interface Task {
  readonly out: string;
  readonly about: string;
  /** What is in the file already. */
  readonly previous: Index | undefined;
  readonly files: readonly string[];
  readonly lines: boolean;
}

interface Failure {
  readonly file: string;
  readonly error: string;
}

export const index: PhotoCommand = {
  about: "index photos for find; the same command again adds the photos that are not in the index yet",
  operand: "PHOTO …",
  options: {
    out: { value: "FILE", help: "the index, a file of safetensors" },
    fresh: { help: "start over, though the index is there" },
    merge: { help: "take indexes as operands, and write one of all of them" },
    ...SHARD_OPTION,
  },
  plain(values, indexes) {
    if (!values["merge"]) return undefined;
    const out = readOut(values);
    if (indexes.length === 0) throw new UsageError("--merge: expected indexes, got none");
    return async ({ terminal }) => {
      await checkOut(out);
      const all = await openIndex(indexes[0]!);
      for (const path of indexes.slice(1)) {
        const more = await openIndex(path);
        ofModel(path, more, all.about);
        all.merge(more);
      }
      await writeWhole(out, all.save());
      if (jsonOf(values).json) terminal.printJson({ out, count: all.size, indexes });
      else terminal.printRow([`${out}: ${all.size} photos`]);
      return true;
    };
  },
  plan(values, files) {
    const out = readOut(values);
    const lines = values["ndjson"] === true;
    return async (tools) => {
      await checkOut(out);
      const about = aboutOf(tools.vit);
      const previous = existsSync(out) && !values["fresh"] ? await openIndex(out) : undefined;
      if (previous) ofModel(out, previous, about);
      const newFiles = files.filter((file) => !previous?.has(file));
      const { count, added, failed } = await fill(tools, { out, about, previous, files: newFiles, lines });
      if (values["json"] && !lines) tools.terminal.printJson({ out, count, added, failed });
      else if (!lines) tools.terminal.printRow([`${out}: ${count} photos, ${added} of them new`]);
      return failed.length === 0;
    };
  },
};

/** @throws if there is no index at this path. */
export async function openIndex(path: string): Promise<Index> {
  try {
    return Index.load(await readFile(path));
  } catch (cause) {
    throw new Error(`${path}: expected an index of the command index, got ${reason(cause)}`, { cause });
  }
}

/** Vectors of two models say nothing of each other. */
export function ofModel(path: string, { about }: Index, expected: string): void {
  if (about !== expected) throw new Error(`${path}: expected an index by ${expected}; got one by ${about || "an unknown model"}`);
}

/** A model's shape, which is the same for its weights in any library's file. Two models may have the same. */
export function aboutOf({ config: { depth, width, patch_size, image_size } }: Vit): string {
  return `a model with ${depth} blocks of width ${width}, patches of ${patch_size.join("x")}, images of ${image_size.join("x")}`;
}

/** What is compared: with texts, if the model can, or with other images. */
export const vectorOf = ({ projected, pooled }: Embedding): Float32Array => projected ?? pooled;

/** Adds the files' photos to the previous index, and saves on the way. Nothing is lost unless the process is killed. */
async function fill(tools: Tools, { out, about, previous, files, lines }: Task) {
  const { terminal } = tools;
  const failed: Failure[] = [];
  const startTime = performance.now();
  let all = previous, added = 0, saved = 0, next = startTime + SAVE_MILLISECONDS;
  const save = async () => {
    if (!all || saved === added) return;
    const start = performance.now();
    await writeWhole(out, all.save());
    saved = added;
    const now = performance.now();
    next = now + Math.max(SAVE_MILLISECONDS, SAVE_SHARE * (now - start));
  };
  await tools.signals.stoppable(async (signal) => {
    try {
      for await (const group of tools.photos.groups(files)) {
        for (const read of group) {
          const done = added + failed.length, eta = ((performance.now() - startTime) / 1000 / done) * (files.length - done);
          terminal.status(`${done}/${files.length} photos${done > 0 ? `  left ${duration(eta)}` : ""}`);
          const result = await look(tools.vit, read, signal);
          if ("error" in result) {
            failed.push(result);
            terminal.complain(`${result.file}: ${result.error}`);
          } else {
            (all ??= new Index(result.vector.length, { about })).add(read.file, result.vector);
            added++;
          }
          if (lines) terminal.printLine("error" in result ? result : { file: read.file });
          if (performance.now() >= next) await save();
        }
      }
    } catch (error) {
      terminal.status("");
      await save();
      if (!(error instanceof Interrupted)) throw error;
      const where = `interrupted after ${added + failed.length} of ${files.length} photos`;
      throw new Interrupted(error.code, added > 0 ? `${where}; they are saved in ${out}; run the same command again to continue` : where);
    }
    await save();
  });
  return { count: all?.size ?? 0, added, failed };
}

/** A photo's vector, or why it has none. */
async function look(vit: Vit, read: PhotoResult, signal: AbortSignal): Promise<Failure | { readonly vector: Float32Array }> {
  signal.throwIfAborted();
  if ("error" in read) return read;
  const embedding = await vit.embed(read.photo, { keepInput: false, signal }).catch(refusal);
  return embedding instanceof VitError ? { file: read.file, error: withoutName(embedding) } : { vector: vectorOf(embedding) };
}
