import { constants, rmSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, rename, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { reason } from "../errors.ts";
import { textOf, UsageError, type Values } from "./options.ts";

/** Paths of files that are half written. */
const unfinished = new Set<string>();

/** Deletes them without waiting, because the process is about to end. */
export function dropUnfinished(): void {
  for (const part of unfinished) rmSync(part, { force: true });
}

/** The file that bytes are written to until all are there. */
interface Destination {
  readonly handle: FileHandle;
  /** Is renamed to `path` at the end. Missing where `path` is a device or a pipe. */
  readonly part?: string;
  readonly path: string;
}

const EXCLUSIVE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * A device or a pipe is written to directly. A link stays and leads to the new file. The new file
 * has the mode of the old one. An existing part is left from a killed run, or is another's link. It
 * is deleted; the target of such a link stays as it is.
 */
async function openDestination(name: string): Promise<Destination> {
  const old = await stat(name).catch(() => undefined);
  if (!old && (await lstat(name).catch(() => undefined))) throw new Error("a link to nothing");
  if (old && !old.isFile()) return { handle: await open(name, constants.O_WRONLY), path: name };
  const path = old ? await realpath(name) : name;
  const part = `${path}.part`;
  rmSync(part, { force: true });
  unfinished.add(part); // before it is there, because a signal may come in between
  const handle = await open(part, EXCLUSIVE, old ? old.mode & 0o777 : 0o666).catch((error: unknown) => {
    unfinished.delete(part);
    throw error;
  });
  if (old) await handle.chmod(old.mode & 0o777);
  return { handle, part, path };
}

/** A file that appears only when it is whole. It is written beside its destination, then renamed. */
export class OutputFile {
  readonly #name: string;
  readonly #destination: Destination;

  static async create(name: string): Promise<OutputFile> {
    return new OutputFile(name, await naming(name, openDestination(name)));
  }

  private constructor(name: string, destination: Destination) {
    this.#name = name;
    this.#destination = destination;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await naming(this.#name, this.#destination.handle.writeFile(bytes));
  }

  async finish(): Promise<void> {
    const { handle, part, path } = this.#destination;
    if (part !== undefined) await naming(this.#name, handle.sync());
    await naming(this.#name, handle.close());
    if (part === undefined) return;
    await naming(this.#name, rename(part, path));
    unfinished.delete(part);
  }

  async drop(): Promise<void> {
    const { handle, part } = this.#destination;
    await handle.close().catch(() => {}); // the file may be closed already
    if (part === undefined) return;
    rmSync(part, { force: true });
    unfinished.delete(part);
  }
}

/** The model's file that --out names. */
export function readOut(values: Values, byDefault?: string): string {
  const out = textOf(values, "out") ?? byDefault;
  if (out?.endsWith(".safetensors")) return out;
  throw new UsageError(`--out: expected a name that ends in .safetensors, got ${out === undefined ? "none" : `"${out}"`}`);
}

/** Checks before any work that the file can be written. */
export async function checkOut(out: string): Promise<void> {
  const there = await stat(out).catch(() => undefined);
  if (there && !there.isFile()) throw new Error(`${out}: expected a file to write, got a folder, a device or a pipe`);
  const probe = await OutputFile.create(out);
  await probe.drop();
}

/** Writes a whole file, or none. */
export async function writeWhole(path: string, ...parts: readonly Uint8Array[]): Promise<void> {
  const file = await OutputFile.create(path);
  try {
    for (const part of parts) await file.write(part);
    await file.finish();
  } catch (error) {
    await file.drop();
    throw error;
  }
}

export async function makeFolder(path: string): Promise<void> {
  await naming(path, mkdir(path, { recursive: true }));
}

async function naming<Value>(path: string, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (cause) {
    throw new Error(`${path}: expected a path that can be written, got ${reason(cause)}`, { cause });
  }
}

/** The output of each photo: FILE for a single photo, or FOLDER/name.KIND.png; none without --out. */
export function outputsOf(out: string | undefined, files: readonly string[], kind: string, formats: readonly string[]): string[] {
  if (out === undefined) return [];
  const outputs = isFolder(out) ? files.map((file) => join(out, `${basename(file, extname(file))}.${kind}.png`)) : [out];
  if (outputs.length < files.length) {
    throw new UsageError(
      `--out: expected a folder with a / at its end for ${files.length} photos, got "${out}"`,
    );
  }
  const wrong = outputs.find((output) => !formats.some((format) => output.endsWith(`.${format}`)));
  if (wrong !== undefined) {
    throw new UsageError(`--out: expected a name that ends in .${formats.join(" or .")}, got "${wrong}"`);
  }
  const names = new Set<string>();
  const twice = outputs.find((output) => names.size === names.add(output).size);
  if (twice !== undefined) {
    throw new UsageError(`--out: expected photos of different names, got two for ${twice}`);
  }
  const read = new Set(files.map((file) => resolve(file)));
  const overwritten = outputs.find((output) => read.has(resolve(output)));
  if (overwritten === undefined) return outputs;
  throw new UsageError(`--out: expected another file than the photos, got "${overwritten}"`);
}

/** Whether --out names a folder, which need not be there. */
export const isFolder = (out: string): boolean => /[/\\]$/.test(out);
