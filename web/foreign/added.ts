/** Tensors that a file lacks and its family makes of others: they are appended to the file while it is read. */
import type { Piece } from "../base/bytes.js";
import type { Json } from "../base/json.js";
import { MOST_DEPTH } from "../generated/config.js";
import { headerBytes, headerOf } from "../base/safetensors.mjs";
import { type Checkpoint, type Header, type Pieces, type SourceStream, TYPE_BYTES } from "./checkpoint.js";
import type { Appended, Tensor } from "./family.js";
import { gridOf } from "./positions.js";
import { pairOf } from "./sizes.js";

/** The most numbers that a tensor is made of. A larger file is refused, because it lacks the tensor. */
const MOST_NUMBERS = 2 ** 24;

/** Where the last tensor ends. */
const endOf = (tensors: readonly Tensor[]) => Math.max(...tensors.map(({ end }) => end));

/** The tensors that the family adds to the blocks of this file. */
export function addedTo(checkpoint: Checkpoint, config: Json): readonly Appended[] {
  const { family, prefix } = checkpoint;
  const [, , ...patch] = checkpoint.tensor("patch_embed.proj.weight")?.shape ?? [];
  const grid = config.image_size === undefined ? undefined : gridOf(pairOf(config.image_size), pairOf(config.patch_size ?? patch));
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
      const count = made.shape.reduce((product, length) => product * length, 1), end = endOf(parts);
      all.push({ ...made, dtype: first.dtype, count, begin: end, end, replaces, name: prefix + name.replace("*", String(at)), from: parts });
    }
  }
  return all;
}

/** The file with further tensors. Each follows what it is made of, so that this is kept no longer. */
export function append(file: Pieces, header: Header, tensors: readonly Tensor[], added: readonly Appended[]): SourceStream {
  const whole = [...added, ...tensors].sort((a, b) => a.begin - b.begin || a.end - b.end);
  const start = headerFor(whole.map(({ name, dtype, shape, count }) => [name, dtype, shape, count * TYPE_BYTES[dtype]!]));
  const size = whole.reduce((sum, { dtype, count }) => sum + count * TYPE_BYTES[dtype]!, start.length);
  const all = pieces(file, header.bytes, whole.filter((tensor) => "make" in tensor) as Appended[], start);
  const body = new ReadableStream<Piece>({
    async pull(controller) {
      const { done, value } = await all.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => file.cancel(),
  });
  return { size: file.size && size, body };
}

/** A file of floats. */
export const fileOf = (parameters: readonly (readonly [name: string, shape: readonly number[], values: Float32Array])[]): Blob => new Blob([
  headerFor(parameters.map(([name, shape, { byteLength }]) => [name, "F32", shape, byteLength])),
  ...parameters.map(([, , values]) => values as Float32Array<ArrayBuffer>),
]);

const headerFor = (tensors: readonly (readonly [name: string, dtype: string, shape: readonly number[], size: number])[]) =>
  headerBytes(headerOf(tensors.map(([name, dtype, shape, size]) => [name, { dtype, shape, size }])));

async function* pieces(file: Pieces, headerLength: number, added: readonly Appended[], start: Piece): AsyncGenerator<Piece> {
  const uses = new Map<Tensor, number>();
  for (const tensor of added.flatMap(({ from }) => from)) uses.set(tensor, (uses.get(tensor) ?? 0) + 1);
  const sources = [...uses.keys()].sort((a, b) => a.begin - b.begin);
  const cache = new Map<Tensor, Piece>();
  /** Forgets it after its last use. */
  const use = (tensor: Tensor) => {
    const bytes = cache.get(tensor) ?? new Uint8Array(), count = uses.get(tensor)! - 1;
    uses.set(tensor, count);
    if (count === 0) cache.delete(tensor);
    return bytes;
  };
  yield start;
  let at = -headerLength, next = 0, made = 0;
  for (let piece; (piece = await file.take()); at += piece.length) {
    for (let one; (one = sources[next]) && one.begin < at + piece.length; next++) {
      const bytes = cache.get(one) ?? new Uint8Array(one.end - one.begin);
      cache.set(one, bytes);
      bytes.set(piece.subarray(Math.max(0, one.begin - at), one.end - at), Math.max(0, at - one.begin));
      if (one.end > at + piece.length) break;
    }
    let from = Math.max(0, -at);
    for (let one; (one = added[made]) && one.end <= at + piece.length; made++) {
      if (one.end - at > from) yield piece.slice(from, (from = one.end - at));
      yield one.make(one.from.map(use));
    }
    if (from < piece.length) yield from > 0 ? piece.slice(from) : piece;
  }
}
