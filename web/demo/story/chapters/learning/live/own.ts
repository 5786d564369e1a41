/** A visitor's own images to train on: checked, shuffled and shared out. Needs no page. */
import { split } from "../../../../../cli/examples.ts";
import { bytesIn, checkPairs, classesIn, headerBytes, idxIn, shapeOf } from "../../../../../base/idx.mjs";
import { seeded, shuffled } from "../../../../../base/scramble.mjs";
import { type Digits, type Part, PIXELS } from "../../../../../base/digits.mjs";

/** Images to train on and to test with. */
export interface Source {
  /** The classes. Undefined: MNIST's digits, as they stand in the recipe. */
  readonly names?: readonly string[];
  readonly prepare?: object; // how photos become the model's image, unless as the recipe says
  readonly train: number;
  readonly test: number;
  open(): Promise<Digits>;
}

/** Grey images of 28×28 pixels. */
interface Images {
  names: readonly string[];
  labels: Uint8Array;
  pixels: Uint8Array; // (images, rows, columns)
}
/** Grey images of another size. */
export interface Grey extends Images {
  rows: number;
  columns: number;
}

export const MOST = { classes: 20, images: 70_000, tests: 1_000, bytes: 2 ** 28 };
const SHARE = 0.1, SEED = 1;

/** Evenly shuffled, because a run may take only the first ones. A tenth of each class is kept to test with. */
export function sourceOf({ names, labels, pixels }: Images, prepare?: object): Source {
  const order = shuffled(labels.length, seeded(SEED));
  const mixed = Uint8Array.from(order, (at) => labels[at]!);
  const parts = split(mixed, Math.min(SHARE, MOST.tests / labels.length));
  const part = (name: (typeof parts)[number]): Part => {
    const from = order.filter((_, at) => parts[at] === name);
    return {
      labels: Uint8Array.from(from, (at) => labels[at]!),
      image: (index) => Float32Array.from(pixels.subarray(from[index]! * PIXELS, (from[index]! + 1) * PIXELS), (value) => value / 255),
    };
  };
  const [train, test] = [part("train"), part("validation")];
  if (test.labels.length === 0) throw new Error("expected 5 images of a class at least, so that one can be kept to test with, got fewer");
  return { names, ...(prepare && { prepare }), train: train.labels.length, test: test.labels.length, open: async () => ({ train, test }) };
}

function checkSizes(what: string, classes: number, images: number): void {
  if (images > MOST.images) throw new Error(`${what}: expected at most ${MOST.images} images, got ${images}`);
  if (classes < 2 || classes > MOST.classes) throw new Error(`${what}: expected 2 to ${MOST.classes} classes, got ${classes}`);
}

// ---- A folder for each class ------------------------------------------------

const { compare } = new Intl.Collator("en", { numeric: true });

type Named = Pick<File, "name" | "type" | "webkitRelativePath">;

/** Each image below the chosen folder, with the number of its class: the name of the subfolder. Other files are left out. */
export function photosIn<F extends Named>(files: readonly F[]): { names: string[]; photos: F[]; labels: Uint8Array } {
  const classOf = ({ webkitRelativePath }: Named) => webkitRelativePath.split("/").slice(1, -1)[0];
  const photos = files.filter((file) => file.type.startsWith("image/") && !file.name.startsWith(".") && classOf(file) !== undefined)
    .sort((a, b) => compare(a.webkitRelativePath, b.webkitRelativePath)); // browsers list a folder in any order
  const names = [...new Set(photos.map((photo) => classOf(photo)!))].sort(compare);
  checkSizes(files[0]?.webkitRelativePath.split("/")[0] ?? "", names.length, photos.length);
  return { names, photos, labels: Uint8Array.from(photos, (photo) => names.indexOf(classOf(photo)!)) };
}

// ---- IDX files --------------------------------------------------------------

/** Images and labels, in either order, each as it is or packed by gzip. */
export async function readIdx(files: readonly File[]): Promise<Grey> {
  if (files.length !== 2) throw new Error(`expected two IDX files, images and their labels, got ${files.length}`);
  const read = await Promise.all(files.map(async (file) => ({ file, start: await firstBytes(file, headerBytes(3)) })));
  const [images, labels] = read[0]!.start[3] === 1 ? [read[1]!, read[0]!] : [read[0]!, read[1]!];
  const shape = shapeOf(images.file.name, images.start, 3), [count] = shapeOf(labels.file.name, labels.start, 1);
  checkPairs(images.file.name, shape[0]!, count!);
  if (bytesIn(shape) > MOST.bytes) throw new Error(`${images.file.name}: expected at most ${MOST.bytes} bytes, got a header that announces ${bytesIn(shape)}`);
  checkSizes(images.file.name, 2, count!);
  const numbers = await bytesOf(labels.file, 1, count!);
  const classes = classesIn(labels.file.name, numbers);
  checkSizes(labels.file.name, classes, count!);
  return {
    names: Array.from({ length: classes }, (_, label) => String(label)), labels: numbers,
    rows: shape[1]!, columns: shape[2]!, pixels: await bytesOf(images.file, 3, bytesIn(shape)),
  };
}

async function bytesOf(file: File, rank: number, count: number): Promise<Uint8Array> {
  const bytes = await firstBytes(file, headerBytes(rank) + count + 1);
  return idxIn(file.name, bytes, rank).bytes;
}

/** At most so many bytes of a file, unpacked. */
async function firstBytes(file: File, most: number): Promise<Uint8Array> {
  const magic = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const packed = magic[0] === 0x1f && magic[1] === 0x8b;
  if (!packed) return new Uint8Array(await file.slice(0, most).arrayBuffer());
  const chunks: BlobPart[] = [];
  let length = 0;
  try {
    const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      chunks.push(next.value);
      length += next.value.length;
      if (length >= most) {
        void reader.cancel();
        break;
      }
    }
  } catch (cause) {
    throw new Error(`${file.name}: expected a whole gzip file, got a damaged one`, { cause });
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer()).subarray(0, most);
}
