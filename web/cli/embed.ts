import type { Embedding, EmbedOptions } from "vitrine";
import { jsonOf, type PhotoCommand, type Tools } from "./command.ts";
import { bytesOf, npyHeader } from "./npy.ts";
import { oneOf, SHARD_OPTION, SIZE_OPTION, sizeOf, textOf, UsageError } from "./options.ts";
import { OutputFile } from "./output.ts";
import { withoutName } from "./photos.ts";
import type { Terminal } from "./terminal.ts";

/** The vectors of one photo: pooled and cls are (D), patches (N, D). */
const VECTORS = ["pooled", "cls", "patches"] as const;
type VectorName = (typeof VECTORS)[number];

interface Vector {
  readonly file: string;
  readonly values: Float32Array;
  readonly shape: readonly number[];
}

export const embed: PhotoCommand = {
  about: "turn photos into vectors: the head's input, the class token or the patches",
  operand: "PHOTO …",
  options: {
    out: { value: "FILE.npy", help: "write float32 (photos, D), or (photos, N, D) of patches" },
    what: { value: "KIND", help: `${VECTORS.join(", ")}; ${VECTORS[0]} by default` },
    ...SIZE_OPTION,
    ...SHARD_OPTION,
  },
  plan(values, files) {
    const kind = oneOf("--what", textOf(values, "what") ?? VECTORS[0], VECTORS);
    const options = sizeOf(values);
    const out = textOf(values, "out");
    const { json, lines } = jsonOf(values);
    if (out === undefined && !json) {
      throw new UsageError("--out: expected a file such as vectors.npy, got none; name one or use --json");
    }
    if (out !== undefined && !out.endsWith(".npy")) {
      throw new UsageError(`--out: expected a name that ends in .npy, got "${out}"`);
    }
    return async (tools) => {
      const vectors = vectorsOf(tools, files, kind, options);
      if (out === undefined) await printVectors(tools.terminal, vectors, lines);
      else {
        const shape = await writeVectors(vectors, out, files.length);
        if (json) tools.terminal.printJson({ out, what: kind, shape, files });
      }
      return true;
    };
  },
};

/** The photos' vectors. A bad photo ends the command, because a missing row would shift the rest. */
async function* vectorsOf(
  { vit, photos, terminal }: Tools,
  files: readonly string[],
  kind: VectorName,
  options: EmbedOptions,
): AsyncGenerator<Vector> {
  let done = 0;
  for await (const group of photos.groups(files)) {
    for (const read of group) {
      const { file } = read;
      terminal.status(`${done++}/${files.length} photos`);
      if ("error" in read) throw new Error(`${file}: ${read.error}; nothing was written`);
      const embedding = await vit.embed(read.photo, options).catch((cause: unknown) => {
        throw new Error(`${file}: ${withoutName(cause)}; nothing was written`, { cause });
      });
      yield { file, values: embedding[kind], shape: shapeOf(embedding, kind) };
    }
  }
}

function shapeOf({ grid, width, ...vectors }: Embedding, kind: VectorName): number[] {
  return kind === "patches" ? [grid[0] * grid[1], width] : [vectors[kind].length];
}

async function printVectors(terminal: Terminal, vectors: AsyncIterable<Vector>, lines: boolean): Promise<void> {
  const all = [];
  for await (const { file, values, shape } of vectors) {
    const vector = { file, shape, values: Array.from(values) };
    if (lines) terminal.printLine(vector);
    else all.push(vector);
  }
  if (!lines) terminal.printJson(all);
}

/** Writes row by row, so that only a few rows are in memory. Returns the array's whole shape. */
async function writeVectors(
  vectors: AsyncIterable<Vector>,
  path: string,
  count: number,
): Promise<readonly number[]> {
  const out = await OutputFile.create(path);
  try {
    let whole: readonly number[] | undefined;
    for await (const { values, shape } of vectors) {
      if (!whole) await out.write(npyHeader((whole = [count, ...shape])));
      await out.write(bytesOf(values));
    }
    await out.finish();
    return whole!;
  } catch (error) {
    await out.drop();
    throw error;
  }
}
