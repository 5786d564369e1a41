import { isBytes, viewOf } from "./base/bytes.js";
import { parseJson } from "./base/json.js";
import { headerLength, LENGTH_BYTES, type Tensor, writeSafetensors } from "./base/safetensors.mjs";
import { keepSelf, throughProxies } from "./base/proxy.js";
import { reason, show, takeOptions, VitError } from "./errors.js";
import type { Bytes } from "./images.js";

export interface IndexOptions {
  /** What the file says of itself, such as which model gave the vectors. Only indexes that say the same merge. */
  about?: string;
}

/** What {@link Index.search} finds. */
export interface Found {
  id: string;
  /** The cosine of both vectors: 1 for the same direction. */
  score: number;
}

/** The steps of a number's first byte, and the parts into which the second one splits each of them. */
const STEPS = 127;
const PARTS = 254;

/**
 * Vectors that are found by their direction, such as those of photos. A number takes two bytes: the first ones find the
 * candidates, and the second ones rank them.
 *
 * @example
 * const index = new Index(vit.config.width);
 * for (const photo of photos) index.add(photo.name, (await vit.embed(photo)).pooled);
 * index.search((await vit.embed(wanted)).pooled, 10); // [{ id: "cat.jpg", score: 0.98 }, …]
 */
export class Index {
  /** D: how many numbers a vector has. */
  readonly width: number;
  readonly about: string;
  readonly #ids: string[] = [];
  /** id → row */
  readonly #rows = new Map<string, number>();
  /** (rows, D), (rows, D) and (rows), with room for more. A vector of length 1 is scale · (first + second / PARTS). */
  #first = new Int8Array();
  #second = new Int8Array();
  #scales = new Float32Array();

  /** @throws {VitError} code `bad_argument`, `bad_option` or `no_memory`, as all methods. */
  constructor(width: number, options: IndexOptions = {}) {
    const { about = "" } = takeOptions("Index", options, ["about"]);
    if (typeof about !== "string") throw new VitError("bad_option", `about: expected a text, got ${show(about)}`);
    this.width = whole("width", width);
    this.about = about;
    keepSelf(this);
  }

  get size(): number {
    return this.#ids.length;
  }

