/** The only file that touches the wasm heap: src/wasm/session.c's exports, as values and copies. */
import { VitError, type VitErrorCode } from "../errors.js";
import { type Picture, POINT_FLOATS, type Strokes } from "../images.js";
import { traced } from "./lines.js";
import { HeapMaps, type Maps } from "./maps.js";
import type { CompiledModule, Variant } from "./module.js";

/** Whether this is the build of npm start -- --debug. */
declare const DEBUG: boolean;

/** What src/wasm/exports lists. */
export const EXPORTS = [
  "vitw_alloc",
  "vitw_free",
  "vitw_allocations",
  "vitw_variant",
  "vitw_session",
  "vitw_begin",
  "vitw_feed",
  "vitw_end",
  "vitw_reserve",
  "vitw_pixels",
  "vitw_ink",
  "vitw_points",
  "vitw_stroke",
  "vitw_prepare",
  "vitw_run",
  "vit_status_name",
  "vit_overlay_rollout",
] as const;

/** Of the model, by which results are laid out. */
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
] as const;

/** Those of them that hold floats. */
type Floats = "images" | "logits" | "attention" | "tokens" | "pooled";

/** What builds for threads export besides. */
const THREAD_EXPORTS = ["vitw_team", "vitw_stack", "vitw_help", "vitw_dismiss"] as const;

type Functions<Names extends readonly string[]> = Record<
  Names[number],
  (...words: number[]) => number
>;
type Exports = Functions<typeof EXPORTS> &
  Functions<typeof THREAD_EXPORTS> & {
    readonly memory: WebAssembly.Memory;
    readonly __stack_pointer: WebAssembly.Global;
    readonly _initialize?: () => void;
  };

/** Its -sINITIAL_MEMORY, and what memory is counted in. */
const INITIAL_BYTES = 2 ** 20;
const PAGE_BYTES = 2 ** 16;
const FLOAT_BYTES = 4;

/** A file goes to the module in pieces of at most this size… */
const PIECE_BYTES = 2 ** 16;
/** …and is at most as large as its addresses go. */
const MAX_FILE_BYTES = 2 ** 32 - 1;

/** What the module may ask of us; a build for threads asks for their memory too. */
const ENV = { emscripten_notify_memory_growth: () => {} };

/** A model whose file is about to come; it can be sent to a worker. */
export interface ModelSource {
  readonly module: CompiledModule;
  /** For a build for threads. */
  readonly memory: WebAssembly.Memory | undefined;
  /** Of the file, in bytes. */
  readonly size: number;
  /** JSON, in place of the file's own. */
  readonly config: string | undefined;
  /** Take int8 products in two steps, where the module can. */
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
  readonly classes: number;
}

/** What a run shall keep besides the logits. */
export interface Wants {
  /** Layers whose attention is kept, ascending. */
  readonly attention: readonly number[];
  /** The tokens after the last block and the final norm. */
  readonly tokens: boolean;
  /** Copy the attention at once: its session, or the next run, is not to be counted on. */
  readonly copied?: boolean;
}

/** One image's results: copies, but for attention that is left on the heap. */
export interface Result {
  /** (C, H, W), as it was run */
  readonly input: Float32Array<ArrayBuffer>;
  readonly logits: Float32Array<ArrayBuffer>;
  /** (layers wanted, heads, T, T) */
  readonly attention?: Float32Array<ArrayBuffer> | Maps;
  /** (T, D) */
  readonly tokens?: Float32Array<ArrayBuffer>;
  /** (D), with the tokens */
  readonly pooled?: Float32Array<ArrayBuffer>;
}

/** Whether a module is a build for threads. */
export function isThreaded(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
}

/** Memory that threads share, which may grow to so many bytes; undefined where there is none. */
export function sharedMemory(maximum: number): WebAssembly.Memory | undefined {
  const initial = INITIAL_BYTES / PAGE_BYTES;
  const pages = Math.min(Math.ceil(maximum / PAGE_BYTES), 2 ** 16);
  try {
    return new WebAssembly.Memory({ initial, maximum: pages, shared: true });
  } catch {
    return undefined;
  }
}

async function instantiate(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory | undefined,
): Promise<Exports> {
  const env = memory ? { ...ENV, memory } : ENV;
  const instance = await WebAssembly.instantiate(module, { env }).catch((cause: unknown) => {
    throw cause instanceof RangeError ? noMemory(INITIAL_BYTES, "the module") : cause;
  });
  const own = DEBUG ? traced(instance.exports, module) : instance.exports;
  return { ...own, ...(memory && { memory }) } as unknown as Exports;
}

