/** A file while it arrives, and what the start of it says. */
import { impostorsBundle } from "./bundles.js";
import { isArray } from "../base/bytes.js";
import { kindOf, VitError } from "../errors.js";
import { abortable, open, type Opened, type Opener, type ReadOptions, type Source } from "./source.js";
import type { Piece } from "../base/bytes.js";

/** Reading goes on until so much is here that nobody has taken. */
const BYTES_AHEAD = 2 ** 22;
/** A piece that waits takes at least so much, however few its bytes are. */
const PIECE_COST = 2 ** 12;
/** So many empty pieces one after the other are no file. */
const MOST_EMPTY = 1000;
/** So many bytes tell what a file is. */
const TELLING_BYTES = 512;
const BRACE = 0x7b;

/**
 * At most so many bytes of a source.
 *
 * @throws {VitError} code `bad_file` where there are more; every failure may be tried again.
 */
export async function read(source: Source, most: number, signal?: AbortSignal): Promise<Piece> {
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
  /** How many bytes may wait. */
  ahead?: number;
}

/** It goes on arriving, up to a limit, while nobody takes any of it. */
export class Incoming {
  /** 0 while unknown. */
  readonly size: number;
  readonly #opened: Opened;
  readonly #reader: ReadableStreamDefaultReader<Piece>;
  readonly #options: IncomingOptions;
  readonly #asked: Promise<Piece | undefined>[] = [];
  /** What was looked at, and nobody has taken. */
  readonly #front = new Gathered();
  /** What the pieces that nobody has taken cost. */
  #waiting = 0;
  #loaded = 0;

  static async open(source: Source | Opener, options: IncomingOptions = {}): Promise<Incoming> {
    const { signal } = options;
    signal?.throwIfAborted();
    const opening = open(source, signal);
    const opened = await abortable(opening, signal).catch((error: unknown) => {
      opening.then(({ body }) => body.cancel()).catch(() => {}); // one that opens too late
      throw error;
    });
    return Incoming.from(opened, options);
  }

  static async from(opened: Opened, options: IncomingOptions = {}): Promise<Incoming> {
    const incoming = new Incoming(opened, options);
    try {
      const start = await incoming.peek(TELLING_BYTES);
      const other = isOurs(start) ? undefined : (await impostorsBundle())?.impostor(start);
      if (other) {
        const from = opened.response?.url ? ` from ${opened.response.url}` : "";
        throw new VitError("bad_file", `expected a binary file${from}, got ${other}`);
      }
      return incoming;
    } catch (error) {
      incoming.cancel();
      throw error;
    }
  }

  private constructor(opened: Opened, options: IncomingOptions) {
    this.size = opened.size;
    this.#opened = opened;
    this.#options = options;
    try {
      this.#reader = opened.body.getReader();
    } catch (cause) {
      throw opened.lost(cause, 0);
    }
    options.signal?.addEventListener("abort", this.cancel);
    this.#ask(1);
  }

  /** See {@link Opened}. */
  get slice(): Opened["slice"] {
    return this.#opened.slice;
  }

  /** The first `count` bytes, or all if there are fewer. They are still to be taken. */
  async peek(count: number): Promise<Piece> {
    while (this.#front.length < count) {
      const piece = await this.#shift();
      if (!piece) break;
      this.#front.add(piece);
    }
    return this.#front.first(count);
  }

  /** The next piece, or undefined at the end. */
  take(): Promise<Piece | undefined> {
    return this.#front.length > 0 ? Promise.resolve(this.#front.take()) : this.#shift();
  }

  /** Nobody wants the rest. */
  readonly cancel = (): void => {
    this.#options.signal?.removeEventListener("abort", this.cancel);
    void Promise.resolve()
      .then(() => this.#reader.cancel())
      .catch(() => {});
  };

  #shift(): Promise<Piece | undefined> {
    this.#ask(1);
    const piece = this.#asked.shift()!;
    piece.then((bytes) => (this.#waiting -= costOf(bytes)), () => {});
    return piece;
  }

  #ask(count: number): void {
    while (this.#asked.length < count) {
      const piece = abortable(this.#next(), this.#options.signal);
      this.#asked.push(piece);
      piece.then(
        (bytes) => {
          this.#waiting += costOf(bytes);
          const more = bytes && this.#waiting < (this.#options.ahead ?? BYTES_AHEAD);
          if (more) this.#ask(this.#asked.length + 1);
        },
        () => this.cancel(), // whoever takes it hears why
      );
    }
  }

  async #next(): Promise<Piece | undefined> {
    const { size, lost } = this.#opened;
    const { signal, onProgress } = this.#options;
    const piece = await this.#read().catch((cause: unknown) => {
      if (signal?.aborted) throw signal.reason;
      throw cause instanceof VitError ? cause : lost(cause, this.#loaded);
    });
    if (!piece) {
      signal?.removeEventListener("abort", this.cancel);
      if (this.#loaded < size) throw lost("the download ended early", this.#loaded);
      return undefined;
    }
    this.#loaded += piece.length;
    onProgress?.(this.#loaded, this.#loaded > size ? 0 : size);
    return piece;
  }

  /** The stream's next bytes that are some; of a stream of somebody's own, a copy. */
  async #read(): Promise<Piece | undefined> {
    for (let empty = 0; empty < MOST_EMPTY; empty++) {
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      if (!isArray(value, "Uint8Array")) {
        const what = `expected a stream of bytes, each piece a Uint8Array, got ${kindOf(value)}`;
        throw new VitError("bad_argument", what);
      }
      const piece = this.#opened.ours ? value : new Uint8Array(value);
      if (piece.length > 0) return piece;
    }
    throw new Error("only empty pieces come");
  }
}

/** JSON, WebAssembly, or safetensors: a length below 2^32, which may begin as anything, and JSON. */
const isOurs = (start: Piece) =>
  start[0] === BRACE ||
  (start[0] === 0 && start[1] === 0x61) ||
  (start[8] === BRACE && start.subarray(4, 8).every((byte) => byte === 0));

const costOf = (piece: Piece | undefined) => (piece ? Math.max(piece.length, PIECE_COST) : 0);

/** Pieces put together, in memory of at most twice their size. */
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
