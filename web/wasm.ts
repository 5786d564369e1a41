/** The only file that touches the wasm heap: src/wasm.c's exports, as values and copies. */
import { VitError, type VitErrorCode } from "./errors.js";
import type { Picture } from "./images.js";
import type { Variant } from "./module.js";

/** What src/wasm.exports lists. */
export const EXPORTS = [
  "vitw_alloc",
  "vitw_free",
  "vitw_allocations",
  "vitw_variant",
  "vitw_session",
  "vitw_open",
  "vitw_reserve",
  "vitw_pixels",
  "vitw_prepare",
  "vitw_run",
  "vit_status_name",
  "vit_overlay_rollout",
] as const;

/** The words of src/wasm.c's `struct session`, in its order. */
export const WORDS = [
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
  "json",
  "json_size",
  "images",
  "logits",
  "attention",
  "tokens",
  "layers",
  "why",
] as const;

type Exports = Record<(typeof EXPORTS)[number], (...words: number[]) => number> & {
  readonly memory: WebAssembly.Memory;
  readonly _initialize?: () => void;
};

/** Its -sINITIAL_MEMORY. */
const INITIAL_BYTES = 2 ** 20;

/** What the module may ask of us. */
const IMPORTS = { env: { emscripten_notify_memory_growth: () => {} } };

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
}

/** One image's results: copies. */
export interface Result {
  /** (C, H, W), as it was run */
  readonly input: Float32Array<ArrayBuffer>;
  readonly logits: Float32Array<ArrayBuffer>;
  /** (layers wanted, heads, T, T) */
  readonly attention?: Float32Array<ArrayBuffer>;
  /** (T, D) */
  readonly tokens?: Float32Array<ArrayBuffer>;
}

/** One instance of the module with one model open in it. */
export class Session {
  readonly variant: Variant;
  /** The config as JSON. */
  readonly config: string;
  readonly shape: Shape;
  readonly #exports: Exports;
  /** Where `struct session` lies, which never moves. */
  readonly #session: number;

  /** @throws {VitError} code `bad_wasm`, `no_memory`, or what the core says of the file. */
  static async open(
    module: WebAssembly.Module,
    weights: ArrayBuffer,
    config?: string,
  ): Promise<Session> {
    checkModule(module);
    const instance = await WebAssembly.instantiate(module, IMPORTS).catch((cause: unknown) => {
      throw cause instanceof RangeError ? noMemory(INITIAL_BYTES, "the module") : cause;
    });
    return new Session(instance.exports as unknown as Exports, weights, config);
  }

  private constructor(exports: Exports, weights: ArrayBuffer, config?: string) {
    this.#exports = exports;
    exports._initialize?.();
    this.#session = exports.vitw_session() >>> 0;
    this.variant = this.#text(exports.vitw_variant()) as Variant;
    const file = this.#put(new Uint8Array(weights));
    const json = new TextEncoder().encode(config);
    const text = config === undefined ? 0 : this.#put(json);
    this.#check(exports.vitw_open(file, weights.byteLength, text, json.length));
    exports.vitw_free(file);
    exports.vitw_free(text);
    this.config = this.#text(this.#word("json"), this.#word("json_size"));
    this.shape = this.#shape();
  }

