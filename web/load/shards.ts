/** Joins several files of weights into one: one header, then the data of all files. */
import { reason, show, VitError } from "../errors.js";
import { Opener, type Source, type SourceStream } from "./source.js";
import type { Piece } from "../base/bytes.js";
import { type Header, readHeader } from "./header.js";
import type { Incoming } from "./incoming.js";
import { isObject } from "../base/json.js";
import { headerBytes } from "../base/safetensors.mjs";
import { openWeights } from "./weights.js";

export interface Shard {
  readonly name: string;
  readonly source: Source | Opener;
}

/** The names of the files, by the tensors' names. */
export type WeightMap = Readonly<Record<string, string>>;

/** The most files, which are all open together. The largest model, of 4 GB, has about 40. */
const MOST_FILES = 256;
/** All files together wait with as many bytes as one file would alone. */
const BYTES_AHEAD = 2 ** 22;
/** Each file may wait with at least this many bytes. */
const LEAST_AHEAD = 2 ** 16;

/**
 * Reads all headers first. Meanwhile each file's data arrive up to a limit.
 *
 * @throws {VitError} code `bad_file`. Opening it also throws code `bad_tensor`.
 */
export function joined(shards: readonly Shard[], map: WeightMap): Opener {
  if (shards.length === 0) {
    throw new VitError("bad_file", "index: expected a weight_map that names files, got none");
  }
  if (shards.length > MOST_FILES) {
    throw new VitError("bad_file", `index: expected at most ${MOST_FILES} files, got ${shards.length}`);
  }
  const ahead = Math.max(LEAST_AHEAD, BYTES_AHEAD / shards.length);
  return new Opener(async (signal) => {
    const opening = shards.map(({ source }) => openWeights(source, { signal, ahead }));
    try {
      return await join(shards, map, await Promise.all(opening));
    } catch (error) {
      for (const one of opening) one.then((file) => file.cancel()).catch(() => {});
      throw error;
    }
  });
}

async function join(
  shards: readonly Shard[],
  map: WeightMap,
  files: readonly Incoming[],
): Promise<SourceStream> {
  const tensors = new Map<string, string[]>(shards.map(({ name }) => [name, []]));
  for (const [tensor, name] of Object.entries(map)) tensors.get(name)!.push(tensor);
  const all = new Map<string, object>();
  const starts: number[] = [];
  let data = 0;
  for (const [index, file] of files.entries()) {
    const header = await readHeader(file);
    const { name } = shards[index]!;
    const entries = entriesOf(name, header, data);
    for (const tensor of tensors.get(name)!) {
      if (!entries.has(tensor)) throw bad(tensor, `in "${name}", as the index says, got none`);
    }
    for (const [tensor, entry] of entries) {
      if (all.has(tensor)) throw bad(tensor, `in one file, got it again in "${name}"`);
      all.set(tensor, entry);
    }
    starts.push(header.bytes);
    data += header.size - header.bytes;
  }
  const header = headerBytes(Object.fromEntries(all));
  return {
    size: header.length + data,
    body: stream(pieces(header, files, starts), files),
    ours: true,
    lost: (cause) => (cause instanceof VitError ? cause : new VitError("network", reason(cause))),
  };
}

const bad = (tensor: string, what: string) =>
  new VitError("bad_tensor", `tensor "${show(tensor)}": expected ${what}`);

/** A file's tensors, with their offsets moved by the `before` bytes of the earlier files. */
function entriesOf(name: string, { tensors, why }: Header, before: number): Map<string, object> {
  if (!tensors) throw new VitError("bad_file", `${name}: expected a safetensors file${why}`);
  return new Map(Object.entries(tensors).map(([tensor, entry]) => {
    const offsets = isObject(entry) ? entry.data_offsets : undefined;
    if (!isObject(entry) || !isOffsets(offsets)) {
      throw bad(tensor, `data_offsets of two whole numbers in "${name}", got ${show(JSON.stringify(offsets))}`);
    }
    return [tensor, { ...entry, data_offsets: offsets.map((at) => at + before) }];
  }));
}

const isOffsets = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length === 2 && value.every((at) => Number.isSafeInteger(at) && at >= 0);

async function* pieces(
  header: Piece,
  files: readonly Incoming[],
  starts: readonly number[],
): AsyncGenerator<Piece> {
  yield header;
  for (const [index, file] of files.entries()) {
    let skip = starts[index]!;
    for (let piece; (piece = await file.take()); skip = Math.max(0, skip - piece.length)) {
      if (piece.length > skip) yield piece.subarray(skip);
    }
  }
}

/** The bytes of all files as one stream. No file stays open after its end or its failure. */
function stream(all: AsyncGenerator<Piece>, files: readonly Incoming[]): ReadableStream<Piece> {
  const cancel = () => files.forEach((file) => file.cancel());
  return new ReadableStream<Piece>({
    async pull(controller) {
      try {
        const { done, value } = await all.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        cancel();
        throw error;
      }
    },
    cancel,
  });
}
