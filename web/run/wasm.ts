/**
 * The only file that touches the module's heap. It calls the functions of src/wasm/session.c and
 * gives values and copies.
 */
import { VitError, type VitErrorCode } from "../errors.js";
import { type Picture, POINT_FLOATS, type Strokes } from "../images.js";
import { type Exports, instantiate, noMemory, trap } from "./instance.js";
import { HeapMaps, type Maps } from "./maps.js";
import type { CompiledModule, Variant } from "./module.js";
import { traceSize, traceStart } from "./trace.js";
import { masksOf, type Replaced, type Without } from "./without.js";

/** The sizes of the model. The layout of the results follows from them. */
const SIZES = [
  "channels",
  "rows",
  "columns",
  "grid_rows",
  "grid_columns",
  "prefix",
  "width",
  "depth",
  "heads",
  "classes",
] as const;

/** The words of src/wasm/session.c's `struct session`, in its order. */
export const WORDS = [
  ...SIZES,
  "json",
  "json_size",
  "images",
  "logits",
  "attention",
  "tokens",
  "pooled",
  "layers",
  "why",
  "origin",
  "origin_size",
  "head_width",
  "trace",
  "without",
  "asked",
  "relevance",
] as const;

/** The words that are addresses of floats. */
type Floats = "images" | "logits" | "attention" | "tokens" | "pooled" | "trace" | "relevance";

const FLOAT_BYTES = 4;
/** The words of src/vit.h's `vit_replacement`: layer, head, part, rows. */
const REPLACEMENT_WORDS = 4;

/** The largest piece of a file that is copied to the heap at once. */
const PIECE_BYTES = 2 ** 16;
/** The largest number that a word of the module holds. */
const MAX_FILE_BYTES = 2 ** 32 - 1;

/** The start of a model, before its file. It can be sent to a worker. */
export interface ModelSource {
  readonly module: CompiledModule;
  /** Only for a build for threads. */
  readonly memory: WebAssembly.Memory | undefined;
  /** The file's size in bytes. */
  readonly size: number;
  /** A config as JSON that replaces the file's own. */
  readonly config: string | undefined;
  /** Whether int8 products are computed in two steps, if the module can. */
  readonly inPairs: boolean;
}

/** The letters C, H, W, L, h, D, K of src/vit.h, by name. */
export interface Shape {
  readonly channels: number;
  readonly rows: number;
  readonly columns: number;
  readonly grid: readonly [rows: number, columns: number];
  readonly prefix: number;
  readonly tokens: number;
  readonly width: number;
  readonly depth: number;
  readonly heads: number;
  readonly headWidth: number;
  readonly classes: number;
}

/** An open model. */
export interface Model {
  /** The config as JSON: `vit_model_json`. */
  readonly config: string;
  /** The family of the file and what was guessed, as JSON: `vit_model_origin`. */
  readonly origin: string;
  readonly variant: Variant;
  readonly shape: Shape;
  /** The bytes of memory after loading. */
  readonly memory: number;
}

/** The results of a run that are kept besides the logits. */
export interface Wants {
  /** The layers whose attention is kept, ascending. */
  readonly attention: readonly number[];
  /** The tokens after the last block and the final norm. */
  readonly tokens: boolean;
  /** Whether the attention is copied at once, because it will be sent or overwritten. */
  readonly copied?: boolean;
  /** What the run computes on its way. Only for one image at a time. */
  readonly trace?: boolean;
  /** Classes whose relevance is wanted; a number: so many of the likeliest. One image at a time. */
  readonly relevance?: readonly number[] | number;
  readonly without?: Without;
}