  /** Runs a batch of pictures at once. */
  run(pictures: readonly Picture[], wants: Wants): Result[] {
    const exports = this.#exports;
    const { length: batch } = pictures;
    const layers = wants.attention.length;
    this.#check(exports.vitw_reserve(batch, layers, Number(wants.tokens)));
    pictures.forEach((picture, index) => this.#fill(index, picture));
    const mask = this.#bytes(this.#word("layers"), this.shape.depth).fill(0);
    for (const layer of wants.attention) mask[layer] = 1;
    this.#check(exports.vitw_run(batch, Number(layers > 0), Number(wants.tokens)));
    return pictures.map((_, index) => this.#result(index, wants));
  }

  #fill(index: number, picture: Picture): void {
    if ("values" in picture) {
      const { length } = picture.values;
      const images = this.#word("images") + index * length * Float32Array.BYTES_PER_ELEMENT;
      this.#floats(images, length).set(picture.values);
      return;
    }
    const { pixels, rows, columns, channels } = picture;
    const room = this.#exports.vitw_pixels(pixels.length) >>> 0;
    if (room === 0) throw noMemory(pixels.length, "the pixels");
    this.#bytes(room, pixels.length).set(pixels);
    const status = this.#exports.vitw_prepare(index, rows, columns, channels);
    this.#check(status, `${picture.name}: `);
  }

  #result(index: number, wants: Wants): Result {
    const { channels, rows, columns, classes, tokens: T, heads, width } = this.shape;
    const copy = (word: "images" | "logits" | "attention" | "tokens", count: number) =>
      this.#floats(
        this.#word(word) + index * count * Float32Array.BYTES_PER_ELEMENT,
        count,
      ).slice();
    const layers = wants.attention.length;
    return {
      input: copy("images", channels * rows * columns),
      logits: copy("logits", classes),
      ...(layers > 0 && { attention: copy("attention", layers * heads * T * T) }),
      ...(wants.tokens && { tokens: copy("tokens", T * width) }),
    };
  }

  #shape(): Shape {
    const grid = [this.#word("grid_rows"), this.#word("grid_columns")] as const;
    const prefix = this.#word("prefix");
    return {
      channels: this.#word("channels"),
      rows: this.#word("rows"),
      columns: this.#word("columns"),
      grid,
      prefix,
      tokens: prefix + grid[0] * grid[1],
      width: this.#word("width"),
      depth: this.#word("depth"),
      heads: this.#word("heads"),
      classes: this.#word("classes"),
    };
  }

  // Memory may grow in any call, which detaches every view: each is made anew and used at once.

  #bytes(address: number, count: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#exports.memory.buffer, address, count);
  }

  #floats(address: number, count: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#exports.memory.buffer, address, count);
  }

  #word(name: (typeof WORDS)[number]): number {
    const words = new Uint32Array(this.#exports.memory.buffer, this.#session, WORDS.length);
    return words[WORDS.indexOf(name)]!;
  }

  /** UTF-8 of the given size, or up to the first zero. */
  #text(address: number, size?: number): string {
    const start = address >>> 0;
    const all = new Uint8Array(this.#exports.memory.buffer);
    return new TextDecoder().decode(
      all.subarray(start, size === undefined ? all.indexOf(0, start) : start + size),
    );
  }

  /** A copy on the wasm heap, to be freed. */
  #put(bytes: Uint8Array): number {
    const address = this.#exports.vitw_alloc(bytes.length) >>> 0;
    if (address === 0) throw noMemory(bytes.length, "the weights");
    this.#bytes(address, bytes.length).set(bytes);
    return address;
  }

  #check(status: number, what = ""): void {
    if (status === 0) return;
    const code = this.#text(this.#exports.vit_status_name(status)) as VitErrorCode;
    throw new VitError(code, what + this.#text(this.#word("why")));
  }
}

function noMemory(size: number, what: string): VitError {
  const wanted = `${(size / 2 ** 20).toFixed(1)} MiB of WebAssembly memory`;
  return new VitError(
    "no_memory",
    `expected ${wanted} for ${what}, got none; use something smaller`,
  );
}

/** Says what differs where a module is not one of ours, before the engine does it in riddles. */
function checkModule(module: WebAssembly.Module): void {
  const wrong =
    WebAssembly.Module.imports(module)
      .filter(({ module: space, name }) => space !== "env" || !Object.hasOwn(IMPORTS.env, name))
      .map(({ module: space, name }) => `it imports ${space}.${name}`)[0] ??
    EXPORTS.filter(
      (name) => !WebAssembly.Module.exports(module).some((given) => given.name === name),
    ).map((name) => `it does not export ${name}`)[0];
  if (wrong === undefined) return;
  throw new VitError(
    "bad_wasm",
    `wasm: expected a module of this version of vitrine, but ${wrong}; use the one beside vit.js`,
  );
}
