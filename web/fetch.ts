import { reason, VitError } from "./errors.js";
import { isNode, openFile } from "./node.js";

/** Where bytes come from. In Node a string may also be a path, and a URL a `file:` one. */
export type Source =
  string | URL | Request | Response | Blob | ArrayBuffer | ArrayBufferView<ArrayBuffer>;

export interface ReadOptions {
  signal?: AbortSignal | undefined;
  /** `total` is 0 while unknown. */
  onProgress?: ((loaded: number, total: number) => void) | undefined;
}

/** Some bytes, in order. */
export type Piece = Uint8Array<ArrayBuffer>;

/** A source that was opened, to be read once. */
export interface Opened {
  /** 0 while unknown. */
  readonly size: number;
  readonly body: ReadableStream<Piece>;
  readonly response?: Response;
  /** What to say when reading fails after so many bytes. */
  lost(cause: unknown, loaded: number): VitError;
}

/** What often arrives in place of the file that was meant, by its first bytes. */
const IMPOSTORS: readonly [RegExp, string][] = [
  [/^\s*<(!doctype html|!--|html|head|body)/i, "an HTML page; check the address"],
  [/^\s*<\?xml/i, "an XML page, perhaps a server's error; check the address"],
  [/^version https:\/\/git-lfs/, "a Git LFS pointer; fetch the file that it stands for"],
  [/^PK\x03\x04/, "a zip archive, perhaps a PyTorch checkpoint; save it as safetensors"],
];
const IMPOSTOR_BYTES = 256;

/** Pieces of memory are of this size, as browsers cut a download. */
const PIECE_BYTES = 2 ** 16;

/** Reading goes on until so much is here that nobody has taken. */
const BYTES_AHEAD = 2 ** 22;

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

/** What opens itself, as often as it is asked to: several files as one. */
export interface Opener {
  open(signal?: AbortSignal): Promise<Opened>;
}

const isOpener = (source: unknown): source is Opener =>
  typeof (source as Opener | null)?.open === "function";

/** @throws {VitError} code `network`, `bad_file` or `bad_argument`. */
export async function open(source: Source | Opener, signal?: AbortSignal): Promise<Opened> {
  if (isOpener(source)) return source.open(signal);
  if (source instanceof Response) return fromResponse(source);
  if (source instanceof Blob) return fromBlob(source);
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
      if (file !== undefined) return await fromFile(file);
    }
    return fromResponse(await fetch(source, signal ? { signal } : {}));
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

/** What can be opened again later: a Response can be read once, and bytes may change. */
export function lasting(source: Source | Opener): Source | Opener {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return new Uint8Array(viewOf(source));
  return source instanceof Response ? kept(source) : source;
}

/** Again from its address; one without an address is kept while it is read. */
function kept(response: Response): Opener {
  const { url } = response;
  const parts: Blob[] = [];
  let opened = false;
  return {
    async open(signal) {
      if (opened) return url ? open(url, signal) : fromBlob(new Blob(parts));
      opened = true;
      const first = fromResponse(response);
      if (url) return first;
      const keep = new TransformStream<Piece, Piece>({
        transform(piece, controller) {
          parts.push(new Blob([piece]));
          controller.enqueue(piece);
        },
      });
      return { ...first, body: first.body.pipeThrough(keep) };
    },
  };
}

/** All bytes of a source. Every failure may be tried again with the same source. */
export async function read(source: Source, signal?: AbortSignal): Promise<ArrayBuffer> {
  return bytesOf(await Incoming.open(source, { signal }));
}

export async function bytesOf(file: Incoming): Promise<ArrayBuffer> {
  return new Blob(await rest(file)).arrayBuffer();
}

/** A file while it arrives. It goes on arriving, up to a limit, while nobody takes any of it. */
export class Incoming {
  /** 0 while unknown. */
  readonly size: number;
  readonly #opened: Opened;
  readonly #reader: ReadableStreamDefaultReader<Piece>;
  readonly #options: ReadOptions;
  readonly #asked: Promise<Piece | undefined>[] = [];
  /** Bytes that are here and that nobody has taken. */
  #waiting = 0;
  #loaded = 0;

  static async open(source: Source | Opener, options: ReadOptions = {}): Promise<Incoming> {
    const { signal } = options;
    signal?.throwIfAborted();
    return Incoming.from(await abortable(open(source, signal), signal), options);
  }

  static async from(opened: Opened, options: ReadOptions = {}): Promise<Incoming> {
    const incoming = new Incoming(opened, options);
    try {
      const start = new TextDecoder().decode(await incoming.peek(IMPOSTOR_BYTES));
      const impostor = IMPOSTORS.find(([pattern]) => pattern.test(start));
      if (impostor) {
        const from = opened.response?.url ? ` from ${opened.response.url}` : "";
        throw new VitError("bad_file", `expected a binary file${from}, got ${impostor[1]}`);
      }
      return incoming;
    } catch (error) {
      incoming.cancel();
      throw error;
    }
  }

  private constructor(opened: Opened, options: ReadOptions) {
    this.size = opened.size;
    this.#opened = opened;
    this.#options = options;
    this.#reader = opened.body.getReader();
    this.#ask(1);
  }

