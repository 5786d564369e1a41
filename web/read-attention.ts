/** Where each token of a text looked. */
import { within } from "./attention.js";

/** @internal */
export interface ReadShape {
  readonly layers: number;
  readonly heads: number;
  /** S */
  readonly texts: number;
  readonly prefix: number;
  readonly grid: readonly [rows: number, columns: number];
}

/** The attention of a decoder: of S tokens of the text to the T tokens of the image, and to each other. */
export class ReadAttention {
  readonly layers: number;
  readonly heads: number;
  /** S: as many as the text's `tokens`. */
  readonly length: number;
  readonly prefix: number;
  readonly grid: [rows: number, columns: number];
  readonly #cross: Float32Array;
  readonly #self: Float32Array;

  /** @internal @param cross (L,h,S,T) @param self (L,h,S,S) */
  constructor(cross: Float32Array, self: Float32Array, { layers, heads, texts, prefix, grid }: ReadShape) {
    this.layers = layers;
    this.heads = heads;
    this.length = texts;
    this.prefix = prefix;
    this.grid = [...grid];
    this.#cross = cross;
    this.#self = self;
    for (const fixed of [this, this.grid]) Object.freeze(fixed);
  }

  /** (S,T): row i is where the model looked in the image when it wrote token i. Rows sum to 1. */
  cross(layer: number, head: number): Float32Array {
    return this.#map(this.#cross, layer, head);
  }

  /** (S,S): row i is where it looked in what it had written, the first token included. Rows sum to 1. */
  self(layer: number, head: number): Float32Array {
    return this.#map(this.#self, layer, head);
  }

  /** (rows·columns): where it looked for token `index`; by default in the last layer, by the mean of its heads. */
  fromToken(index: number, layer: number = this.layers - 1, head: number | "mean" = "mean"): Float32Array {
    within("token", index, this.length);
    const heads = head === "mean" ? [...Array(this.heads).keys()] : [head];
    const patches = this.grid[0] * this.grid[1], tokens = this.prefix + patches, mean = new Float32Array(patches);
    for (const one of heads) {
      const row = this.cross(layer, one).subarray(index * tokens + this.prefix, (index + 1) * tokens);
      row.forEach((value, at) => (mean[at]! += value / heads.length));
    }
    return mean;
  }

  #map(maps: Float32Array, layer: number, head: number): Float32Array {
    const each = maps.length / (this.layers * this.heads);
    const at = within("layer", layer, this.layers) * this.heads + within("head", head, this.heads);
    return maps.slice(at * each, (at + 1) * each);
  }
}