/** Another thread's instance, which works for a session's. */
export class Helper {
  readonly #exports: Exports;

  static async join(module: WebAssembly.Module, memory: WebAssembly.Memory): Promise<Helper> {
    return new Helper(await instantiate(module, memory));
  }

  private constructor(exports: Exports) {
    this.#exports = exports;
  }

  /** Works on the stack that the session gave, and waits for work, until it is dismissed. */
  help(index: number, stack: number): void {
    this.#exports.__stack_pointer.value = stack;
    this.#exports.vitw_help(index);
  }
}

/** One instance of the module with one model in it: begun, fed, ended, then run. */
export class Session {
  readonly variant: Variant;
  /** The config as JSON, and where the file comes from: vit_model_json and vit_model_origin. */
  config!: string;
  origin!: string;
  shape!: Shape;
  readonly #exports: Exports;
  /** Where `struct session` lies, which never moves. */
  readonly #session: number;
  #words: Uint32Array | undefined;
  /** While the file comes: room for a piece of it, and the config in place of its own. */
  #piece = 0;
  #json = 0;
  #hasTeam = false;
  /** How many runs have kept maps: those of the last are on the heap. */
  #mapRuns = 0;
  #trapped = false;

  /** @throws {VitError} code `bad_wasm`, `no_memory`, or what the core says of the config. */
  static async begin(source: ModelSource): Promise<Session> {
    checkModule(source.module);
    const session = new Session(await instantiate(source.module, source.memory));
    session.#begin(source);
    return session;
  }

  private constructor(exports: Exports) {
    this.#exports = exports;
    exports._initialize?.();
    this.#session = exports.vitw_session() >>> 0;
    this.variant = this.#text(exports.vitw_variant()) as Variant;
  }

