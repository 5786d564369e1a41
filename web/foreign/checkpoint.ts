/** Finds a file's family, and the tensors that make a parameter of ours. */
import type { Piece } from "../base/bytes.js";
import { isObject, type Json } from "../base/json.js";
import type { Origin } from "../config.js";
import { hasOwn, show } from "../errors.js";
import { FAMILIES } from "./families.js";
import type { Appended, Family, Tensor, Tensors } from "./family.js";
import { Refusal } from "./refusal.js";
import { TIMM } from "./timm.js";

/** A file's header, of web/load/header.ts. */
export interface Header {
  readonly tensors: Json | undefined;
  readonly metadata: unknown;
  readonly bytes: number;
  readonly size: number;
}

/** A part of web/load/incoming.ts. */
export interface Pieces {
  readonly size: number;
  take(): Promise<Piece | undefined>;
  cancel(): void;
}

/** A part of web/load/source.ts. */
export interface SourceStream {
  readonly size: number;
  readonly body: ReadableStream<Piece>;
}

/** A model as the core opens it. */
export interface Foreign {
  readonly config: Json;
  /** JSON for the core: the tensors of each parameter. */
  readonly map: string | undefined;
  readonly origin: Origin;
  /** The file under our names, if it had to be written anew. */
  readonly written?: Blob;
  /** Reads the file with further tensors, if some have to be made. */
  readonly append?: (file: Pieces) => SourceStream;
}

export const TYPE_BYTES: Readonly<Record<string, number>> = { F64: 8, F32: 4, F16: 2, BF16: 2, I8: 1, I64: 8, I32: 4, U8: 1, BOOL: 1 };

const isSize = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

/** The tensors in the order of their bytes. Undefined for a header that src/file/safetensors.c refuses. */
export function tensorsOf({ tensors, metadata = {}, bytes, size }: Header): readonly Tensor[] | undefined {
  const all: Tensor[] = [];
  for (const [name, entry] of Object.entries(tensors ?? { "": null })) {
    if (!isObject(entry) || Object.keys(entry).length !== 3) return undefined;
    const { dtype, shape, data_offsets: offsets } = entry;
    const each = typeof dtype === "string" && hasOwn(TYPE_BYTES, dtype) ? TYPE_BYTES[dtype]! : 0;
    if (!each || !Array.isArray(shape) || shape.length > 4 || !shape.every(isSize)) return undefined;
    if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isSize)) return undefined;
    const count = shape.reduce((product, length) => product * length, 1);
    const [begin, end] = offsets as [number, number];
    if (end - begin !== count * each) return undefined;
    all.push({ name, dtype: dtype as string, shape, count, begin, end });
  }
  all.sort((a, b) => a.begin - b.begin || a.end - b.end);
  const whole = all.every(({ begin }, at) => begin === (at > 0 ? all[at - 1]!.end : 0));
  const end = all[all.length - 1]?.end ?? 0;
  const texts = isObject(metadata) && Object.values(metadata).every((value) => typeof value === "string");
  return whole && end === size - bytes && texts && all.length <= MOST_TENSORS ? all : undefined;
}

/** The limit of src/file/safetensors.c. */
const MOST_TENSORS = 100_000;

export const bytesIn = (text: string) => new TextEncoder().encode(text).length;

// ---- Names -------------------------------------------------------------------

/** For each of our names, the family's names in order of preference, each as the tensors that make it. */
type Names = ReadonlyMap<string, readonly (readonly string[])[]>;

const tables = new Map<string, Names>();

function namesOf({ names }: Family): Names {
  const hit = tables.get(names);
  if (hit) return hit;
  const table = new Map<string, (readonly string[])[]>();
  for (const line of names.trim().split("\n")) {
    const [ours, theirs] = line.trim().split(" ") as [string, string];
    const [, before = theirs, parts = "", after = ""] = /^(.*)\{(.*)\}(.*)$/.exec(theirs) ?? [];
    table.set(ours, [...(table.get(ours) ?? []), parts.split(",").map((part) => before + part + after)]);
  }
  tables.set(names, table);
  return table;
}

/** The limits of a prefix, such as "module.encoder.", in bytes and in parts. Each part takes time. */
const MOST_PREFIX = 128;
const MOST_PARTS = 8;

