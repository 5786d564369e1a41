/** Opens the sources of bytes. */
import { type Piece, viewOf } from "../base/bytes.js";
import { reason, show, VitError } from "../errors.js";
import { isNode, openFile, readPart } from "../base/node.js";

/** A source of bytes. In Node, a string may also be a path, and a URL may be `file:`. */
export type Source =
  string | URL | Request | Response | Blob | ArrayBuffer | (ArrayBufferView & { readonly buffer: ArrayBuffer });

/** @internal */
export interface ReadOptions {
  signal?: AbortSignal | undefined;
  /** `total` is 0 while it is unknown. */
  onProgress?: ((loaded: number, total: number) => void) | undefined;
}

/** @internal An opened source. It can be read once. */
export interface Opened {
  /** The size in bytes; 0 if it is unknown. */
  readonly size: number;
  readonly body: ReadableStream<Piece>;
  readonly response?: Response;
  /** Reads some of the bytes. Only sources that need not be read in order have it. */
  readonly slice?: (begin: number, end: number) => Promise<Piece>;
  /** Whether nobody else can change the pieces. Other pieces are copied. */
  readonly ours: boolean;
  /** The error for a reading that fails after `loaded` bytes. */
  lost(cause: unknown, loaded: number): VitError;
}

/** The size of pieces of memory. Browsers cut downloads into such pieces. */
const PIECE_BYTES = 2 ** 16;

/** @internal Rejects with the signal's reason as soon as it aborts, whatever `promise` does. */
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

/** @internal A source that can be opened again and again, such as several files as one. */
export class Opener {
  readonly open: (signal?: AbortSignal) => Promise<Opened>;

  constructor(open: (signal?: AbortSignal) => Promise<Opened>) {
    this.open = open;
  }
}

/** @internal @throws {VitError} code `network`, `bad_file` or `bad_argument`. */
export async function open(source: Source | Opener, signal?: AbortSignal): Promise<Opened> {
  if (source instanceof Opener) return source.open(signal);
  if (source instanceof Response) return fromResponse(source);
  if (source instanceof Blob) return fromBlob(source);
  if (isBytes(source)) return fromBytes(source);
  if (!(typeof source === "string" || source instanceof URL || source instanceof Request)) {
    throw new VitError(
      "bad_argument",
      `source: expected a string, URL, Request, Response, Blob or bytes, got ${show(source)}`,
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
    const where = source instanceof Request ? source.url : show(source);
    throw new VitError(
      "network",
      `expected an answer from ${where}, got none (${reason(cause)}); check the address`,
      { cause },
    );
  }
}

/** @internal Copies a source if the caller can change it: bytes and URLs. */
export function steady<Other>(source: Source | Other): Source | Other {
  if (isBytes(source)) return readable(() => new Uint8Array(viewOf(source)));
  // Some bundlers make URLs that are only a path, such as /_next/static/a.wasm.
  return source instanceof URL ? new URL(source, globalThis.location?.href) : source;
}

/** @internal A copy that can be opened again later. A Response alone can be read only once. */
export function lasting(source: Source | Opener): Source | Opener {
  return source instanceof Response ? kept(source) : steady(source);
}

/** Opens a Response again from its address. Without an address, its bytes are kept. */
function kept(response: Response): Opener {
  const { url } = response;
  const parts: Blob[] = [];
  let opened = false;
  return new Opener(async (signal) => {
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
  });
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
  const size = headers.has("content-encoding") ? 0 : sizeIn(headers.get("content-length"));
  return {
    size,
    body,
    response,
    ours: response.type !== "default", // the type of a Response that a program made
    lost: (cause, loaded) =>
      new VitError(
        "network",
        `expected ${size || "all"} bytes from ${where}, got ${loaded} (${reason(cause)}); try again`,
        { cause },
      ),
  };
}

/** The size in a server's header; 0 if the header is no number of bytes. */
const sizeIn = (header: string | null) => (/^\d{1,15}$/.test(header ?? "") ? Number(header) : 0);

/** A Blob may stand for a file that was changed or deleted since. */
function fromBlob(blob: Blob): Opened {
  const size = Number.isSafeInteger(blob.size) && blob.size > 0 ? blob.size : 0;
  const lost = unreadable(size);
  const slice = async (begin: number, end: number) => {
    try {
      const part = Blob.prototype.slice.call(blob, begin, end);
      return new Uint8Array(await Blob.prototype.arrayBuffer.call(part));
    } catch (cause) {
      throw lost(cause);
    }
  };
  try {
    return { size, body: blob.stream(), ours: blob.stream === Blob.prototype.stream, slice, lost };
  } catch (cause) {
    throw lost(cause);
  }
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
    const lost = unreadable(size);
    const slice = (begin: number, end: number) =>
      readPart(path, begin, end).catch((cause: unknown) => {
        throw lost(cause);
      });
    return size > 0 ? { size, body, ours: true, slice, lost } : { size, body, ours: true, lost };
  } catch (cause) {
    throw new VitError("bad_file", `expected a readable file: ${reason(cause)}`, { cause });
  }
}

const isBytes = (source: unknown): source is ArrayBuffer | ArrayBufferView<ArrayBuffer> =>
  source instanceof ArrayBuffer || ArrayBuffer.isView(source);

/** Reads bytes without a Blob, because a browser may lack room for a large Blob. */
function fromBytes(source: ArrayBuffer | ArrayBufferView<ArrayBuffer>): Opened {
  const view = readable(() => viewOf(source));
  let at = 0;
  const body = new ReadableStream<Piece>({
    pull(controller) {
      if (at < view.length) controller.enqueue(view.slice(at, (at += PIECE_BYTES)));
      else controller.close();
    },
  });
  const slice = async (begin: number, end: number) => view.slice(begin, end);
  return { size: view.length, body, ours: true, slice, lost: unreadable(view.length) };
}

/** Copies memory. It may have moved to another thread, or be too large to copy. */
function readable(bytes: () => Piece): Piece {
  try {
    return bytes();
  } catch (cause) {
    const what = `source: expected bytes, got memory that is not to be read (${reason(cause)})`;
    throw new VitError("bad_argument", what, { cause });
  }
}

/** A `file:` URL or a path; undefined if fetch can get the source. */
function localFile(source: string | URL): string | URL | undefined {
  if (typeof source === "string" && !/^[a-z][a-z0-9+.-]+:/i.test(source)) return source;
  const url = new URL(source);
  return url.protocol === "file:" ? url : undefined;
}
