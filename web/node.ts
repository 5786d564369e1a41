/** What Node offers in place of a browser's fetch of files and its Worker. */

/** A part of Node's own library. The name is a variable so that no bundler looks for it. */
function builtin<Module>(name: string): Promise<Module> {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ name) as Promise<Module>;
}

export const isNode =
  typeof (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node ===
  "string";

export async function readFile(path: string | URL): Promise<Uint8Array<ArrayBuffer>> {
  const files = await builtin<{
    readFile(path: string | URL): Promise<Uint8Array<ArrayBuffer>>;
  }>("node:fs/promises");
  return files.readFile(path);
}

/** The part of node:worker_threads that remote.ts and worker.ts use. */
export interface NodePort {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
  on(event: string, listener: (value: unknown) => void): void;
  ref(): void;
  unref(): void;
}

export interface NodeWorker extends NodePort {
  terminate(): Promise<number>;
}

export function workerThreads(): Promise<{
  Worker: new (url: URL, options: { execArgv: string[] }) => NodeWorker;
  parentPort: NodePort | null;
}> {
  return builtin("node:worker_threads");
}
