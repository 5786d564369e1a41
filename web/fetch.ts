import { reason, VitError } from "./errors.js";
import { isNode, readFile } from "./node.js";

/** Where bytes come from. In Node a string may also be a path, and a URL a `file:` one. */
export type Source =
  string | URL | Request | Response | Blob | ArrayBuffer | ArrayBufferView<ArrayBuffer>;

export interface ReadOptions {
  signal?: AbortSignal | undefined;
  /** `total` is 0 while unknown. */
  onProgress?: ((loaded: number, total: number) => void) | undefined;
}

/** What often arrives in place of the file that was meant, by its first bytes. */
const IMPOSTORS: readonly [RegExp, string][] = [
  [/^\s*<(!doctype html|!--|html|head|body)/i, "an HTML page; check the address"],
  [/^\s*<\?xml/i, "an XML page, perhaps a server's error; check the address"],
  [/^version https:\/\/git-lfs/, "a Git LFS pointer; fetch the file that it stands for"],
  [/^PK\x03\x04/, "a zip archive, perhaps a PyTorch checkpoint; save it as safetensors"],
];

/** Rejects with the signal's reason as soon as it aborts, whatever `promise` does. */
export function abortable<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Anything but a download is bytes already; a download is a Response, not yet read. */
export async function open(source: Source, signal?: AbortSignal): Promise<Response | Blob> {
  if (source instanceof Response || source instanceof Blob) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return fromBytes(source);
  if (!(typeof source === "string" || source instanceof URL || source instanceof Request)) {
    throw new VitError(
      "bad_argument",
      `source: expected a string, URL, Request, Response, Blob or bytes, got ${String(source)}`,
    );
  }
  try {
    if (isNode && !(source instanceof Request)) {
      const file = localFile(source);
      if (file !== undefined) return await openFile(file);
    }
    return await fetch(source, signal ? { signal } : {});
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (cause instanceof VitError) throw cause;
    const where = source instanceof Request ? source.url : String(source);
    throw new VitError(
      "network",
      `expected an answer from ${where}, got none (${reason(cause)}); check the address`,
      { cause },
    );
  }
}

/** The bytes of a source. Every failure may be tried again with the same source. */
export async function read(source: Source, options: ReadOptions = {}): Promise<Blob> {
  const { signal, onProgress } = options;
  signal?.throwIfAborted();
  const opened = await abortable(open(source, signal), signal);
  const blob = opened instanceof Blob ? opened : await download(opened, options);
  if (opened instanceof Blob) onProgress?.(blob.size, blob.size);
  const start = new TextDecoder().decode(await bytesOf(blob.slice(0, 256)));
  const impostor = IMPOSTORS.find(([pattern]) => pattern.test(start));
  if (!impostor) return blob;
  const from = opened instanceof Response && opened.url ? ` from ${opened.url}` : "";
  throw new VitError("bad_file", `expected a binary file${from}, got ${impostor[1]}`);
}

/** What a Blob holds: one may stand for a file that has changed or gone since. */
export async function bytesOf(blob: Blob): Promise<ArrayBuffer> {
  try {
    return await blob.arrayBuffer();
  } catch (cause) {
    const what = `expected ${blob.size} readable bytes: ${reason(cause)}; choose the file again`;
    throw new VitError("bad_file", what, { cause });
  }
}

/** A copy: Blob takes no shared, resizable or detached memory by itself. */
function fromBytes(source: ArrayBuffer | ArrayBufferView<ArrayBuffer>): Blob {
  try {
    const view = ArrayBuffer.isView(source)
      ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      : new Uint8Array(source);
    return new Blob([new Uint8Array(view)]);
  } catch (cause) {
    const what = `source: expected bytes, got memory that is not to be read (${reason(cause)})`;
    throw new VitError("bad_argument", what, { cause });
  }
}

/** A `file:` URL or a path; undefined for what fetch can get. */
function localFile(source: string | URL): string | URL | undefined {
  if (typeof source === "string" && !/^[a-z][a-z0-9+.-]+:/i.test(source)) return source;
  const url = new URL(source);
  return url.protocol === "file:" ? url : undefined;
}

async function openFile(path: string | URL): Promise<Blob> {
  try {
    return new Blob([await readFile(path)]);
  } catch (cause) {
    throw new VitError("bad_file", `expected a readable file: ${reason(cause)}`, { cause });
  }
}

async function download(response: Response, { signal, onProgress }: ReadOptions): Promise<Blob> {
  const where = response.url || "the response";
  if (!response.ok) {
    const status = `${response.status} ${response.statusText}`.trim();
    throw new VitError(
      "network",
      `expected 200 OK from ${where}, got ${status}; check the address`,
    );
  }
  if (response.bodyUsed || !response.body || response.body.locked) {
    throw new VitError(
      "bad_argument",
      `expected a body to read in ${where}, got none or one locked or used up`,
    );
  }
  const packed = response.headers.has("content-encoding");
  const total = packed ? 0 : Number(response.headers.get("content-length") ?? 0);
  const reader = response.body.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let loaded = 0;
  const lost = (cause: unknown) => {
    if (signal?.aborted) return signal.reason;
    const what = `expected ${total || "all"} bytes from ${where}, got ${loaded} (${reason(cause)})`;
    return new VitError("network", `${what}; try again`, { cause });
  };
  try {
    for (;;) {
      const { done, value } = await abortable(reader.read(), signal).catch((cause: unknown) => {
        throw lost(cause);
      });
      if (done) break;
      parts.push(value);
      loaded += value.byteLength;
      onProgress?.(loaded, loaded > total ? 0 : total);
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
  if (loaded < total) throw lost("the download ended early");
  return new Blob(parts);
}
