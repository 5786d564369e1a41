/** A file while it arrives. */
import { impostorsBundle } from "./bundles.js";
import { onAbort } from "../base/abort.js";
import { isArray } from "../base/bytes.js";
import { kindOf, VitError } from "../errors.js";
import { abortable, asMissing, open, type Opener, type ReadOptions, type Source, type SourceStream } from "./source.js";
import type { Piece } from "../base/bytes.js";

/** Reading continues until this many bytes wait to be taken. */
const BYTES_AHEAD = 2 ** 22;
/** The least bytes that a waiting piece counts as, because each piece takes memory of its own. */
const PIECE_COST = 2 ** 12;
/** The most empty pieces one after the other. */
const MOST_EMPTY = 1000;
/** The bytes at the start that show what a file is. */
const SIGNATURE_BYTES = 512;
const BRACE = 0x7b;
/** Packing makes no file longer than by this factor. */
const PACKED_BY = 1.01;

/**
 * Reads a source of at most `most` bytes.
 *
 * @throws {VitError} code `bad_file` if there are more bytes. The call can be repeated.
 */
export async function read(source: Source | Opener, most: number, signal?: AbortSignal): Promise<Piece> {
  return bytesOf(await Incoming.open(source, { signal }), most);
}

export async function bytesOf(file: Incoming, most: number): Promise<Piece> {
  try {
    const bytes = file.size > most ? undefined : await file.peek(most + 1);
    if (bytes && bytes.length <= most) return bytes;
    throw new VitError("bad_file", `expected at most ${most} bytes, got ${file.size || "more"}`);
  } finally {
    file.cancel();
  }
}

export interface IncomingOptions extends ReadOptions {
  /** The most bytes that wait to be taken. */
  ahead?: number;
}

/** A file that keeps arriving, up to a limit, while nobody takes its bytes. */
export class Incoming {
  /** The size in bytes that is certain; 0 if there is none. */
  #size: number;
  /** Set if a download ended with fewer bytes than a header claims. */
  #cutOff: VitError | undefined;
  readonly #stream: SourceStream;
  readonly #reader: ReadableStreamDefaultReader<Piece>;
  readonly #options: IncomingOptions;
  readonly #pending: Promise<Piece | undefined>[] = [];
  /** Bytes that peek has read and nobody has taken. */
  readonly #front = new Gathered();
  /** The cost of the pieces that nobody has taken. */
  #waiting = 0;
  #loaded = 0;
  #forget = () => {};

  static async open(source: Source | Opener, options: IncomingOptions = {}): Promise<Incoming> {
    const { signal } = options;
    signal?.throwIfAborted();
    const opening = open(source, signal);
    const stream = await abortable(opening, signal).catch((error: unknown) => {
      opening.then(({ body }) => body.cancel()).catch(() => {}); // it may still open later
      throw error;
    });
    return Incoming.from(stream, options);
  }

  static async from(stream: SourceStream, options: IncomingOptions = {}): Promise<Incoming> {
    const incoming = new Incoming(stream, options);
    try {
      const start = await incoming.peek(SIGNATURE_BYTES);
      const other = isOurs(start) ? undefined : (await impostorsBundle())?.impostor(start);
      if (other) {
        const from = stream.response?.url ? ` from ${stream.response.url}` : "";
        const error = new VitError("bad_file", `expected a binary file${from}, got ${other}`);
        throw other.startsWith("an HTML page") ? asMissing(error) : error;
      }
      return incoming;
    } catch (error) {
      incoming.cancel();
      throw error;
    }
  }

  private constructor(stream: SourceStream, options: IncomingOptions) {
    this.#size = stream.size;
    this.#stream = stream;
    this.#options = options;
    try {
      this.#reader = stream.body.getReader();
    } catch (cause) {
      throw stream.lost(cause, 0);
    }
    if (options.signal) this.#forget = onAbort(options.signal, this.cancel);
    this.#ask(1);
  }

  /** The file's size in bytes; 0 if it is unknown. */
  get size(): number {
    return this.#size;
  }

  /** The size, or if that is unknown, what a header says. It bounds the file, but for packing. */
  get claimed(): number {
    return this.#size || (this.#stream.claimed ?? 0);
  }

