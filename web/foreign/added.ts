/** Tensors that a file lacks and its family makes of others: they are appended to the file while it is read. */
import type { Piece } from "../base/bytes.js";
import type { Json } from "../base/json.js";
import { MOST_DEPTH } from "../generated/config.js";
import { headerBytes } from "../base/safetensors.mjs";
import { type Checkpoint, type Header, type Opened, type Pieces, TYPE_BYTES } from "./checkpoint.js";
import type { Appended, Tensor } from "./family.js";
import { gridOf } from "./positions.js";
import { pairOf } from "./sizes.js";

/** The most numbers that a tensor is made of. A larger file is refused, because it lacks the tensor. */
const MOST_NUMBERS = 2 ** 24;

/** The tensors that the family adds to the blocks of this file. */
export function addedTo(checkpoint: Checkpoint, given: Json): readonly Appended[] {
  const { family, prefix } = checkpoint;
  const [, , ...patch] = checkpoint.tensor("patch_embed.proj.weight")?.shape ?? [];
  const grid = given.image_size === undefined ? undefined : gridOf(pairOf(given.image_size), pairOf(given.patch_size ?? patch));
  const all: Appended[] = [];
  for (let at = 0; family.added && at < MOST_DEPTH && checkpoint.has(`blocks.${at}.norm1.weight`); at++) {
    const find = (name: string) => checkpoint.find(name.replace("*", String(at)), false);
    for (const { name, from, replaces = false, plan } of family.added) {
      if (at > 0 && !name.includes("*")) continue;
      const parts = from.map(find).filter((tensor) => tensor !== undefined);
      const [first] = parts;
      if (!first || parts.length < from.length || find(name)) continue;
      if (parts.some(({ count }) => count > MOST_NUMBERS)) continue;
      const made = plan(parts, grid, checkpoint.has("cls_token"), at);
      if (!made) continue;
      const count = made.shape.reduce((product, length) => product * length, 1);
      all.push({ ...made, dtype: first.dtype, count, replaces, name: prefix + name.replace("*", String(at)), from: parts });
    }
  }
  return all;
}

/** A tensor that is added, and the end of the last one that it is made of: there it goes. */
type Placed = Appended & { readonly after: number };

/** The file with further tensors. Each follows what it is made of, so that this is kept no longer. */
export function append(file: Pieces, header: Header, added: readonly Appended[]): Opened {
  const after = ({ from }: Appended) => from.reduce((last, tensor) => Math.max(last, placeOf(header, tensor).end), 0);
  const placed = added.map((tensor): Placed => ({ ...tensor, after: after(tensor) })).sort((a, b) => a.after - b.after);
  const own = Object.entries(header.tensors!).map(([name, entry]) => ({ name, entry: entry as Json, ...placeOf(header, { name }) }));
  const entries: [name: string, entry: Json][] = [];
  let size = 0, next = 0;
  const add = (name: string, { dtype, shape }: Json, bytes: number) => entries.push([name, { dtype, shape, data_offsets: [size, (size += bytes)] }]);
  const addNext = () => {
    const { name, dtype, shape, count } = placed[next++]!;
    add(name, { dtype, shape }, count * TYPE_BYTES[dtype]!);
  };
  for (const { name, entry, begin, end } of own.sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    while (next < placed.length && placed[next]!.after <= begin) addNext();
    add(name, entry, end - begin);
  }
  while (next < placed.length) addNext();
  const start = headerBytes(Object.fromEntries(entries));
  const all = pieces(file, header, placed, start);
  const body = new ReadableStream<Piece>({
    async pull(controller) {
      const { done, value } = await all.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => file.cancel(),
  });
  return { size: file.size && start.length + size, body };
}

/** A file of floats. */
export function fileOf(parameters: readonly (readonly [name: string, shape: readonly number[], values: Float32Array])[]): Blob {
  let size = 0;
  const entries = parameters.map(([name, shape, { byteLength }]) => [name, { dtype: "F32", shape, data_offsets: [size, (size += byteLength)] }]);
  return new Blob([headerBytes(Object.fromEntries(entries)), ...parameters.map(([, , values]) => values as Float32Array<ArrayBuffer>)]);
}

function placeOf(header: Header, { name }: Pick<Tensor, "name">): { readonly begin: number; readonly end: number } {
  const [begin, end] = (header.tensors![name] as { readonly data_offsets: readonly [number, number] }).data_offsets;
  return { begin, end };
}

async function* pieces(file: Pieces, header: Header, placed: readonly Placed[], start: Piece): AsyncGenerator<Piece> {
  const uses = new Map<Tensor, number>();
  for (const tensor of placed.flatMap(({ from }) => from)) uses.set(tensor, (uses.get(tensor) ?? 0) + 1);
  const needed = [...uses.keys()].map((tensor) => ({ tensor, ...placeOf(header, tensor) })).sort((a, b) => a.begin - b.begin);
  const kept = new Map<Tensor, Piece>();
  /** Forgets it after its last use. */
  const use = (tensor: Tensor) => {
    const bytes = kept.get(tensor) ?? new Uint8Array(), left = uses.get(tensor)! - 1;
    uses.set(tensor, left);
    if (left === 0) kept.delete(tensor);
    return bytes;
  };
  yield start;
  let at = -header.bytes, next = 0, made = 0;
  for (let piece; (piece = await file.take()); at += piece.length) {
    for (let one; (one = needed[next]) && one.begin < at + piece.length; next++) {
      const bytes = kept.get(one.tensor) ?? new Uint8Array(one.end - one.begin);
      kept.set(one.tensor, bytes);
      bytes.set(piece.subarray(Math.max(0, one.begin - at), one.end - at), Math.max(0, at - one.begin));
      if (one.end > at + piece.length) break;
    }
    let from = Math.max(0, -at);
    for (let one; (one = placed[made]) && one.after <= at + piece.length; made++) {
      if (one.after - at > from) yield piece.slice(from, (from = one.after - at));
      yield one.make(one.from.map(use));
    }
    if (from < piece.length) yield from > 0 ? piece.slice(from) : piece;
  }
}
