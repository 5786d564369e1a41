/** Several files of safetensors as one: their headers are joined, then their data follow. */
import { VitError } from "./errors.js";
import { Incoming, type Opened, type Opener, type Piece, readHeader, type Source } from "./fetch.js";

export interface Shard {
  readonly name: string;
  readonly source: Source;
}

/** Which tensor is in the file of which name. */
export type WeightMap = Readonly<Record<string, unknown>>;

/**
 * All headers are read first; of each file's data no more than its download runs ahead.
 *
 * @throws {VitError} code `bad_file`; opening it also `bad_tensor`.
 */
export function joined(shards: readonly Shard[], map: WeightMap): Opener {
  if (shards.length === 0) {
    throw new VitError("bad_file", "index: expected a weight_map that names files, got none");
  }
  return {
    async open(signal) {
      const opening = shards.map(({ source }) => Incoming.open(source, { signal }));
      try {
        return await join(shards, map, await Promise.all(opening));
      } catch (error) {
        for (const one of opening) one.then((file) => file.cancel()).catch(() => {});
        throw error;
      }
    },
  };
}

async function join(
  shards: readonly Shard[],
  map: WeightMap,
  files: readonly Incoming[],
): Promise<Opened> {
  const all = new Map<string, object>();
  const starts: number[] = [];
  let data = 0;
  for (const [index, file] of files.entries()) {
    const { text, bytes, size } = await readHeader(file);
    const { name } = shards[index]!;
    const entries = entriesOf(name, text, data);
    for (const [tensor, place] of Object.entries(map)) {
      if (place === name && !entries.has(tensor)) throw bad(tensor, `in "${name}", as the index says, got none`);
    }
    for (const [tensor, entry] of entries) {
      if (all.has(tensor)) throw bad(tensor, `in one file, got it again in "${name}"`);
      all.set(tensor, entry);
    }
    starts.push(bytes);
    data += size - bytes;
  }
  const header = new TextEncoder().encode(JSON.stringify(Object.fromEntries(all)));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(header.length), true);
  return {
    size: 8 + header.length + data,
    body: stream(pieces([length, header], files, starts)),
    lost: (cause) => (cause instanceof VitError ? cause : new VitError("network", String(cause))),
  };
}

const bad = (tensor: string, what: string) =>
  new VitError("bad_tensor", `tensor "${tensor}": expected ${what}`);

/** A file's tensors, their places moved by as much data as comes before. */
function entriesOf(name: string, header: string, before: number): Map<string, object> {
  try {
    const { __metadata__, ...tensors } = JSON.parse(header) as Record<string, { data_offsets: number[] }>;
    return new Map(Object.entries(tensors).map(([tensor, entry]) => [
      tensor,
      { ...entry, data_offsets: entry.data_offsets.map((at) => at + before) },
    ]));
  } catch (cause) {
    throw new VitError("bad_file", `${name}: expected a safetensors file`, { cause });
  }
}

async function* pieces(
  before: readonly Piece[],
  files: readonly Incoming[],
  starts: readonly number[],
): AsyncGenerator<Piece> {
  yield* before;
  for (const [index, file] of files.entries()) {
    let skip = starts[index]!;
    for (let piece; (piece = await file.take()); skip = Math.max(0, skip - piece.length)) {
      if (piece.length > skip) yield piece.subarray(skip);
    }
  }
}

function stream(all: AsyncGenerator<Piece>): ReadableStream<Piece> {
  return new ReadableStream<Piece>({
    async pull(controller) {
      const { done, value } = await all.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await all.return(undefined)),
  });
}
