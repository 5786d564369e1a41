/** Node's substitutes for a browser's fetch of files and its Worker. */

/** A part of Node's own library. The name is a variable so that no bundler looks for it. */
function builtin<Module>(name: string): Promise<Module> {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ name) as Promise<Module>;
}

let node: Promise<boolean> | undefined;

/**
 * Whether Node's own library is available. It is imported to find out, because others have `process`, too: a page of
 * Electron loads as other pages do, while Jest's and Vitest's jsdom looks like a page and runs in Node.
 */
export function inNode(): Promise<boolean> {
  const { process } = globalThis as { process?: { type?: string; versions?: { node?: string } } };
  const cannotBeNode = !process?.versions?.node || ["renderer", "worker"].includes(process.type ?? ""); // Electron's
  return (node ??= cannotBeNode ? Promise.resolve(false) : workerThreads().then(() => true, () => false));
}

/** The number of threads that can run at once. */
export async function cores(): Promise<number> {
  if (globalThis.navigator?.hardwareConcurrency) return navigator.hardwareConcurrency;
  const { availableParallelism } = await builtin<{ availableParallelism(): number }>("node:os");
  return availableParallelism();
}

/** A path, or that of a `file:` address, whose URL may be jsdom's. */
async function pathOf(file: string | URL): Promise<string> {
  if (typeof file === "string") return file;
  const { fileURLToPath } = await builtin<{ fileURLToPath(address: string): string }>("node:url");
  return fileURLToPath(file.href);
}

export async function isDirectory(path: string | URL): Promise<boolean> {
  const files = await builtin<{ stat(path: string): Promise<{ isDirectory(): boolean }> }>(
    "node:fs/promises",
  );
  const there = await files.stat(await pathOf(path)).catch(() => undefined);
  return there?.isDirectory() === true;
}

interface FileHandle {
  stat(): Promise<{ size: number }>;
  read(into: Uint8Array<ArrayBuffer>, at: number, count: number, from: number | null): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
}

/** `read` gets all its arguments, because `read(piece)` reads nothing in Node before 20.12. */
const PIECE_BYTES = 2 ** 16;

async function opened(path: string | URL): Promise<FileHandle> {
  const files = await builtin<{ open(path: string): Promise<FileHandle> }>("node:fs/promises");
  return files.open(await pathOf(path));
}

export async function openFile(
  path: string | URL,
): Promise<{ size: number; body: ReadableStream<Uint8Array<ArrayBuffer>> }> {
  const file = await opened(path);
  const { size } = await file.stat().catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const piece = new Uint8Array(PIECE_BYTES);
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, null).catch(async (error: unknown) => {
        await file.close();
        throw error;
      });
      if (bytesRead > 0) return controller.enqueue(piece.subarray(0, bytesRead));
      await file.close();
      controller.close();
    },
    cancel: () => file.close(),
  });
  return { size, body };
}

/** The file's bytes from `begin` to `end`, or fewer if the file ends earlier. */
export async function readPart(
  path: string | URL,
  begin: number,
  end: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const file = await opened(path);
  try {
    const bytes = new Uint8Array(end - begin);
    let at = 0;
    for (let more = 1; at < bytes.length && more > 0; at += more) {
      more = (await file.read(bytes, at, bytes.length - at, begin + at)).bytesRead;
    }
    return bytes.subarray(0, at);
  } finally {
    await file.close();
  }
}

/** The part of node:worker_threads that this package uses. */
export interface NodePort {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
  on(event: string, listener: (value: unknown) => void): void;
  ref(): void;
  unref(): void;
}

export interface NodeWorker extends NodePort {
  terminate(): Promise<number>;
}

interface WorkerThreads {
  Worker: new (path: string, options: { execArgv: string[] }) => NodeWorker;
  parentPort: NodePort | null;
}

export const workerThreads = () => builtin<WorkerThreads>("node:worker_threads");

/** A thread that runs a script. */
export async function newThread(script: string | URL): Promise<NodeWorker> {
  const { Worker } = await workerThreads();
  return new Worker(await pathOf(script), { execArgv: [] });
}
