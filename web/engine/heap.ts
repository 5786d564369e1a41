/** A module's heap: its session's words, and the pixels and strokes that are copied there. */
import { MAX_FILE_BYTES } from "../base/bytes.js";
import { VitError, type VitErrorCode } from "../errors.js";
import { type Picture, POINT_FLOATS, type Strokes } from "../images.js";
import { type HeapExports, noMemory, trap } from "./instance.js";

export const FLOAT_BYTES = 4;
const WORD_BYTES = 4;

/** The largest piece of a file that is copied to the heap at once. */
const PIECE_BYTES = 2 ** 16;

/** The ink of larger pads is not kept. */
const MOST_CACHED_PIXELS = 2 ** 20;

const NOTHING = { strokes: 0, sizes: "", points: new Float32Array(), ink: new Uint8Array() };

/** The pixels of a picture that has to be prepared. */
export interface PixelShape {
  readonly rows: number;
  readonly columns: number;
  readonly channels: number;
}

/** `Word`: the names of the words of the module's struct, in its order. */
export class Heap<Word extends string> {
  readonly #exports: HeapExports;
  readonly #names: readonly Word[];
  /** The address of the struct, which never moves. */
  #session = 0;
  /** Room for a piece of the file, and for the config and the map. All of it is freed at the file's end. */
  #room: number[] = [];
  #trapped = false;
  /** The last drawing without its last stroke, and that ink. A drawing that grows is drawn on from there. */
  #cache = NOTHING;

  constructor(exports: HeapExports, names: readonly Word[]) {
    this.#exports = exports;
    this.#names = names;
  }

  /** The module's memory in bytes. */
  get size(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  /** True once the module trapped, and so is unusable. */
  get trapped(): boolean {
    return this.#trapped;
  }

  /** Runs work that calls the module. A trap becomes a VitError, and the heap is unusable from then on. */
  watched<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof VitError) throw cause;
      this.#trapped = true;
      throw trap(cause);
    }
  }

  start(): void {
    this.#exports._initialize?.();
    this.#session = this.#exports.vitw_session() >>> 0;
  }

  // ---- A file, piece by piece. The heap, which never shrinks, never holds the whole file. ----

  /** @param kernels arguments that choose kernels, if this kind of module has any */
  begin(size: number, config: string | undefined, map: string | undefined, ...kernels: number[]): void {
    if (!(size >= 0 && size <= MAX_FILE_BYTES)) throw noMemory(size, "the weights");
    this.#room = [this.alloc(PIECE_BYTES, "the weights")];
    const texts = [...this.#copyText(config, "the config"), ...this.#copyText(map, "the tensors' names")];
    this.check(this.#exports.vitw_begin(size, ...texts, ...kernels));
  }

  /** The address and the size of a text that is copied to the heap; zeros if there is none. */
  #copyText(text: string | undefined, what: string): number[] {
    if (text === undefined) return [0, 0];
    const bytes = new TextEncoder().encode(text);
    const address = this.alloc(bytes.length, what);
    this.bytes(address, bytes.length).set(bytes);
    this.#room.push(address);
    return [address, bytes.length];
  }

  feed(bytes: Uint8Array): void {
    const { vitw_feed, vitw_end } = this.#exports;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const part = bytes.subarray(at, at + PIECE_BYTES);
      this.bytes(this.#room[0]!, part.length).set(part);
      if (vitw_feed(this.#room[0]!, part.length) !== 0) this.check(vitw_end()); // it says why
    }
  }

  /** After the file's last byte. */
  end(): void {
    this.check(this.#exports.vitw_end());
    for (const address of this.#room) this.#exports.vitw_free(address);
  }

  // ---- Pictures ----

  /** Copies the pixels of a picture, or draws its strokes with ink. */
  copyIn(picture: Exclude<Picture, { readonly values: unknown }>): PixelShape {
    const { rows, columns } = picture;
    if ("points" in picture) {
      this.#draw(picture);
      return { rows, columns, channels: 1 };
    }
    const { pixels, channels } = picture;
    assertInternal(pixels.length === rows * columns * channels, "pixels");
    const room = this.#exports.vitw_pixels(pixels.length) >>> 0;
    if (room === 0) throw noMemory(pixels.length, "the pixels");
    this.bytes(room, pixels.length).set(pixels);
    return { rows, columns, channels };
  }

  #draw({ points, lengths, rows, columns }: Strokes): void {
    const { vitw_ink, vitw_points, vitw_stroke } = this.#exports;
    const plane = vitw_ink(rows, columns) >>> 0, size = rows * columns;
    if (plane === 0) throw noMemory(size, "the ink");
    const sizesOf = (strokes: number) => [rows, columns, ...lengths.slice(0, strokes), ""].join();
    const continues = sizesOf(lengths.length).startsWith(this.#cache.sizes) && this.#cache.points.every((value, at) => value === points[at]);
    const { strokes, points: before, ink } = continues ? this.#cache : NOTHING;
    this.bytes(plane, size).set(ink);
    for (let at = strokes, first = before.length; at < lengths.length; at++) {
      if (at > strokes && at === lengths.length - 1 && size <= MOST_CACHED_PIXELS) {
        this.#cache = { strokes: at, sizes: sizesOf(at), points: points.slice(0, first), ink: this.bytes(plane, size).slice() };
      }
      const length = lengths[at]!, stroke = points.subarray(first, (first += length * POINT_FLOATS));
      assertInternal(stroke.length === length * POINT_FLOATS, "points");
      const room = vitw_points(length) >>> 0;
      if (room === 0) throw noMemory(stroke.byteLength, "a stroke");
      this.floats(room, stroke.length).set(stroke);
      this.check(vitw_stroke(rows, columns, length));
    }
  }

  // ---- Memory. A call of the module may grow it. That detaches every view, so no view is kept. ----

  bytes(address: number, count: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#exports.memory.buffer, address, count);
  }

  floats(address: number, count: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#exports.memory.buffer, address, count);
  }

  word(name: Word | "why"): number {
    return this.words(name, 1)[0]!;
  }

  /** `count` words, from the named one on. */
  words(name: Word | "why", count: number): Uint32Array {
    const address = this.#session + this.#names.indexOf(name as Word) * WORD_BYTES;
    return new Uint32Array(this.#exports.memory.buffer, address, count);
  }

  /** UTF-8 text of the given size, or up to the first zero. */
  text(address: number, size?: number): string {
    const start = address >>> 0;
    const all = new Uint8Array(this.#exports.memory.buffer);
    const end = size === undefined ? all.indexOf(0, start) : start + size;
    return new TextDecoder().decode(all.slice(start, end)); // a copy, because it takes no shared memory
  }

  alloc(size: number, what: string): number {
    const address = this.#exports.vitw_alloc(size) >>> 0;
    if (address === 0) throw noMemory(size, what);
    return address;
  }

  /** Throws the module's error, if `status` is one. */
  check(status: number, what = ""): void {
    if (status === 0) return;
    const code = this.text(this.#exports.vit_status_name(status)) as VitErrorCode;
    throw new VitError(code, what + this.text(this.word("why")));
  }
}

/** Checks a count that C does not check. It is wrong only if this package has a bug. */
export function assertInternal(holds: boolean, what: string): void {
  if (!holds) throw new VitError("internal", `wrong number of ${what}; please report this`);
}
