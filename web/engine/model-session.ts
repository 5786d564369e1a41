/** Calls the functions of src/wasm/session.c. It gives values and copies. */
import { VitError } from "../errors.js";
import { SESSION_WORDS, SIZES } from "../generated/words.js";
import type { Picture, Placement } from "../images.js";
import { assertInternal, FLOAT_BYTES } from "./heap.js";
import { type Functions, HEAP_EXPORTS, type HeapExports, instantiate, noMemory, type ThreadExports } from "./instance.js";
import { HeapMaps, type Maps } from "./maps.js";
import { isTraced, type Model, type Relevance, type Result, type Wants } from "./model.js";
import { type ModuleSource, Session } from "./session.js";
import type { Shape } from "./shape.js";
import { traceSize, traceStart } from "./trace.js";
import { masksOf, type Replaced, type Without } from "./without.js";

/** The functions in src/wasm/exports. */
export const EXPORTS = [
  ...HEAP_EXPORTS,
  "vitw_resize",
  "vitw_reserve",
  "vitw_prepare",
  "vitw_run",
  "vitw_trace",
  "vitw_ablate",
  "vitw_replacements",
  "vitw_relevance",
  "vitw_project",
] as const;

/** The functions in src/wasm/exports.text, which only the full edition has. */
type TextExports = Functions<["vitw_text", "vitw_ids", "vitw_force", "vitw_write", "vitw_step", "vitw_embed"]>;

type Exports = HeapExports & Functions<typeof EXPORTS> & ThreadExports;

/** The words that are addresses of floats. */
type Floats = "images" | "logits" | "attention" | "tokens" | "pooled" | "views" | "trace" | "relevance";

/** What the module computed for an image. */
type Values = Omit<Result, "milliseconds" | "memory">;

/** The words of src/vit.h's `vit_replacement`: layer, head, part, rows. */
const REPLACEMENT_WORDS = 4;

/** The doubles of src/vit.h's `vit_placement`: left, top, width, height. */
const PLACEMENT_DOUBLES = 4;

/** A session that runs a model. */
export class ModelSession extends Session<(typeof SESSION_WORDS)[number], Exports> {
  /** Of the last run. */
  #shape!: Shape;
  /** The number of runs that stored maps. The maps of the last one are on the heap. */
  #mapRuns = 0;

  /** @throws {VitError} code `bad_wasm`, `no_memory` or `internal`. */
  static async open({ module, memory, inPairs }: ModuleSource): Promise<ModelSession> {
    return new ModelSession(await instantiate<Exports>(module, memory, EXPORTS), SESSION_WORDS, Number(inPairs));
  }

  /** @throws {VitError} the core's code for a bad file or config. */
  end(): Model {
    const { heap } = this;
    return heap.watched(() => {
      heap.end();
      this.#shape = this.#readShape();
      return {
        config: heap.text(heap.word("json"), heap.word("json_size")),
        variant: this.variant(),
        shape: this.#shape,
        memory: heap.size,
      };
    });
  }