export class Checkpoint implements Tensors {
  readonly family: Family;
  readonly prefix: string;
  /** Those of the file. */
  readonly tensors: readonly Tensor[];
  /** Those that are made of them. */
  readonly added: readonly Appended[];
  readonly #byName: ReadonlyMap<string, Tensor>;
  /** The prefix, then shorter ones, for tensors outside the encoder. */
  readonly #prefixes: readonly string[];
  #ignored: RegExp | undefined;
  /** The tensors by their names, in which the first number after the prefix is #. */
  #numbered: ReadonlyMap<string, Tensor> | undefined;

  constructor(family: Family, prefix: string, tensors: readonly Tensor[], byName: ReadonlyMap<string, Tensor>, added: readonly Appended[] = []) {
    this.family = family;
    this.prefix = prefix;
    this.tensors = tensors;
    this.added = added;
    this.#byName = byName;
    const parts = prefix.split(".").slice(0, -1);
    this.#prefixes = [...parts.map((_, at) => `${parts.slice(0, parts.length - at).join(".")}.`), ""];
  }

  with(added: readonly Appended[]): Checkpoint {
    const byName = new Map([...this.#byName, ...added.map((tensor) => [tensor.name, tensor] as const)]);
    return new Checkpoint(this.family, this.prefix, this.tensors, byName, added);
  }

  /** The tensors that make a parameter of ours, their rows one after the other; none if the file lacks one. */
  sources(ours: string): readonly Tensor[] {
    for (const names of this.#namesOf(ours)) {
      const found = names.map((name) => this.find(name, !ours.startsWith("blocks.")));
      if (found.every((tensor) => tensor !== undefined)) return found as Tensor[];
    }
    return [];
  }

  tensor(ours: string): Tensor | undefined {
    return this.sources(ours)[0];
  }

  has(ours: string): boolean {
    return (this.tensor(ours)?.count ?? 0) > 0;
  }

  /** How many rows its matrix has. */
  rows(ours: string): number {
    return this.sources(ours).reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
  }

  /** The family's names for a parameter that the file lacks. Of several ways to name it, the first. */
  missingNames(ours: string): readonly string[] {
    return this.#namesOf(ours)[0]!.map((name) => this.prefix + name);
  }

  /** Whether a model here does not need the tensor: a part of another tower, a decoder, a counter, or what follows from the grid. */
  ignores({ name, dtype, shape }: Tensor): boolean {
    const counts = shape.length === 0 && ["I64", "I32", "U8", "BOOL"].includes(dtype); // num_updates and the like
    this.#ignored ??= beginnings(this.#prefixes, ["^n_averaged", ...(this.family.ignored ?? [])]); // a counter of torch.optim.swa_utils
    return counts || name.endsWith(".relative_position_index") || this.#ignored.test(name);
  }

  /** The family's names, without the prefix. */
  #namesOf(ours: string): readonly (readonly string[])[] {
    const number = /^blocks\.(\d+)\./.exec(ours)?.[1] ?? "";
    const pattern = number ? ours.replace(number, "*") : ours;
    const table = namesOf(this.family);
    const last = pattern.slice(pattern.lastIndexOf("."));
    const whole = table.get(pattern);
    const names = whole ?? table.get(pattern.slice(0, -last.length));
    const rest = whole ? "" : last;
    return names?.map((parts) => parts.map((part) => part.replace("*", number) + rest)) ?? [[ours]];
  }

  /** Finds a name after the prefix; if `outside`, after shorter ones too. */
  find(name: string, outside: boolean): Tensor | undefined {
    if (name.includes("#")) return (this.#numbered ??= numbered(this.tensors, this.prefix)).get(name);
    for (const prefix of outside ? this.#prefixes : [this.prefix]) {
      const tensor = this.#byName.get(prefix + name);
      if (tensor) return tensor;
    }
    return undefined;
  }
}

function numbered(tensors: readonly Tensor[], prefix: string): ReadonlyMap<string, Tensor> {
  const byPattern = new Map<string, Tensor>();
  for (const tensor of tensors.filter(({ name }) => name.startsWith(prefix))) {
    byPattern.set(tensor.name.slice(prefix.length).replace(/\d+/, "#"), tensor);
  }
  return byPattern;
}

/** Matches names that begin with one of the lines after a prefix; a line with a ^ only after a prefix shorter than the first. */
function beginnings(prefixes: readonly string[], lines: readonly string[]): RegExp {
  const any = (texts: readonly string[]) =>
    texts.length > 0 ? `(?:${texts.map((text) => text.replace(/\W/g, "\\$&")).join("|")})` : "(?!)";
  const inside = lines.filter((line) => !line.startsWith("^"));
  const outside = lines.filter((line) => line.startsWith("^")).map((line) => line.slice(1));
  return new RegExp(`^(?:${any(prefixes)}${any(inside)}|${any(prefixes.slice(1))}${any(outside)})`);
}

// ---- Families ----------------------------------------------------------------

/** A model that is a tower of a larger one: the part of its anchor that all its names begin with. */
const TOWERS = /^(vision_model\.|visual\.(trunk\.)?)/;

/** A file holds a few encoders at most. */
const MOST_ENCODERS = 100;

const byName = (a: Tensor, b: Tensor) => (a.name < b.name ? -1 : 1);

const endsWith = (name: string, end: string) =>
  name.endsWith(end) && (name.length === end.length || name[name.length - end.length - 1] === ".");

/** Finds the family whose first block the file holds. */
export function findFamily(tensors: readonly Tensor[]): Checkpoint | undefined {
  const names = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const all = FAMILIES.flatMap(({ anchors }) => anchors);
  const anchored = tensors.filter(({ name }) => all.some((anchor) => endsWith(name, anchor))).slice(0, MOST_ENCODERS).sort(byName);
  for (const family of FAMILIES) {
    for (const anchor of family.anchors) {
      for (const { name } of anchored.filter((tensor) => endsWith(tensor.name, anchor))) {
        const before = name.slice(0, -anchor.length);
        if (bytesIn(before) > MOST_PREFIX || before.split(".").length > MOST_PARTS + 1) continue;
        const found = new Checkpoint(family, before + (TOWERS.exec(anchor)?.[0] ?? ""), tensors, names);
        if ((family.needs?.every((needed) => found.find(needed, true)) ?? true) && (family.fits?.(found) ?? true)) return found;
      }
    }
  }
  return undefined;
}

/** Reads the tensors as timm's, without a prefix. */
export const asTimms = (tensors: readonly Tensor[]) =>
  new Checkpoint(TIMM, "", tensors, new Map(tensors.map((tensor) => [tensor.name, tensor])));

/** The most characters of a family's name. */
const MOST_NAME = 64;

/** How many of each family's names the file has, after any prefix. Of the blocks' names, those of the first count. */
function likenessOf(tensors: readonly Tensor[]): ReadonlyMap<Family, number> {
  const families = new Map<string, Family[]>();
  for (const family of FAMILIES) {
    for (const part of [...namesOf(family).values()].flat(2)) {
      const name = part.replace("*", "0");
      families.set(name, [...(families.get(name) ?? []), family]);
    }
  }
  const endings = new Set<string>();
  for (const { name } of tensors) {
    for (const whole of [name, name.slice(0, Math.max(0, name.lastIndexOf(".")))]) {
      for (let dot = whole.length; dot > 0 && whole.length - dot <= MOST_NAME; ) {
        dot = whole.lastIndexOf(".", dot - 1);
        const end = whole.slice(dot + 1);
        if (families.has(end)) endings.add(end);
      }
    }
  }
  const likeness = new Map<Family, number>();
  for (const [name, all] of families) {
    if (endings.has(name)) for (const family of all) likeness.set(family, (likeness.get(family) ?? 0) + 1);
  }
  return likeness;
}

/** The refusal of a file that holds no family's first block. */
export function noFamily(tensors: readonly Tensor[]): Refusal {
  if (tensors.length === 0) return new Refusal("the file holds no tensors", "bad_tensor");
  const likeness = likenessOf(tensors);
  let closest = TIMM;
  for (const family of FAMILIES.filter(({ variant }) => !variant)) {
    if ((likeness.get(family) ?? 0) > Math.max(1, likeness.get(closest) ?? 0)) closest = family;
  }
  const first = tensors.reduce((least, tensor) => (byName(tensor, least) < 0 ? tensor : least));
  return new Refusal(
    `expected a Vision Transformer's first block, such as "${closest.anchors[0]}" of ${closest.name}, the closest ` +
      `family; got tensors such as "${show(first.name)}"`,
    "bad_tensor",
  );
}
