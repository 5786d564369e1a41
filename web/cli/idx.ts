/** A data set in IDX files. */
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, gunzip, gunzipSync } from "node:zlib";
import type { ImageInput, VitConfig } from "vitrine";
import { bytesIn, checkCount, checkPairs, classesIn, headerBytes, idxIn, mostIn, shapeOf } from "../base/idx.mjs";
import { reason } from "../errors.ts";
import { type DataSet, type Example, split } from "./examples.ts";

export interface Files {
  readonly images: string;
  readonly labels: string;
}

interface Idx {
  readonly path: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** MNIST's names, after the word for the part. */
const NAMES = { images: "images-idx3-ubyte", labels: "labels-idx1-ubyte" };

/** The limits of src/train/idx.c: MNIST unpacks to 5 times its size, a bomb to 1000 times. */
const ALWAYS_BYTES = 2 ** 24;
const MOST_TIMES = 100;

/** Enough packed bytes for a header. */
const START_BYTES = 4096;

/** Images that are handed to the trainer at once. */
const GROUP = 256;

/** The part of a data set under MNIST's names, to train or to test; undefined where the folder has none of it. */
export async function findIdx(folder: string, part: "train" | "t10k"): Promise<Files | undefined> {
  const [images, labels] = await Promise.all([NAMES.images, NAMES.labels].map(async (name) => {
    for (const path of [join(folder, `${part}-${name}`), join(folder, `${part}-${name}.gz`)]) {
      if ((await stat(path).catch(() => undefined))?.isFile()) return path;
    }
    return undefined;
  }));
  if (images !== undefined && labels !== undefined) return { images, labels };
  const missing = images === undefined ? NAMES.images : NAMES.labels;
  if ((images ?? labels) === undefined) return undefined;
  throw new Error(`${folder}: expected ${part}-${missing} in it, with or without .gz, got none`);
}

/** @param share of each class to measure on; undefined: all examples are, and a class may lack them. */
export async function openIdx(path: string, files: Files, share: number | undefined): Promise<DataSet> {
  const labels = await readIdx(files.labels, 1);
  const images = await readIdx(files.images, 3);
  const { length } = labels.bytes;
  checkPairs(files.images, images.shape[0]!, length);
  const classes = share === undefined ? mostIn(labels.bytes) + 1 : classesIn(files.labels, labels.bytes);
  const parts = share === undefined ? Array.from(labels.bytes, () => "validation" as const) : split(labels.bytes, share);
  return {
    path, parts, named: false,
    labels: Array.from({ length: classes }, (_, label) => String(label)),
    async *groups(config): AsyncGenerator<readonly Example[]> {
      const image = imageOf(images, config);
      for (let first = 0; first < length; first += GROUP) {
        yield Array.from({ length: Math.min(GROUP, length - first) }, (_, i) => {
          const at = first + i;
          return { name: `${images.path}: image ${at}`, label: labels.bytes[at]!, part: parts[at]!, image: image(at) };
        });
      }
    },
  };
}

/**
 * Grey images, prepared as a photo where the model's config says how. Where it says that nothing
 * tells, the model refuses them. Else they are prepared already.
 */
function imageOf({ path, shape, bytes }: Idx, { prepare, channels, image_size }: Readonly<VitConfig>): (at: number) => ImageInput {
  const [, height, width] = shape as [number, number, number];
  const size = height * width;
  const pixels = (at: number) => bytes.subarray(at * size, (at + 1) * size);
  if (prepare === null || prepare?.kind === "photo") return (at) => ({ data: pixels(at), width, height, channels: 1 });
  if (channels !== 1 || height !== image_size[0] || width !== image_size[1]) {
    const expected = `${image_size.join("x")} with ${channels} channel${channels > 1 ? "s" : ""}`;
    throw new Error(`${path}: expected images for the model, ${expected}, got ${height}x${width} with 1`);
  }
  return (at) => new Float32Array(pixels(at)).map((value) => value / 255);
}

// ---- Reading ----------------------------------------------------------------

async function readIdx(path: string, rank: number): Promise<Idx> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Buffer.alloc(Math.min(size, START_BYTES));
    await file.read(start, 0, start.length, 0);
    const packed = start[0] === 0x1f && start[1] === 0x8b;
    const shape = shapeOf(path, packed ? partly(path, start) : start, rank);
    const header = headerBytes(rank), count = bytesIn(shape);
    if (packed && count > Math.max(ALWAYS_BYTES, MOST_TIMES * size)) {
      throw new Error(`${path}: expected at most ${MOST_TIMES} times the file's ${size} bytes, got a header that announces ${count}`);
    }
    if (!packed) checkCount(path, size - header, count);
    const whole = await file.readFile();
    const bytes = packed ? await unpacked(path, whole, header + count) : whole;
    return { path, ...idxIn(path, bytes, rank) };
  } finally {
    await file.close();
  }
}

/** What the start of a gzip file unpacks to. */
function partly(path: string, start: Uint8Array): Buffer {
  try {
    return gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch (cause) {
    throw readError(path, cause);
  }
}

/** Unpacks at most `most` bytes; more are an error. */
const unpacked = (path: string, bytes: Uint8Array, most: number): Promise<Buffer> =>
  promisify(gunzip)(bytes, { maxOutputLength: most }).catch((cause: unknown) => {
    throw readError(path, cause);
  });

function readError(path: string, cause: unknown): Error {
  const more = (cause as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE";
  const got = more ? "more bytes than its header announces" : reason(cause);
  return new Error(`${path}: expected a whole gzip file, got ${got}`, { cause });
}
