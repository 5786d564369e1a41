/** Several files of safetensors as one: their headers are joined, then their data follow. */
import { VitError } from "./errors.js";
import { Incoming, type Opened, type Piece, readHeader, type Source } from "./fetch.js";

export class Shards {
  readonly #sources: readonly Source[];

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
    if (sources.length > 0) return;
    throw new VitError("bad_file", "index: expected a weight_map that names files, got none");
  }

  /** All headers are read first; of each file's data no more than its download runs ahead. */
  async open(signal?: AbortSignal): Promise<Opened> {
    const files = await Promise.all(this.#sources.map((source) => Incoming.open(source, { signal })));
    const tensors: Record<string, unknown> = {};
    const starts: number[] = [];
    let data = 0;
    for (const file of files) {
      const { text, bytes } = await readHeader(file);
      for (const [name, tensor] of tensorsOf(text, data)) {
        if (name in tensors) throw new VitError("bad_tensor", `tensor "${name}": in two files`);
        tensors[name] = tensor;
      }
      starts.push(bytes);
      data += file.size - bytes;
    }
    const header = new TextEncoder().encode(JSON.stringify(tensors));
    const length = new Uint8Array(8);
    new DataView(length.buffer).setBigUint64(0, BigInt(header.length), true);
    return {
      size: 8 + header.length + data,
      body: stream(joined([length, header], files, starts)),
      lost: (cause) => (cause instanceof VitError ? cause : new VitError("network", String(cause))),
    };
  }
}

/** A file's tensors, their places moved by as much data as comes before. */
function tensorsOf(header: string, before: number): [name: string, tensor: object][] {
  try {
    const { __metadata__, ...tensors } = JSON.parse(header) as Record<string, { data_offsets: number[] }>;
    return Object.entries(tensors).map(([name, tensor]) => [
      name,
      { ...tensor, data_offsets: tensor.data_offsets.map((at) => at + before) },
    ]);
  } catch (cause) {
    throw new VitError("bad_file", "expected a safetensors file", { cause });
  }
}

async function* joined(
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

function stream(pieces: AsyncGenerator<Piece>): ReadableStream<Piece> {
  return new ReadableStream<Piece>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await pieces.return(undefined)),
  });
}