  /** Sets the size that the file's own header implies. It is certain if the server's header says the same. */
  confirm(size: number): void {
    if (size === this.#stream.claimed) this.#size = size;
  }

  /** The reader's error, or that of the download if it ended early and the file is not whole. */
  rootCause(error: unknown): unknown {
    const wanting = error instanceof VitError && ["bad_file", "bad_tensor"].includes(error.code);
    return wanting ? (this.#cutOff ?? error) : error;
  }

  /** See {@link SourceStream}. */
  get slice(): SourceStream["slice"] {
    return this.#stream.slice;
  }

  /** Reads the first `count` bytes, or all if there are fewer, without taking them. */
  async peek(count: number): Promise<Piece> {
    while (this.#front.length < count) {
      const piece = await this.#shift();
      if (!piece) break;
      this.#front.add(piece);
    }
    return this.#front.first(count);
  }

  /** Takes the next piece; undefined at the end. */
  take(): Promise<Piece | undefined> {
    return this.#front.length > 0 ? Promise.resolve(this.#front.take()) : this.#shift();
  }

  /** Ends the download. */
  readonly cancel = (): void => {
    this.#forget();
    void Promise.resolve()
      .then(() => this.#reader.cancel())
      .catch(() => {});
  };

  #shift(): Promise<Piece | undefined> {
    this.#ask(1);
    const piece = this.#pending.shift()!;
    piece.then((bytes) => (this.#waiting -= costOf(bytes)), () => {});
    return piece;
  }

  #ask(count: number): void {
    while (this.#pending.length < count) {
      const piece = abortable(this.#next(), this.#options.signal);
      this.#pending.push(piece);
      piece.then(
        (bytes) => {
          this.#waiting += costOf(bytes);
          const more = bytes && this.#waiting < (this.#options.ahead ?? BYTES_AHEAD);
          if (more) this.#ask(this.#pending.length + 1);
        },
        () => this.cancel(), // whoever takes the piece gets the error
      );
    }
  }

  async #next(): Promise<Piece | undefined> {
    const { lost } = this.#stream;
    const { signal, onProgress } = this.#options;
    const piece = await this.#read().catch((cause: unknown) => {
      if (signal?.aborted) throw signal.reason;
      throw cause instanceof VitError ? cause : lost(cause, this.#loaded);
    });
    if (!piece) {
      this.#forget();
      const early = () => lost("the download ended early", this.#loaded);
      if (this.#loaded < this.#size) throw early();
      if (this.#loaded * PACKED_BY < this.claimed) this.#cutOff = early();
      return undefined;
    }
    this.#loaded += piece.length;
    onProgress?.(this.#loaded, this.#loaded > this.#size ? 0 : this.#size);
    return piece;
  }

  /** The stream's next piece that is not empty. A piece of the caller's own stream is copied. */
  async #read(): Promise<Piece | undefined> {
    for (let empty = 0; empty < MOST_EMPTY; empty++) {
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      if (!isArray(value, "Uint8Array")) {
        const what = `expected a stream of bytes, each piece a Uint8Array, got ${kindOf(value)}`;
        throw new VitError("bad_argument", what);
      }
      const piece = this.#stream.ours ? value : new Uint8Array(value);
      if (piece.length > 0) return piece;
    }
    throw new Error("the stream gives only empty pieces");
  }
}

/**
 * Whether a file is JSON, WebAssembly or safetensors. Safetensors begins with a length below 2^32,
 * whose bytes may look like the start of another kind of file, and JSON follows.
 */
const isOurs = (start: Piece) =>
  start[0] === BRACE ||
  (start[0] === 0 && start[1] === 0x61) ||
  (start[8] === BRACE && start.subarray(4, 8).every((byte) => byte === 0));

const costOf = (piece: Piece | undefined) => (piece ? Math.max(piece.length, PIECE_COST) : 0);

/** Joins pieces, in memory of at most twice their size. */
class Gathered {
  #room: Piece = new Uint8Array(0);
  length = 0;

  add(piece: Piece): void {
    const { length } = this;
    if (length + piece.length > this.#room.length) {
      const room = new Uint8Array(Math.max(2 * this.#room.length, length + piece.length));
      room.set(this.first(length));
      this.#room = room;
    }
    this.#room.set(piece, length);
    this.length += piece.length;
  }

  first(count: number): Piece {
    return this.#room.subarray(0, Math.min(count, this.length));
  }

  take(): Piece {
    const all = this.first(this.length);
    this.#room = new Uint8Array(0);
    this.length = 0;
    return all;
  }
}
