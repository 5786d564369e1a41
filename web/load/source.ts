/** Opens the sources of bytes. */
import { onAbort } from "../base/abort.js";
import { absolute, hasScheme } from "../base/address.js";
import { isBytes, type Piece, viewOf } from "../base/bytes.js";
import { isA, prototypeOf } from "../base/kind.js";
import { inNode, openFile, readPart } from "../base/node.js";
import { kindOf, reason, show, VitError } from "../errors.js";

/** A source of bytes. In Node, a string may also be a path, and a URL may be `file:`. */
export type Source = string | URL | Request | Response | Blob | ArrayBuffer | ArrayBufferView;

/** As those of @huggingface/tokenizers. Each call needs one of its functions. */
export interface Tokenizer {
  /** The ids of a text, with those that the model wants before and after. */
  encode?(text: string): ArrayLike<number> | { readonly ids: ArrayLike<number> };
  decode?(ids: number[], options: { readonly skip_special_tokens: boolean }): string;
}

/** @internal */
export interface ReadOptions {
  signal?: AbortSignal | undefined;
  /** `total` is 0 while it is unknown. */
  onProgress?: ((loaded: number, total: number) => void) | undefined;
}

/** Fetches a file from an address, as the platform's own fetch does. */
export type Fetch = (address: string | Request, init: { signal?: AbortSignal }) => Promise<Response>;

/** @internal An opened source. It can be read once. */
export interface SourceStream {
  /** The size in bytes; 0 if it is unknown. */
  readonly size: number;
  /** The size in a header, if `size` is unknown: that of the body, or of the packed body. */
  readonly claimed?: number;
  readonly body: ReadableStream<Piece>;
  readonly response?: Response;
  /** Reads some of the bytes. Only sources that need not be read in order have it. */
  readonly slice?: (begin: number, end: number) => Promise<Piece>;
  /** Whether nobody else can change the pieces. Other pieces are copied. */
  readonly ours: boolean;
  /** The error for a read that fails after `loaded` bytes. */
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
    const forget = onAbort(signal, abort);
    promise.then(resolve, reject).finally(forget);
  });
}

/** @internal A source that can be opened again and again, such as several files as one. */
export class Opener {
  readonly open: (signal?: AbortSignal) => Promise<SourceStream>;

  constructor(open: (signal?: AbortSignal) => Promise<SourceStream>) {
    this.open = open;
  }
}

const missing = new WeakSet<VitError>();

/** @internal Marks an error that may mean that the file is missing. */
export function asMissing(error: VitError): VitError {
  missing.add(error);
  return error;
}

/**
 * @internal Whether an error may be that of a missing file: a path that does not exist, no answer (as
 * in an extension), a page of HTML, or a status in {@link MISSING}.
 */
export const isMissing = (error: unknown): error is VitError => missing.has(error as VitError);

/** The statuses that servers and stores give for what is missing or private. */
const MISSING = [400, 401, 403, 404, 410];

/** @internal @throws {VitError} code `network`, `bad_file` or `bad_argument`. */
export async function open(source: Source | Opener, signal?: AbortSignal, by?: Fetch): Promise<SourceStream> {
  if (source instanceof Opener) return source.open(signal);
  if (isA(source, "Response")) return fromResponse(source);
  if (isA(source, "Blob")) return fromBlob(source);
  if (isBytes(source)) return fromBytes(source);
  if (!isAddress(source)) {
    throw new VitError(
      "bad_argument",
      `source: expected a string, URL, Request, Response, Blob or bytes, got ${show(source)}`,
    );
  }
  const file = isA(source, "Request") || !(await inNode()) ? undefined : localFile(source);
  return file === undefined ? fromResponse(await answer(source, signal, by)) : fromFile(file);
}

const isAddress = (source: unknown): source is string | URL | Request =>
  typeof source === "string" || isA(source, "URL") || isA(source, "Request");

/** @internal The answer from an address, whatever its status. */
export async function answer(source: string | URL | Request, signal?: AbortSignal, by?: Fetch): Promise<Response> {
  try {
    const got = await (by ?? fetch)(isA(source, "Request") ? source : absolute(source).href, signal ? { signal } : {});
    if (isA(got, "Response")) return got;
    throw new VitError("bad_option", `fetch: expected it to resolve to a Response, got ${kindOf(got)}`);
  } catch (cause) {
    if (cause instanceof VitError) throw cause;
    if (signal?.aborted) throw signal.reason;
    const where = isA(source, "Request") ? source.url : show(source);
    throw asMissing(new VitError(
      "network",
      `expected an answer from ${where}, got none (${reason(cause)}); check the address`,
      { cause },
    ));
  }
}

/** @internal The source, to be opened by the caller's own `fetch` if there is one and the source is an address. */
export function withFetch<Address extends Source>(source: Address, by: Fetch | undefined): Address | Opener {
  return by && isAddress(source) ? new Opener((signal) => open(source, signal, by)) : source;
}

