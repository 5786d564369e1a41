import { keepSelf, throughProxies } from "./base/proxy.js";
import { hasOwn, show, takeOptions, VitError } from "./errors.js";
import { inMemory, type Maps } from "./engine/maps.js";
import type { Relevance } from "./engine/model.js";

/** A head's index, or the mean of all heads. */
export type Head = number | "mean";

/** The sizes of a run's attention maps. */
export interface AttentionShape {
  readonly layers: number;
  readonly heads: number;
  /** Tokens before the patches: the class token first, where there is one. */
  readonly prefix: number;
  readonly grid: readonly [rows: number, columns: number];
  /** The config's `residual`. If it is false, the rollout adds no identity. True by default. */
  readonly residual?: boolean | undefined;
}

export interface RolloutOptions {
  /** Drops this share of each row, its smallest values: 0 to 1. 0 by default. */
  discard?: number;
  /** Merges the heads of a layer. `"mean"` by default, as in the paper. */
  fuse?: "mean" | "max" | "min";
}

const { fround } = Math;

const FUSE: Readonly<Record<string, (a: number, b: number) => number>> = {
  mean: (a, b) => a + b,
  max: (a, b) => Math.max(a, b),
  min: (a, b) => Math.min(a, b),
};

/**
 * Which token attended to which in one run. Every method returns a copy. A heat map is
 * (grid rows, grid columns), row by row.
 *
 * Maps are copied only when they are read. Without a worker, the model's memory holds the maps of
 * one run: the last one that kept maps. Reading an older run's maps runs its image again, once,
 * and gives the same bits. For this an Attention keeps a copy of its image and the model's memory,
 * even after `dispose()`. Both are freed when the Attention is collected.
 *
 * @example
 * const { attention } = await vit.classify(image, { attention: true });
 * attention.fromClass();          // the class token's view of the patches, last layer
 * attention.fromPatch(3, 3, 0);   // the view of the patch in row 3, column 3, first layer
 * attention.rollout();            // how much of each patch reached the class token
 * attention.relevance("7");       // how much each patch supports "7"; needs the option relevance
 */
export class Attention {
  /** L: all layers of the model, including those whose maps were not kept. */
  readonly layers: number;
  readonly heads: number;
  /** T: prefix tokens, then patches row by row. */
  readonly tokens: number;
  readonly prefix: number;
  readonly grid: [rows: number, columns: number];
  /** The layers whose maps were kept, ascending. */
  readonly kept: readonly number[];
  readonly #maps: Maps;
  readonly #residual: boolean;
  readonly #relevance: (Relevance & { labels: readonly string[] }) | undefined;

  /** @param maps (kept layers, heads, tokens, tokens) */
  constructor(maps: Float32Array, kept: readonly number[], shape: AttentionShape);
  /** @internal */
  constructor(
    maps: Float32Array | Maps,
    kept: readonly number[],
    shape: AttentionShape,
    relevance?: Relevance & { labels: readonly string[] },
  );
  constructor(
    maps: Float32Array | Maps,
    kept: readonly number[],
    shape: AttentionShape,
    relevance?: Relevance & { labels: readonly string[] },
  ) {
    this.layers = shape.layers;
    this.heads = shape.heads;
    this.prefix = shape.prefix;
    this.grid = [...shape.grid];
    this.tokens = shape.prefix + shape.grid[0] * shape.grid[1];
    this.kept = [...kept];
    this.#maps = "read" in maps ? maps : inMemory(maps);
    this.#residual = shape.residual ?? true;
    this.#relevance = relevance;
    keepSelf(this);
    // These decide where the maps are read in the heap.
    for (const fixed of [this, this.grid, this.kept]) Object.freeze(fixed);
  }

  /**
   * One head's whole map (T,T). Row i is token i's attention to all tokens; it sums to 1.
   *
   * @throws {VitError} code `bad_argument`: no such head, or a layer that was not kept. Every
   *   method can throw `internal` or `no_memory` when running the image again fails.
   */
  at(layer: number, head: Head): Float32Array {
    return this.#rows(layer, head, 0, this.tokens);
  }

