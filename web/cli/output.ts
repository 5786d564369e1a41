import { rmSync } from "node:fs";
import { type FileHandle, mkdir, open, rename } from "node:fs/promises";
import { reason } from "../errors.ts";

/** Paths of what is half written. */
const unfinished = new Set<string>();

/** Takes it away at once: the process is about to end. */
export function dropUnfinished(): void {
  for (const part of unfinished) rmSync(part, { force: true });
}

/** A file that is there only once it is whole: written beside its place, then renamed. */
export class OutputFile {
  readonly #path: string;
  readonly #part: string;
  readonly #handle: FileHandle;

  static async create(path: string): Promise<OutputFile> {
    const part = `${path}.part`;
    unfinished.add(part);
    return new OutputFile(path, part, await naming(path, open(part, "w")));
  }

  private constructor(path: string, part: string, handle: FileHandle) {
    this.#path = path;
    this.#part = part;
    this.#handle = handle;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await naming(this.#path, this.#handle.writeFile(bytes));
  }

  async finish(): Promise<void> {
    await naming(this.#path, this.#handle.close());
    await naming(this.#path, rename(this.#part, this.#path));
    unfinished.delete(this.#part);
  }

  async drop(): Promise<void> {
    await this.#handle.close().catch(() => {}); // it may be closed already
    rmSync(this.#part, { force: true });
    unfinished.delete(this.#part);
  }
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
    throw new Error(`${path}: expected to write it, got ${reason(cause)}`, { cause });
  }
}