/** @internal Copies a source if the caller can change it: bytes and URLs. */
export function snapshot<Other>(source: Source | Other): Source | Other {
  if (isBytes(source)) return readable(() => new Uint8Array(viewOf(source)));
  return isA(source, "URL") ? absolute(source) : source;
}

/** @internal A copy that can be opened again later. A Response alone can be read only once. */
export function reopenable(source: Source, by?: Fetch): Source | Opener {
  return isA(source, "Response") ? reopenableResponse(source, by) : withFetch(snapshot(source) as Source, by);
}

/** Opens a Response again from its address. Without an address, its bytes are kept. */
function reopenableResponse(response: Response, by?: Fetch): Opener {
  const { url } = response;
  const parts: Blob[] = [];
  let opened = false;
  return new Opener(async (signal) => {
    if (opened) return url ? open(url, signal, by) : fromBlob(new Blob(parts));
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

function fromResponse(response: Response): SourceStream {
  const where = response.url || "the response";
  if (!response.ok) {
    const status = `${response.status} ${response.statusText}`.trim();
    const hidden = [401, 403].includes(response.status) ? "; for a private file pass load's option fetch" : "";
    const error = new VitError(
      "network",
      `expected 200 OK from ${where}, got ${status}; check the address${hidden}`,
    );
    throw MISSING.includes(response.status) ? asMissing(error) : error;
  }
  const { body, headers } = response;
  if (response.bodyUsed || !body || body.locked) {
    throw new VitError(
      "bad_argument",
      `expected a body to read in ${where}, got none, or one that is locked or used up`,
    );
  }
  const claimed = headers.has("content-encoding") ? 0 : sizeIn(headers.get("content-length"));
  // Of an answer from another origin a page sees the packed body's size, but not that it is packed.
  const size = response.type === "basic" ? claimed : 0;
  return {
    size,
    claimed,
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
function fromBlob(blob: Blob): SourceStream {
  const size = Number.isSafeInteger(blob.size) && blob.size > 0 ? blob.size : 0;
  const lost = unreadable(size);
  const own = prototypeOf(blob, "Blob")!;
  const slice = async (begin: number, end: number) => {
    try {
      const part = own.slice.call(blob, begin, end);
      return new Uint8Array(await (own.arrayBuffer ? own.arrayBuffer.call(part) : readByEvents(part)));
    } catch (cause) {
      throw lost(cause);
    }
  };
  try {
    if (!blob.stream) return { size, body: inPieces(size, slice), ours: true, slice, lost };
    return { size, body: blob.stream(), ours: blob.stream === own.stream, slice, lost };
  } catch (cause) {
    throw lost(cause);
  }
}

/** Reads a Blob that has no methods for it, such as jsdom's. */
function readByEvents(blob: Blob): Promise<ArrayBuffer> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as ArrayBuffer);
    reader.onerror = () => reject(reader.error ?? new Error("the Blob cannot be read"));
    reader.readAsArrayBuffer(blob);
  });
}

const unreadable = (size: number) => (cause: unknown) =>
  new VitError(
    "bad_file",
    `expected ${size} readable bytes: ${reason(cause)}; choose the file again`,
    { cause },
  );

async function fromFile(path: string | URL): Promise<SourceStream> {
  try {
    const { size, body } = await openFile(path);
    const lost = unreadable(size);
    const slice = (begin: number, end: number) =>
      readPart(path, begin, end).catch((cause: unknown) => {
        throw lost(cause);
      });
    return size > 0 ? { size, body, ours: true, slice, lost } : { size, body, ours: true, lost };
  } catch (cause) {
    const error = new VitError("bad_file", `expected a readable file, got ${reason(cause)}`, { cause });
    const { code } = cause as { code?: unknown };
    throw code === "ENOENT" || code === "ENOTDIR" ? asMissing(error) : error;
  }
}

/** Reads bytes without a Blob, because a browser may lack room for a large Blob. */
function fromBytes(source: ArrayBuffer | ArrayBufferView): SourceStream {
  const view = readable(() => viewOf(source));
  const slice = async (begin: number, end: number) => view.slice(begin, end);
  const { length } = view;
  return { size: length, body: inPieces(length, slice), ours: true, slice, lost: unreadable(length) };
}

function inPieces(size: number, slice: NonNullable<SourceStream["slice"]>): ReadableStream<Piece> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      if (at < size) controller.enqueue(await slice(at, (at += PIECE_BYTES)));
      else controller.close();
    },
  });
}

/** Copies memory. It may have moved to another thread, or be too large to copy. */
function readable(bytes: () => Piece): Piece {
  try {
    return bytes();
  } catch (cause) {
    const what = `source: expected bytes, got memory that cannot be read (${reason(cause)})`;
    throw new VitError("bad_argument", what, { cause });
  }
}

/** A `file:` URL or a path; undefined if fetch can get the source. */
function localFile(source: string | URL): string | URL | undefined {
  if (typeof source === "string" && !hasScheme(source)) return source;
  return /^file:/i.test(String(source)) ? new URL(source) : undefined;
}