/** One image's results. All are copies except attention that is left on the heap. */
export interface Result {
  /** (C, H, W): the prepared image */
  readonly input: Float32Array<ArrayBuffer>;
  readonly logits: Float32Array<ArrayBuffer>;
  /** (layers wanted, heads, T, T) */
  readonly attention?: Float32Array<ArrayBuffer> | Maps;
  /** (T, D) */
  readonly tokens?: Float32Array<ArrayBuffer>;
  /** (D): kept together with the tokens */
  readonly pooled?: Float32Array<ArrayBuffer>;
  /** The arrays of web/trace.ts, one after the other. */
  readonly trace?: Float32Array<ArrayBuffer>;
  readonly relevance?: Relevance;
}

/** How much each patch speaks for some classes. */
export interface Relevance {
  readonly classes: readonly number[];
  /** (classes, N) */
  readonly values: Float32Array<ArrayBuffer>;
}

/** Whether a run keeps the tokens after each block. Only one image at a time is run so. */
export const isTraced = ({ trace, relevance }: Wants) => Boolean(trace) || relevance !== undefined;

/** An instance in another thread that works for a session's instance. */
export class Helper {
  readonly #exports: Exports;

  static async join(module: WebAssembly.Module, memory: WebAssembly.Memory): Promise<Helper> {
    return new Helper(await instantiate(module, memory));
  }

  private constructor(exports: Exports) {
    this.#exports = exports;
  }

  /** Waits for work and does it, until the session dismisses it. The stack is from the session. */
  help(index: number, stack: number): void {
    this.#exports.__stack_pointer.value = stack;
    this.#exports.vitw_help(index);
  }
}

/** One instance of the module with one model in it. The calls are begin, feed…, end, run…. */
export class Session {
  readonly #exports: Exports;
  /** The address of `struct session`, which never moves. */
  #session = 0;
  #words: Uint32Array | undefined;
  /** Room for a piece of the file, and the given config. Both are freed at the file's end. */
  #piece = 0;
  #json = 0;
  #shape!: Shape;
  #hasTeam = false;
  /** The number of runs that kept maps. The maps of the last one are on the heap. */
  #mapRuns = 0;
  #trapped = false;

  /** @throws {VitError} code `bad_wasm`, `no_memory`, or the core's code for a bad config. */
  static async begin(source: ModelSource): Promise<Session> {
    const session = new Session(await instantiate(source.module, source.memory));
    session.#watched(() => session.#begin(source));
    return session;
  }

  private constructor(exports: Exports) {
    this.#exports = exports;
  }

