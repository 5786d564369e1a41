/** Tensors that a file lacks and its family makes of others: they are appended to the file while it is read. */
import type { Piece } from "../base/bytes.js";
import type { Json } from "../base/json.js";
import { headerBytes } from "../base/safetensors.mjs";
import type { Checkpoint, Header, Opened, Pieces } from "./checkpoint.js";
import type { Appended, Tensor } from "./family.js";
import { gridOf } from "./positions.js";
import { MOST_DEPTH, pairOf } from "./sizes.js";

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

/** The file with further tensors after its own. */
export function append(file: Pieces, header: Header, added: readonly Appended[]): Opened {
  const entries = { ...header.tensors };
  const end = header.size - header.bytes;
  let size = end;
  for (const { name, dtype, shape, count, from: [first] } of added) {
    const { begin, end } = placeOf(header, first!);
    const each = first!.count && (end - begin) / first!.count;
    entries[name] = { dtype, shape, data_offsets: [size, (size += count * each)] };
  }
  const start = headerBytes(entries);
  const all = pieces(file, header, added, start);
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

function placeOf(header: Header, { name }: Tensor): { readonly begin: number; readonly end: number } {
  const [begin, end] = (header.tensors![name] as { readonly data_offsets: readonly [number, number] }).data_offsets;
  return { begin, end };
}

async function* pieces(file: Pieces, header: Header, added: readonly Appended[], start: Piece): AsyncGenerator<Piece> {
  const needed = [...new Set(added.flatMap(({ from }) => from))].map((tensor) => ({ tensor, ...placeOf(header, tensor) })).sort((a, b) => a.begin - b.begin);
  const kept = new Map<Tensor, Piece>();
  yield start;
  let at = -header.bytes, next = 0;
  for (let piece; (piece = await file.take()); at += piece.length) {
    for (let one; (one = needed[next]) && one.begin < at + piece.length; next++) {
      const bytes = kept.get(one.tensor) ?? new Uint8Array(one.end - one.begin);
      kept.set(one.tensor, bytes);
      bytes.set(piece.subarray(Math.max(0, one.begin - at), one.end - at), Math.max(0, at - one.begin));
      if (one.end > at + piece.length) break;
    }
    if (at + piece.length > 0) yield at < 0 ? piece.slice(-at) : piece;
  }
  if (at < header.size - header.bytes) return; // the core says that the file is too short
  for (const { from, make } of added) yield make(from.map((tensor) => kept.get(tensor)!));
}