  #begin({ size, config, inPairs }: ModelSource): void {
    if (!(size >= 0 && size <= MAX_FILE_BYTES)) throw noMemory(size, "the weights");
    this.#piece = this.#alloc(PIECE_BYTES, "the weights");
    const json = new TextEncoder().encode(config);
    if (config !== undefined) this.#json = this.#alloc(json.length, "the config");
    this.#bytes(this.#json, json.length).set(json);
    this.#check(this.#exports.vitw_begin(size, this.#json, json.length, Number(inPairs)));
  }

  /** The next bytes of the file, so that the heap, which never shrinks, never holds it whole. */
  feed(bytes: Uint8Array): void {
    const { vitw_feed, vitw_end } = this.#exports;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const part = bytes.subarray(at, at + PIECE_BYTES);
      this.#bytes(this.#piece, part.length).set(part);
      if (vitw_feed(this.#piece, part.length) !== 0) this.#check(vitw_end()); // it says why
    }
  }

  /** After all bytes. */
  end(): void {
    const exports = this.#exports;
    this.#check(exports.vitw_end());
    exports.vitw_free(this.#piece);
    exports.vitw_free(this.#json);
    this.config = this.#text(this.#word("json"), this.#word("json_size"));
    this.origin = this.#text(this.#word("origin"), this.#word("origin_size"));
    this.shape = this.#shape();
  }

  /** Lets helpers take part: the stacks for them. `threads` counts this one too. */
  team(threads: number): number[] {
    const { vitw_team, vitw_stack } = this.#exports;
    this.#check(vitw_team(threads, Number(maySleep())));
    this.#hasTeam = true;
    return Array.from({ length: threads - 1 }, (_, helper) => vitw_stack(helper + 1) >>> 0);
  }

  /** Helpers may go: what is still read of maps is worked out in this thread alone. */
  dismiss(): void {
    if (this.#hasTeam && !this.#trapped) this.#exports.vitw_dismiss();
    this.#hasTeam = false;
  }

  /** What the module's memory has grown to, in bytes. */
  get memory(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  /** True once the module trapped, which leaves it unusable. */
  get trapped(): boolean {
    return this.#trapped;
  }

  /**
   * Runs a batch of pictures at once.
   *
   * @throws {VitError} code `internal` where the module traps, besides what the core says.
   */
  run(pictures: readonly Picture[], wants: Wants): Result[] {
    return this.#watched(() => {
      this.#compute(pictures, wants);
      return pictures.map((picture, index) => this.#result(index, picture, wants));
    });
  }

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
    const layers = wants.attention.length;
    if (layers > 0) this.#mapRuns++; // even if it fails: the maps may move
    this.#check(exports.vitw_reserve(batch, layers, Number(wants.tokens)));
    pictures.forEach((picture, index) => this.#fill(index, picture));
    check(wants.attention.every((layer) => layer >= 0 && layer < this.shape.depth), "layers");
    check(new Set(wants.attention).size === layers, "layers");
    const mask = this.#bytes(this.#word("layers"), this.shape.depth).fill(0);
    for (const layer of wants.attention) mask[layer] = 1;
    this.#check(exports.vitw_run(batch, Number(layers > 0), Number(wants.tokens)));
  }

  #fill(index: number, picture: Picture): void {
    if ("values" in picture) {
      const { length } = picture.values;
      check(length === this.shape.channels * this.shape.rows * this.shape.columns, "values");
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

  /** Strokes → the ink that is then prepared. */
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
    const { channels, rows, columns, classes, tokens: T, width } = this.shape;
    const copy = (word: Floats, count: number) => this.#copy(word, index * count, count);
    const image = () => copy("images", channels * rows * columns);
    const size = this.#mapSize(wants);
    const maps = () => (wants.copied ? copy("attention", size) : this.#left(index, image(), wants));
    return {
      input: "values" in picture ? picture.values : image(),
      logits: copy("logits", classes),
      ...(size > 0 && { attention: maps() }),
      ...(wants.tokens && { tokens: copy("tokens", T * width), pooled: copy("pooled", width) }),
    };
  }

  /** The maps of an image of the run just done; nobody else changes `input`, a copy of it. */
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
   * All maps of an image that was run before. Kernels give a row the same bits whatever rows are
   * beside it, so neither its batch then nor the team matters.
   *
   * @throws {VitError} code `internal` once the module trapped; `no_memory`.
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

  /** Values of one image's maps. */
  #mapSize({ attention }: Wants): number {
    const { heads, tokens: T } = this.shape;
    return attention.length * heads * T * T;
  }

  #copy(word: Floats, first: number, count: number): Float32Array<ArrayBuffer> {
    const address = this.#word(word) + first * FLOAT_BYTES;
    return this.#floats(address, count).slice();
  }

  #shape(): Shape {
    const sizes = Object.fromEntries(SIZES.map((name) => [name, this.#word(name)])) as Record<
      (typeof SIZES)[number],
      number
    >;
    const { grid_rows, grid_columns, prefix } = sizes;
    return { ...sizes, grid: [grid_rows, grid_columns], tokens: prefix + grid_rows * grid_columns };
  }

  // Memory may grow in any call, which detaches every view: none is used across one.

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

  /** UTF-8 of the given size, or up to the first zero. */
  #text(address: number, size?: number): string {
    const start = address >>> 0;
    const all = new Uint8Array(this.#exports.memory.buffer);
    const end = size === undefined ? all.indexOf(0, start) : start + size;
    return new TextDecoder().decode(all.slice(start, end)); // it takes no shared memory
  }

  /** Room on the wasm heap, to be freed. */
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

/** Numbers that C takes our word for. images.ts has seen to them. */
function check(right: boolean, what: string): void {
  if (!right) throw new VitError("internal", `${what} of another number than was said; please report this`);
}

/** A trap in the module is our error, not the caller's, and leaves the instance unusable. */
export function trap(cause: unknown): VitError {
  return new VitError(
    "internal",
    `the WebAssembly module failed (${String(cause)}); the next call starts it anew; ` +
      "please report this",
    { cause },
  );
}

function noMemory(size: number, what: string): VitError {
  const wanted = `${(size / 2 ** 20).toFixed(1)} MiB of WebAssembly memory`;
  return new VitError(
    "no_memory",
    `expected ${wanted} for ${what}, got none; use something smaller`,
  );
}

/** Whether this thread may sleep: a page's own may not. */
function maySleep(): boolean {
  try {
    return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1) === "not-equal";
  } catch {
    return false;
  }
}

/** Says what differs where a module is not one of ours, before the engine does it in riddles. */
function checkModule(module: WebAssembly.Module): void {
  const threads = isThreaded(module);
  const known = [...Object.keys(ENV), ...(threads ? ["memory"] : [])];
  const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  const wrong =
    WebAssembly.Module.imports(module)
      .filter(({ module: space, name }) => space !== "env" || !known.includes(name))
      .map(({ module: space, name }) => `it imports ${space}.${name}`)[0] ??
    [...EXPORTS, ...(threads ? THREAD_EXPORTS : [])]
      .filter((name) => !exported.has(name))
      .map((name) => `it does not export ${name}`)[0];
  if (wrong === undefined) return;
  throw new VitError(
    "bad_wasm",
    `wasm: expected a module of this version of vitrine, but ${wrong}; use the one beside vit.js`,
  );
}