  /**
   * Runs a batch of pictures together.
   *
   * @throws {VitError} code `internal` if the module traps, or the core's code for a bad picture.
   */
  run(pictures: readonly Picture[], wants: Wants): Result[] {
    const start = performance.now();
    const results = this.heap.watched(() => {
      this.#compute(pictures, wants);
      return pictures.map((picture, index) => this.#result(index, picture, wants));
    });
    const milliseconds = (performance.now() - start) / pictures.length;
    const memory = this.heap.size;
    return results.map((result) => ({ ...result, milliseconds, memory }));
  }

  /**
   * Calls a function of src/wasm/text.c with token ids.
   *
   * @param outputs words of src/wasm/text.def by their positions, each with how many numbers its address has; 0: it is no address
   * @returns their numbers, whose bits may be floats'
   */
  text(
    call: keyof TextExports,
    args: readonly number[],
    ids: Uint32Array,
    outputs: readonly (readonly [word: number, count: number])[],
  ): Uint32Array<ArrayBuffer>[] {
    const exports = this.exports as Exports & TextExports;
    const numbers = (address: number, count?: number) => new Uint32Array(exports.memory.buffer, address >>> 0, count);
    return this.heap.watched(() => {
      const room = ids.length && exports.vitw_ids(ids.length);
      if (room) numbers(room).set(ids); // without room, the call says that it lacks the ids
      this.heap.check(exports[call](...args));
      const words = numbers(exports.vitw_text());
      return outputs.map(([word, count]) => (count ? numbers(words[word]!, count) : words.subarray(word, word + 1)).slice());
    });
  }

  #compute(pictures: readonly Picture[], wants: Wants): void {
    const exports = this.exports;
    const { length: batch } = pictures;
    const layers = isTraced(wants) ? 0 : wants.attention.length; // a trace has the maps of all layers
    this.#resize(wants.size);
    if (layers > 0) this.#mapRuns++; // also if the run fails, because the maps may move
    this.heap.check(exports.vitw_reserve(batch, layers, Number(wants.tokens)));
    pictures.forEach((picture, index) => this.#fill(index, picture));
    assertInternal(wants.attention.every((layer) => layer >= 0 && layer < this.#shape.depth), "layers");
    assertInternal(new Set(wants.attention).size === wants.attention.length, "layers");
    const mask = this.heap.bytes(this.heap.word("layers"), this.#shape.depth).fill(0);
    for (const layer of wants.attention) mask[layer] = 1;
    this.#ablate(wants.without);
    if (isTraced(wants)) this.heap.check(exports.vitw_trace(Number(wants.trace ?? false)));
    else this.heap.check(exports.vitw_run(batch, Number(layers > 0), Number(wants.tokens)));
  }

  #resize([rows, columns]: Wants["size"]): void {
    if (rows === this.#shape.rows && columns === this.#shape.columns) return;
    this.heap.check(this.exports.vitw_resize(rows, columns));
    this.#shape = this.#readShape();
  }

  /** Sets what one run leaves out or replaces. Every run sets its own, so none inherits another's. */
  #ablate(without: Without | undefined): void {
    const masks = masksOf(without, this.#shape);
    this.heap.bytes(this.heap.word("without"), masks.length).set(masks);
    this.#replace(without?.replaced ?? []);
    const replaced = without?.replaced.length ?? 0;
    this.exports.vitw_ablate(Number(without !== undefined), Number(without?.positions ?? false), replaced);
  }

  #replace(replaced: readonly Replaced[]): void {
    if (replaced.length === 0) return;
    const size = this.#shape.tokens * this.#shape.headWidth;
    const room = this.exports.vitw_replacements(replaced.length) >>> 0;
    if (room === 0) throw noMemory(replaced.length * size * FLOAT_BYTES, "replaced rows");
    const words = new Uint32Array(this.exports.memory.buffer, room, replaced.length * REPLACEMENT_WORDS);
    replaced.forEach(({ layer, head, part, rows }, index) => {
      assertInternal(rows.length === size, "rows");
      words.set([layer, head, part], index * REPLACEMENT_WORDS);
      this.heap.floats(room + words.byteLength + index * rows.byteLength, size).set(rows);
    });
  }

  #fill(index: number, picture: Picture): void {
    if ("values" in picture) {
      const { length } = picture.values;
      assertInternal(length === this.#shape.channels * this.#shape.rows * this.#shape.columns, "values");
      const images = this.heap.word("images") + index * length * FLOAT_BYTES;
      this.heap.floats(images, length).set(picture.values);
      return;
    }
    const { rows, columns, channels } = this.heap.copyIn(picture);
    const { unfinished = 0 } = picture;
    this.heap.check(this.exports.vitw_prepare(index, rows, columns, channels, unfinished), `${picture.name}: `);
  }

  #result(index: number, picture: Picture, wants: Wants): Values {
    const { channels, rows, columns, logits, tokens: T, width } = this.#shape;
    const copy = (word: Floats, count: number) => this.#copy(word, index * count, count);
    const image = () => copy("images", channels * rows * columns);
    const size = this.#mapSize(wants);
    const maps = () => (wants.copied ? copy("attention", size) : this.#lazyMaps(index, image(), wants));
    const prepared = "values" in picture;
    const about = {
      ...(!wants.bare && { input: prepared ? picture.values : image() }),
      placement: prepared ? { left: 0, top: 0, width: columns, height: rows } : this.#placement(index),
    };
    if (isTraced(wants)) return { ...about, ...this.#traced(wants) };
    return {
      ...about,
      logits: copy("logits", logits),
      ...(size > 0 && { attention: maps() }),
      ...(wants.views && { views: this.#views(index) }),
      ...(wants.tokens && { tokens: copy("tokens", T * width), pooled: copy("pooled", width) }),
      ...(wants.projected && this.#projected(index)),
    };
  }

  #placement(index: number): Placement {
    const size = PLACEMENT_DOUBLES * Float64Array.BYTES_PER_ELEMENT;
    const bytes = this.heap.bytes(this.heap.word("placements") + index * size, size).slice();
    const [left, top, width, height] = new Float64Array(bytes.buffer) as unknown as [number, number, number, number];
    return { left, top, width, height };
  }

  #projected(index: number): Pick<Values, "projected"> | undefined {
    const { tokens: T, prefix, logits } = this.#shape, start = this.exports.vitw_project(index) >>> 0;
    return start ? { projected: this.heap.floats(start, (T - prefix) * logits).slice() } : undefined;
  }

  #views(index: number): Float32Array<ArrayBuffer> {
    const { heads, prefix, tokens: T, detections } = this.#shape;
    const rows = this.#copy("views", index * heads * prefix * T, heads * prefix * T), N = T - prefix;
    return Float32Array.from({ length: detections * N }, (_, at) => {
      const row = prefix - detections + Math.floor(at / N);
      let sum = 0;
      for (let head = 0; head < heads; head++) sum += rows[(head * prefix + row) * T + prefix + (at % N)]!;
      return sum / heads;
    });
  }

  /** A traced run's results. Logits and maps are parts of the trace. */
  #traced(wants: Wants): Omit<Values, "input" | "placement"> {
    const { depth, logits: count, heads, tokens: T } = this.#shape;
    const start = (name: "lens" | "attention") => traceStart(name, this.#shape);
    const size = heads * T * T;
    const logits = this.#copy("trace", start("lens") + depth * count, count);
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
  #relevance(request: readonly number[] | number, logits: Float32Array): Relevance {
    const { grid, classes: count } = this.#shape;
    const ranked = [...logits.keys()].slice(0, count).sort((a, b) => logits[b]! - logits[a]!);
    const classes = typeof request === "number" ? ranked.slice(0, request) : request;
    assertInternal(classes.length <= count, "classes");
    new Uint32Array(this.exports.memory.buffer, this.heap.word("relevance_classes"), classes.length).set(classes);
    this.heap.check(this.exports.vitw_relevance(classes.length));
    return { classes, values: this.#copy("relevance", 0, classes.length * grid[0] * grid[1]) };
  }

  /** The last run's maps of an image. They are copied when they are read. `input` is a copy that nobody changes. */
  #lazyMaps(index: number, input: Float32Array<ArrayBuffer>, wants: Wants): Maps {
    const run = this.#mapRuns;
    const start = index * this.#mapSize(wants);
    return new HeapMaps({
      copy: (first, count) =>
        run === this.#mapRuns ? this.#copy("attention", start + first, count) : undefined,
      recompute: () => this.#recomputeMaps(input, wants),
    });
  }

  /**
   * Runs an image again and copies all of its maps. They have the same bits as before, because a
   * kernel's result for a row does not depend on the other rows, nor on the number of threads.
   *
   * @throws {VitError} code `internal` if the module trapped before or traps now; `no_memory`.
   */
  #recomputeMaps(values: Float32Array<ArrayBuffer>, wants: Wants): Float32Array<ArrayBuffer> {
    if (this.heap.trapped) {
      throw new VitError(
        "internal",
        "attention: a later run replaced these maps, and the module has failed since; " +
          "classify the image again",
      );
    }
    return this.heap.watched(() => {
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
    const address = this.heap.word(word) + first * FLOAT_BYTES;
    return this.heap.floats(address, count).slice();
  }

  #readShape(): Shape {
    const sizes = Object.fromEntries(SIZES.map((name) => [name, this.heap.word(name)])) as Record<
      (typeof SIZES)[number],
      number
    >;
    const { grid_rows, grid_columns, prefix, head_width: headWidth, logit_count: logits } = sizes;
    const tokens = prefix + grid_rows * grid_columns;
    return { ...sizes, grid: [grid_rows, grid_columns], tokens, headWidth, logits };
  }
}