  /** In the order in which they were added. */
  ids(): string[] {
    return [...this.#ids];
  }

  has(id: string): boolean {
    return this.#rows.has(id);
  }

  /** Adds a vector of any length but 0. A known id gets the new one. */
  add(id: string, vector: ArrayLike<number>): void {
    const values = directionOf(vector, this.width);
    if (typeof id !== "string") throw wrong(`id: expected a text, got ${show(id)}`);
    const at = this.#place(id);
    const first = this.#row(this.#first, at), second = this.#row(this.#second, at);
    values.forEach((value, i) => {
      first[i] = Math.round(value * STEPS);
      second[i] = Math.round((value * STEPS - first[i]!) * PARTS);
    });
    this.#scales[at] = 1 / lengthOf(this.#steps(at));
  }

  /** Adds all vectors of an index of the same width. Known ids get the new ones. */
  merge(other: Index): void {
    if (!(Object(other) === other && #rows in other)) throw wrong(`merge: expected an Index, got ${show(other)}`);
    for (const key of ["width", "about"] as const) {
      if (other[key] !== this[key]) throw wrong(`merge: expected the same ${key}, ${show(this[key])}, got ${show(other[key])}`);
    }
    other.#ids.forEach((id, from) => {
      const at = this.#place(id);
      this.#row(this.#first, at).set(other.#row(other.#first, from));
      this.#row(this.#second, at).set(other.#row(other.#second, from));
      this.#scales[at] = other.#scales[from]!;
    });
  }

  /** The nearest vectors, at most `count`, the nearest first; of equal ones, the one that was added first. */
  search(vector: ArrayLike<number>, count = 10): Found[] {
    const most = whole("count", count), scales = this.#scales;
    const query = directionOf(vector, this.width), length = lengthOf(query);
    query.forEach((value, i) => (query[i] = value / length));
    const near = this.#near(query);
    // The first byte's rounding moves a cosine by scale / √12 or so. Two scales are seven times as much.
    const floors = near.map((score, at) => score - 2 * scales[at]!).sort();
    const least = floors[Math.max(0, near.length - most)]!;
    const found: { at: number; score: number }[] = [];
    near.forEach((score, at) => {
      if (score + 2 * scales[at]! >= least) found.push({ at, score: Math.max(-1, Math.min(1, scales[at]! * dot(query, this.#steps(at)))) });
    });
    found.sort((a, b) => b.score - a.score || a.at - b.at);
    return found.slice(0, most).map(({ at, score }) => ({ id: this.#ids[at]!, score }));
  }

  /** The bytes of a safetensors file for {@link Index.load}. `vectors` · `vectors.scale` are the vectors, for other readers. */
  save(): Bytes {
    const { size, width } = this;
    const ids = new TextEncoder().encode(JSON.stringify(this.#ids));
    const tensors = new Map<string, Tensor>([
      ["vectors", { shape: [size, width], data: this.#first.subarray(0, size * width) }],
      ["vectors.second", { shape: [size, width], data: this.#second.subarray(0, size * width) }],
      ["vectors.scale", { shape: [size], data: this.#scales.subarray(0, size) }],
      ["ids", { shape: [ids.length], data: new Int8Array(ids.buffer, 0, ids.length) }],
    ]);
    return writeSafetensors({ config: { index: 1, about: this.about }, tensors });
  }

  /** @throws {VitError} code `bad_file` if the bytes are not those of a whole index. */
  static load(bytes: ArrayBuffer | ArrayBufferView): Index {
    if (!isBytes(bytes)) throw wrong(`load: expected the bytes of an index, got ${show(bytes)}`);
    try {
      return Index.#read(viewOf(bytes));
    } catch (cause) {
      throw new VitError("bad_file", `index: ${reason(cause)}`, { cause });
    }
  }

  static #read(file: Uint8Array<ArrayBuffer>): Index {
    const start = LENGTH_BYTES + headerLength(file);
    const header = parse("header", file.slice(LENGTH_BYTES, start)) as Header;
    const { index, about } = JSON.parse(header.__metadata__?.vitrine ?? "{}") as { index?: unknown; about?: string };
    const [size = NaN, width = NaN] = header["vectors"]?.shape ?? [];
    if (index !== 1) throw new Error("expected a file that Index.save wrote, got another");
    const take = <Data>(name: string, Type: { new (buffer: ArrayBuffer): Data; readonly BYTES_PER_ELEMENT: number }, ...shape: number[]) => {
      const { dtype, shape: own, data_offsets: [from = NaN, to = NaN] = [] } = header[name] ?? {};
      const bytes = shape.reduce((a, b) => a * b, Type.BYTES_PER_ELEMENT);
      const isThere = from >= 0 && Number.isSafeInteger(from) && to - from === bytes && start + to <= file.length;
      const expected = [Type.BYTES_PER_ELEMENT === 1 ? "I8" : "F32", ...shape].join();
      if (isThere && expected === [dtype, ...own!].join()) return new Type(file.slice(start + from, start + to).buffer);
      throw new Error(`${name}: expected ${expected}, whole, got ${show(dtype)},${String(own)}`);
    };
    const read = new Index(width, { about: about! });
    read.#scales = take("vectors.scale", Float32Array, size);
    read.#first = take("vectors", Int8Array, size, width);
    read.#second = take("vectors.second", Int8Array, size, width);
    const ids = parse("ids", take("ids", Int8Array, header["ids"]?.shape?.[0] ?? NaN), size + 1);
    if (!Array.isArray(ids) || ids.length !== size) throw new Error(`ids: expected a list of ${size}`);
    ids.forEach((id: unknown, at) => {
      if (typeof id !== "string" || read.has(id)) throw new Error(`ids: expected texts that differ, got ${show(id)}`);
      read.#rows.set(id, read.#ids.push(id) - 1);
      if (Math.abs(read.#scales[at]! * lengthOf(read.#steps(at)) - 1) < 1e-5) return;
      throw new Error(`vectors.scale: expected 1 / the length of ${show(id)}, got ${read.#scales[at]}`);
    });
    return read;
  }

  /** The id's row. A new one has room. */
  #place(id: string): number {
    const known = this.#rows.get(id);
    if (known !== undefined) return known;
    const { size, width } = this;
    if (size === this.#scales.length) {
      const rows = Math.max(64, 2 * size);
      const first = room(Int8Array, rows * width), second = room(Int8Array, rows * width), scales = room(Float32Array, rows);
      first.set(this.#first);
      second.set(this.#second);
      scales.set(this.#scales);
      [this.#first, this.#second, this.#scales] = [first, second, scales];
    }
    this.#rows.set(id, this.#ids.push(id) - 1);
    return size;
  }

  /** A view of one row. */
  #row(all: Int8Array<ArrayBuffer>, at: number): Int8Array<ArrayBuffer> {
    return all.subarray(at * this.width, (at + 1) * this.width);
  }

  /** A row by both of its bytes. */
  #steps(at: number): Float64Array {
    const { width } = this, first = this.#first, second = this.#second, steps = new Float64Array(width);
    for (let i = 0, from = at * width; i < width; i++) steps[i] = first[from + i]! + second[from + i]! / PARTS;
    return steps;
  }

  /** Each row's cosine by its first bytes alone. Four rows share a read of the query; at the end the last one is read again. */
  #near(query: Float64Array): Float32Array {
    const { size, width } = this, first = this.#first, scales = this.#scales, near = new Float32Array(size);
    const last = (size - 1) * width;
    for (let at = 0; at < size; at += 4) {
      const i = at * width, j = Math.min(i + width, last), k = Math.min(j + width, last), l = Math.min(k + width, last);
      let a = 0, b = 0, c = 0, d = 0;
      for (let x = 0; x < width; x++) {
        const value = query[x]!;
        a += value * first[i + x]!;
        b += value * first[j + x]!;
        c += value * first[k + x]!;
        d += value * first[l + x]!;
      }
      near[at] = a * scales[at]!;
      near[at + 1] = b * scales[at + 1]!;
      near[at + 2] = c * scales[at + 2]!;
      near[at + 3] = d * scales[at + 3]!;
    }
    return near;
  }
}

throughProxies(Index);

type Header = { readonly __metadata__?: { readonly vitrine?: string } } & Readonly<Record<string, {
  readonly dtype?: unknown;
  readonly shape?: readonly number[];
  readonly data_offsets?: readonly number[];
} | undefined>>;

const wrong = (message: string) => new VitError("bad_argument", message);

function room<Type>(Type: new (length: number) => Type, length: number): Type {
  try {
    return new Type(length);
  } catch (cause) {
    throw new VitError("no_memory", `index: expected room for ${length} numbers, got none; use several indexes`, { cause });
  }
}

const parse = (what: string, text: ArrayBufferView<ArrayBuffer>, most?: number): unknown =>
  parseJson(new TextDecoder("utf-8", { fatal: true }).decode(text), what, { code: "bad_file", ...(most && { most }) });

function whole(what: string, count: number): number {
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw wrong(`${what}: expected a whole number from 1, got ${show(count)}`);
}

/** A copy whose largest value is 1 or -1, so that no length overflows. */
function directionOf(vector: ArrayLike<number>, width: number): Float64Array {
  const isRight = vector?.length === width, values = room(Float64Array, isRight ? width : 0);
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs((values[i] = Number(vector[i]))));
  if (most > 0 && most < Infinity) return values.map((value) => value / most);
  throw wrong(`vector: expected ${width} finite numbers that are not all 0, got ${isRight ? "others" : show(vector?.length)}`);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

const lengthOf = (vector: Float64Array): number => Math.sqrt(dot(vector, vector));