  /** The first `count` bytes, or all if there are fewer. They are still to be taken. */
  async peek(count: number): Promise<Piece> {
    const bytes = new Uint8Array(count);
    let size = 0;
    for (let index = 0; size < count; index++) {
      this.#ask(index + 1);
      const piece = await this.#asked[index];
      if (!piece) break;
      bytes.set(piece.subarray(0, count - size), size);
      size += Math.min(piece.length, count - size);
    }
    return bytes.subarray(0, size);
  }

  /** The next piece, or undefined at the end. */
  take(): Promise<Piece | undefined> {
    this.#ask(1);
    const piece = this.#asked.shift()!;
    piece.then((bytes) => (this.#waiting -= bytes?.length ?? 0), () => {});
    return piece;
  }

  /** Nobody wants the rest. */
  cancel(): void {
    void this.#reader.cancel().catch(() => {});
  }

  #ask(count: number): void {
    while (this.#asked.length < count) {
      const piece = abortable(this.#next(), this.#options.signal);
      this.#asked.push(piece);
      piece.then(
        (bytes) => {
          if (bytes && (this.#waiting += bytes.length) < BYTES_AHEAD) this.#ask(this.#asked.length + 1);
        },
        () => this.cancel(), // whoever takes it hears why
      );
    }
  }

  async #next(): Promise<Piece | undefined> {
    const { size, lost } = this.#opened;
    const { signal, onProgress } = this.#options;
    const { done, value } = await this.#reader.read().catch((cause: unknown) => {
      throw signal?.aborted ? signal.reason : lost(cause, this.#loaded);
    });
    if (done) {
      if (this.#loaded < size) throw lost("the download ended early", this.#loaded);
      return undefined;
    }
    this.#loaded += value.length;
    onProgress?.(this.#loaded, this.#loaded > size ? 0 : size);
    return value;
  }
}

/** As src/safetensors.c has it. */
const MAX_HEADER_BYTES = 1e8;

/**
 * What a safetensors file says ahead of its data, which the core checks: the JSON, empty where
 * there is none, how many bytes it and its length take, and the file's size: where no server says
 * it, the tensors do.
 */
export async function readHeader(
  file: Incoming,
): Promise<{ text: string; bytes: number; size: number }> {
  const first = await file.peek(8);
  const length = first.length < 8 ? 0 : Number(new DataView(first.buffer).getBigUint64(0, true));
  const bytes = length > Math.min(file.size || MAX_HEADER_BYTES, MAX_HEADER_BYTES) ? 8 : 8 + length;
  const start = await file.peek(bytes);
  const text = new TextDecoder().decode(start.subarray(8));
  return { text, bytes, size: file.size || start.length + dataBytes(text) };
}

/** Where the last tensor ends. */
function dataBytes(header: string): number {
  let most = 0;
  for (const [, end] of header.matchAll(/"data_offsets"[^,]*,\s*(\d+)/g)) most = Math.max(most, +end!);
  return most;
}

async function rest(file: Incoming): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for (let piece; (piece = await file.take()); ) pieces.push(piece);
  return pieces;
}

function fromResponse(response: Response): Opened {
  const where = response.url || "the response";
  if (!response.ok) {
    const status = `${response.status} ${response.statusText}`.trim();
    throw new VitError(
      "network",
      `expected 200 OK from ${where}, got ${status}; check the address`,
    );
  }
  const { body, headers } = response;
  if (response.bodyUsed || !body || body.locked) {
    throw new VitError(
      "bad_argument",
      `expected a body to read in ${where}, got none or one locked or used up`,
    );
  }
  const size = headers.has("content-encoding") ? 0 : Number(headers.get("content-length") ?? 0);
  return {
    size,
    body,
    response,
    lost: (cause, loaded) =>
      new VitError(
        "network",
        `expected ${size || "all"} bytes from ${where}, got ${loaded} (${reason(cause)}); try again`,
        { cause },
      ),
  };
}

/** One may stand for a file that has changed or gone since. */
function fromBlob(blob: Blob): Opened {
  return { size: blob.size, body: blob.stream(), lost: unreadable(blob.size) };
}

const unreadable = (size: number) => (cause: unknown) =>
  new VitError(
    "bad_file",
    `expected ${size} readable bytes: ${reason(cause)}; choose the file again`,
    { cause },
  );

async function fromFile(path: string | URL): Promise<Opened> {
  try {
    const { size, body } = await openFile(path);
    return { size, body, lost: unreadable(size) };
  } catch (cause) {
    throw new VitError("bad_file", `expected a readable file: ${reason(cause)}`, { cause });
  }
}

/** Not by way of a Blob: a browser may have no room for one of some hundred megabytes. */
function fromBytes(source: ArrayBuffer | ArrayBufferView<ArrayBuffer>): Opened {
  const view = viewOf(source);
  let at = 0;
  const body = new ReadableStream<Piece>({
    pull(controller) {
      if (at < view.length) controller.enqueue(view.slice(at, (at += PIECE_BYTES)));
      else controller.close();
    },
  });
  return { size: view.length, body, lost: unreadable(view.length) };
}

function viewOf(source: ArrayBuffer | ArrayBufferView<ArrayBuffer>): Piece {
  try {
    return ArrayBuffer.isView(source)
      ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      : new Uint8Array(source);
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