  #begin({ size, config, inPairs }: ModelSource): void {
    const exports = this.#exports;
    exports._initialize?.();
    this.#session = exports.vitw_session() >>> 0;
    if (!(size >= 0 && size <= MAX_FILE_BYTES)) throw noMemory(size, "the weights");
    this.#piece = this.#alloc(PIECE_BYTES, "the weights");
    const json = new TextEncoder().encode(config);
    if (config !== undefined) this.#json = this.#alloc(json.length, "the config");
    this.#bytes(this.#json, json.length).set(json);
    this.#check(exports.vitw_begin(size, this.#json, json.length, Number(inPairs)));
  }

  /** Takes the file's next bytes. The heap, which never shrinks, never holds the whole file. */
  feed(bytes: Uint8Array): void {
    const { vitw_feed, vitw_end } = this.#exports;
    this.#watched(() => {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const part = bytes.subarray(at, at + PIECE_BYTES);
        this.#bytes(this.#piece, part.length).set(part);
        if (vitw_feed(this.#piece, part.length) !== 0) this.#check(vitw_end()); // it says why
      }
    });
  }

  /** Opens the model after the file's last byte. */
  end(): Model {
    const exports = this.#exports;
    return this.#watched(() => {
      this.#check(exports.vitw_end());
      exports.vitw_free(this.#piece);
      exports.vitw_free(this.#json);
      this.#shape = this.#readShape();
      return {
        config: this.#text(this.#word("json"), this.#word("json_size")),
        origin: this.#text(this.#word("origin"), this.#word("origin_size")),
        variant: this.#text(exports.vitw_variant()) as Variant,
        shape: this.#shape,
        memory: this.memory,
      };
    });
  }

  /** Lets helpers take part, and returns a stack for each. `threads` counts this thread, too. */
  team(threads: number): number[] {
    const { vitw_team, vitw_stack } = this.#exports;
    return this.#watched(() => {
      this.#check(vitw_team(threads, Number(maySleep())));
      this.#hasTeam = true;
      return Array.from({ length: threads - 1 }, (_, helper) => vitw_stack(helper + 1) >>> 0);
    });
  }

  /** Lets the helpers go. Maps that are read later are computed by this thread alone. */
  dismiss(): void {
    if (this.#hasTeam && !this.#trapped) this.#exports.vitw_dismiss();
    this.#hasTeam = false;
  }

  /** The size of the module's memory in bytes. */
  get memory(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  /** True once the module trapped, and so is unusable. */
  get trapped(): boolean {
    return this.#trapped;
  }

  /**
   * Runs a batch of pictures together.
   *
   * @throws {VitError} code `internal` if the module traps, or the core's code for a bad picture.
   */
  run(pictures: readonly Picture[], wants: Wants): Result[] {
    return this.#watched(() => {
      this.#compute(pictures, wants);
      return pictures.map((picture, index) => this.#result(index, picture, wants));
    });
  }

  /** Does work that calls the module. A trap becomes a VitError, and the session remembers it. */
  #watched<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof VitError) throw cause;
      this.#trapped = true;
      throw trap(cause);
    }
  }

  #compute(pictures: readonly Picture[], wants: Wants): void {
    const exports = this.#exports;
    const { length: batch } = pictures;
    const layers = isTraced(wants) ? 0 : wants.attention.length; // a trace has the maps of all layers
    if (layers > 0) this.#mapRuns++; // also if the run fails, because the maps may move
    this.#check(exports.vitw_reserve(batch, layers, Number(wants.tokens)));
    pictures.forEach((picture, index) => this.#fill(index, picture));
    check(wants.attention.every((layer) => layer >= 0 && layer < this.#shape.depth), "layers");
    check(new Set(wants.attention).size === wants.attention.length, "layers");
    const mask = this.#bytes(this.#word("layers"), this.#shape.depth).fill(0);
    for (const layer of wants.attention) mask[layer] = 1;
    this.#leaveOut(wants.without);
    if (isTraced(wants)) this.#check(exports.vitw_trace(Number(wants.trace ?? false)));
    else this.#check(exports.vitw_run(batch, Number(layers > 0), Number(wants.tokens)));
  }

  /** Sets what one run leaves out or replaces. Every run sets its own, so no run meets another's. */
  #leaveOut(without: Without | undefined): void {
    const masks = masksOf(without, this.#shape);
    this.#bytes(this.#word("without"), masks.length).set(masks);
    this.#replace(without?.replaced ?? []);
    const replaced = without?.replaced.length ?? 0;
    this.#exports.vitw_ablate(Number(without !== undefined), Number(without?.positions ?? false), replaced);
  }

  #replace(replaced: readonly Replaced[]): void {
    if (replaced.length === 0) return;
    const size = this.#shape.tokens * this.#shape.headWidth;
    const room = this.#exports.vitw_replacements(replaced.length) >>> 0;
    if (room === 0) throw noMemory(replaced.length * size * FLOAT_BYTES, "replaced rows");
    const words = new Uint32Array(this.#exports.memory.buffer, room, replaced.length * REPLACEMENT_WORDS);
    replaced.forEach(({ layer, head, part, rows }, index) => {
      check(rows.length === size, "rows");
      words.set([layer, head, part], index * REPLACEMENT_WORDS);
      this.#floats(room + words.byteLength + index * rows.byteLength, size).set(rows);
    });
  }

  #fill(index: number, picture: Picture): void {
    if ("values" in picture) {
      const { length } = picture.values;
      check(length === this.#shape.channels * this.#shape.rows * this.#shape.columns, "values");
      const images = this.#word("images") + index * length * FLOAT_BYTES;
      this.#floats(images, length).set(picture.values);
      return;
    }
    const { rows, columns } = picture;
    const channels = "points" in picture ? 1 : picture.channels;
    if ("points" in picture) this.#draw(picture);
    else {
      check(picture.pixels.length === rows * columns * channels, "pixels");
      this.#copyIn(picture.pixels);
    }
    const status = this.#exports.vitw_prepare(index, rows, columns, channels);
    this.#check(status, `${picture.name}: `);
  }

  #copyIn(pixels: Uint8Array): void {
    const room = this.#exports.vitw_pixels(pixels.length) >>> 0;
    if (room === 0) throw noMemory(pixels.length, "the pixels");
    this.#bytes(room, pixels.length).set(pixels);
  }

  /** Draws the strokes with ink, as the pixels that are then prepared. */
  #draw({ points, lengths, rows, columns }: Strokes): void {
    const { vitw_ink, vitw_points, vitw_stroke } = this.#exports;
    const count = lengths.reduce((sum, length) => sum + length, 0);
    check(lengths.every((length) => length >= 0) && points.length === count * POINT_FLOATS, "points");
    if (vitw_ink(rows, columns) === 0) throw noMemory(rows * columns, "the ink");
    let first = 0;
    for (const length of lengths) {
      const stroke = points.subarray(first, (first += length * POINT_FLOATS));
      const room = vitw_points(length) >>> 0;
      if (room === 0) throw noMemory(stroke.byteLength, "a stroke");
      this.#floats(room, stroke.length).set(stroke);
      this.#check(vitw_stroke(rows, columns, length));
    }
  }

  #result(index: number, picture: Picture, wants: Wants): Result {
    const { channels, rows, columns, classes, tokens: T, width } = this.#shape;
    const copy = (word: Floats, count: number) => this.#copy(word, index * count, count);
    const image = () => copy("images", channels * rows * columns);
    const size = this.#mapSize(wants);
    const maps = () => (wants.copied ? copy("attention", size) : this.#left(index, image(), wants));
    const input = "values" in picture ? picture.values : image();
    if (isTraced(wants)) return { input, ...this.#traced(wants) };
    return {
      input,
      logits: copy("logits", classes),
      ...(size > 0 && { attention: maps() }),
      ...(wants.tokens && { tokens: copy("tokens", T * width), pooled: copy("pooled", width) }),
    };
  }

  /** A traced run's results. Logits and maps are parts of the trace. */
  #traced(wants: Wants): Omit<Result, "input"> {
    const { depth, classes, heads, tokens: T } = this.#shape;
    const start = (name: "lens" | "attention") => traceStart(name, this.#shape);
    const size = heads * T * T;
    const logits = this.#copy("trace", start("lens") + depth * classes, classes);
    const maps = new Float32Array(this.#mapSize(wants));
    wants.attention.forEach((layer, at) => {
      maps.set(this.#copy("trace", start("attention") + layer * size, size), at * size);
    });
    return {
      logits,
      ...(maps.length > 0 && { attention: maps }),
      ...(wants.trace && { trace: this.#copy("trace", 0, traceSize(this.#shape)) }),
      ...(wants.relevance !== undefined && { relevance: this.#relevance(wants.relevance, logits) }),
    };
  }

  /** The relevance of the run that was traced last. */
  #relevance(asked: readonly number[] | number, logits: Float32Array): Relevance {
    const ranked = [...logits.keys()].sort((a, b) => logits[b]! - logits[a]!);
    const classes = typeof asked === "number" ? ranked.slice(0, asked) : asked;
    const { grid } = this.#shape;
    check(classes.length <= this.#shape.classes, "classes");
    new Uint32Array(this.#exports.memory.buffer, this.#word("asked"), classes.length).set(classes);
    this.#check(this.#exports.vitw_relevance(classes.length));
    return { classes, values: this.#copy("relevance", 0, classes.length * grid[0] * grid[1]) };
  }

  /** The maps of an image of the last run. `input` is a copy of the image that nobody changes. */
  #left(index: number, input: Float32Array<ArrayBuffer>, wants: Wants): Maps {
    const run = this.#mapRuns;
    const start = index * this.#mapSize(wants);
    return new HeapMaps({
      left: (first, count) =>
        run === this.#mapRuns ? this.#copy("attention", start + first, count) : undefined,
      again: () => this.#mapsAgain(input, wants),
    });
  }

  /**
   * Runs an image again and copies all of its maps. They have the same bits as before, because a
   * kernel's result for a row does not depend on the other rows, nor on the number of threads.
   *
   * @throws {VitError} code `internal` if the module trapped before or traps now; `no_memory`.
   */
  #mapsAgain(values: Float32Array<ArrayBuffer>, wants: Wants): Float32Array<ArrayBuffer> {
    if (this.#trapped) {
      throw new VitError(
        "internal",
        "attention: a later run took the place of these maps, and the module has failed since; " +
          "classify the image again",
      );
    }
    return this.#watched(() => {
      this.#compute([{ name: "image", values }], wants);
      return this.#copy("attention", 0, this.#mapSize(wants));
    });
  }

  /** The number of values in one image's maps. */
  #mapSize({ attention }: Wants): number {
    const { heads, tokens: T } = this.#shape;
    return attention.length * heads * T * T;
  }

  #copy(word: Floats, first: number, count: number): Float32Array<ArrayBuffer> {
    const address = this.#word(word) + first * FLOAT_BYTES;
    return this.#floats(address, count).slice();
  }

  #readShape(): Shape {
    const sizes = Object.fromEntries(SIZES.map((name) => [name, this.#word(name)])) as Record<
      (typeof SIZES)[number],
      number
    >;
    const { grid_rows, grid_columns, prefix } = sizes;
    const tokens = prefix + grid_rows * grid_columns;
    return { ...sizes, grid: [grid_rows, grid_columns], tokens, headWidth: this.#word("head_width") };
  }

  // A call of the module may grow the memory. That detaches every view, so no view is kept.

  #bytes(address: number, count: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#exports.memory.buffer, address, count);
  }

  #floats(address: number, count: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#exports.memory.buffer, address, count);
  }

  #word(name: (typeof WORDS)[number]): number {
    const { buffer } = this.#exports.memory;
    if (this.#words?.buffer !== buffer) {
      this.#words = new Uint32Array(buffer, this.#session, WORDS.length);
    }
    return this.#words[WORDS.indexOf(name)]!;
  }

  /** UTF-8 text of the given size, or up to the first zero. */
  #text(address: number, size?: number): string {
    const start = address >>> 0;
    const all = new Uint8Array(this.#exports.memory.buffer);
    const end = size === undefined ? all.indexOf(0, start) : start + size;
    return new TextDecoder().decode(all.slice(start, end)); // a copy, because it takes no shared memory
  }

  /** Allocates room on the heap. */
  #alloc(size: number, what: string): number {
    const address = this.#exports.vitw_alloc(size) >>> 0;
    if (address === 0) throw noMemory(size, what);
    return address;
  }

  #check(status: number, what = ""): void {
    if (status === 0) return;
    const code = this.#text(this.#exports.vit_status_name(status)) as VitErrorCode;
    throw new VitError(code, what + this.#text(this.#word("why")));
  }
}

/** Checks a number that C does not check. It is wrong only if images.ts has a bug. */
function check(right: boolean, what: string): void {
  if (!right) throw new VitError("internal", `${what} of another number than was said; please report this`);
}

/** Whether this thread may sleep. A page's main thread may not. */
function maySleep(): boolean {
  try {
    return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1) === "not-equal";
  } catch {
    return false;
  }
}