  /** Some rows (count,T) of a head's map. Only they are copied. */
  #rows(layer: number, head: Head, row: number, count: number): Float32Array {
    const { tokens: T, heads } = this;
    const first = this.#layer(layer) * heads;
    const read = (index: number) => this.#maps.read(((first + index) * T + row) * T, count * T);
    if (head !== "mean") return read(within("head", head, heads));
    const maps = Array.from({ length: heads }, (_, index) => read(index));
    const mean = new Float32Array(count * T);
    for (let i = 0; i < mean.length; i++) {
      let sum = 0;
      for (const map of maps) sum += map[i]!;
      mean[i] = sum / heads;
    }
    return mean;
  }

  /**
   * The class token's attention to the patches. A model without prefix tokens gives the mean
   * over all patches.
   *
   * @param layer by default the last layer that was kept.
   * @throws {VitError} code `bad_argument`.
   */
  fromClass(layer = this.kept[this.kept.length - 1]!, head: Head = "mean"): Float32Array {
    return this.#patches(this.#rows(layer, head, 0, this.prefix > 0 ? 1 : this.tokens));
  }

  /**
   * A prefix token's attention to the patches: 0 is the class token; an object that `detect` found has its token.
   *
   * @throws {VitError} code `bad_argument`.
   */
  fromPrefix(token: number, layer = this.kept[this.kept.length - 1]!, head: Head = "mean"): Float32Array {
    return this.#patches(this.#rows(layer, head, within("token", token, this.prefix), 1));
  }

  /**
   * One patch's attention to the patches.
   *
   * @throws {VitError} code `bad_argument`.
   */
  fromPatch(
    row: number,
    column: number,
    layer = this.kept[this.kept.length - 1]!,
    head: Head = "mean",
  ): Float32Array {
    const [rows, columns] = this.grid;
    const patch = within("row", row, rows) * columns + within("column", column, columns);
    return this.#patches(this.#rows(layer, head, this.prefix + patch, 1));
  }

  /**
   * Attention rollout (Abnar & Zuidema, arXiv:2005.00928, section 3): how much of each patch
   * reaches the class token through all layers. A model without prefix tokens gives the mean over
   * all patches.
   *
   * @throws {VitError} code `bad_argument`: not every layer was kept, or a value out of range;
   *   `bad_option`.
   */
  rollout(options: RolloutOptions = {}): Float32Array {
    const { discard = 0, fuse = "mean" } = takeOptions("rollout", options, ["discard", "fuse"]);
    if (!(typeof discard === "number" && discard >= 0 && discard <= 1)) {
      throw new VitError("bad_argument", `discard: expected 0 to 1, got ${show(discard)}`);
    }
    if (!(typeof fuse === "string" && hasOwn(FUSE, fuse))) {
      throw new VitError("bad_argument", `fuse: expected mean, max or min, got ${show(fuse)}`);
    }
    if (this.kept.length !== this.layers) {
      throw new VitError(
        "bad_argument",
        `rollout: expected all ${this.layers} layers, got ${this.kept.join(", ") || "none"}; ` +
          "classify with attention: true",
      );
    }
    const { tokens: T, heads, prefix } = this;
    const drop = Math.min(Math.floor(fround(discard) * T + 0.5), T - 1);
    // One row of the product of all layers, from the last layer back.
    let mix = new Float32Array(T).fill(prefix > 0 ? 0 : 1 / T);
    if (prefix > 0) mix[0] = 1;
    for (let layer = this.layers - 1; layer >= 0; layer--) {
      const size = heads * T * T;
      const maps = this.#maps.read(layer * size, size);
      const next = new Float32Array(T);
      for (let i = 0; i < T; i++) {
        if (mix[i] === 0) continue;
        const row = this.#mixingRow(maps, i, drop, fuse);
        for (let j = 0; j < T; j++) next[j]! += fround(mix[i]! * row[j]!);
      }
      mix = next;
    }
    const map = mix.subarray(prefix);
    const sum = total(map);
    return map.map((value) => (sum > 0 ? value / sum : 0));
  }

  /**
   * How much each patch supports a class, by gradient × attention. In each layer A is the mean over
   * the heads of the positive part of attention times the gradient of the class's logit by it. R
   * starts as the identity and becomes R + A·R, layer by layer; A·R without residual connections. The
   * map is the class token's row of R: Chefer, Gur and Wolf, arXiv:2103.15679, section 3, equations 5
   * and 6, the successor of their arXiv:2012.09838 that needs no layer-wise relevance propagation. With
   * a distillation token, and in a model that pools the mean, it is the mean of the rows that the head
   * reads, minus the identity. Values are 0 or more, and only their proportions have a meaning.
   *
   * @param of a class that `classify`'s option `relevance` named, by its number or its label.
   * @throws {VitError} code `bad_argument`: a class that the option `relevance` did not name.
   * @example
   * const { attention } = await vit.classify(image, { relevance: ["7", "1"] });
   * attention.relevance("1");       // what supports a 1, even if the answer is 7
   */
  relevance(of: number | string): Float32Array {
    const { classes = [], labels = [], values } = this.#relevance ?? {};
    const at = classes.indexOf(typeof of === "string" ? labels.indexOf(of) : of);
    const size = this.tokens - this.prefix;
    if (values && at >= 0) return values.slice(at * size, (at + 1) * size);
    throw new VitError(
      "bad_argument",
      `relevance: expected a class from classify's relevance option (${classes.join(", ") || "none"}), got ` +
        `${show(of)}; add it there`,
    );
  }

  /**
   * Token i's mixture in a layer of `maps` (heads, T, T): the share of every token, including its own.
   * Steps and rounding are those of src/stages/overlay.c.
   */
  #mixingRow(maps: Float32Array, i: number, drop: number, fuse: string): Float32Array {
    const { tokens: T, heads } = this;
    const row = maps.slice(i * T, (i + 1) * T);
    for (let head = 1; head < heads; head++) {
      for (let j = 0; j < T; j++) {
        row[j] = FUSE[fuse]!(row[j]!, maps[(head * T + i) * T + j]!);
      }
    }
    if (fuse === "mean") for (let j = 0; j < T; j++) row[j]! /= heads;
    if (drop > 0) {
      const columns = Array.from({ length: T - 1 }, (_, column) => column + 1);
      columns.sort((a, b) => row[a]! - row[b]! || a - b);
      for (const column of columns.slice(0, drop)) row[column] = 0;
    }
    if (this.#residual) row[i]! += 1;
    const sum = total(row);
    return row.map((value) => value / (sum || 1));
  }

  /** The mean of some rows (count,T) of a map, patches only. */
  #patches(rows: Float32Array): Float32Array {
    const { tokens: T, prefix } = this;
    const heat = new Float32Array(T - prefix);
    for (let patch = 0; patch < heat.length; patch++) {
      let sum = 0;
      for (let row = prefix + patch; row < rows.length; row += T) sum += rows[row]!;
      heat[patch] = sum / (rows.length / T);
    }
    return heat;
  }

  #layer(layer: number): number {
    const index = this.kept.indexOf(within("layer", layer, this.layers));
    if (index >= 0) return index;
    throw new VitError(
      "bad_argument",
      `layer: expected one from classify's attention option (${this.kept.join(", ")}), got ${show(layer)}; ` +
        "add it there",
    );
  }
}

throughProxies(Attention);

/** @internal The index, checked. */
export function within(name: string, index: number, count: number): number {
  if (Number.isInteger(index) && index >= 0 && index < count) return index;
  throw new VitError("bad_argument", `${name}: expected 0 to ${count - 1}, got ${show(index)}`);
}

/** A sum in single precision, as overlay.c computes it. */
function total(values: Float32Array): number {
  return values.reduce((sum, value) => fround(sum + value), 0);
}
