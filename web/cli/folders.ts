/** Photos in a folder for each class, perhaps below train/ and validation/. */
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Part } from "vitrine/train";
import { reason } from "../errors.ts";
import { type DataSet, type Example, SHARE, split } from "./examples.ts";
import { IMAGE } from "./files.ts";
import { UsageError } from "./options.ts";
import { Photos } from "./photos.ts";
import type { Terminal } from "./terminal.ts";

interface Photo {
  readonly file: string;
  readonly label: string;
}

const VALIDATION = ["validation", "val"];
/** If a folder has train/ and no other folders than these, they hold the parts. */
const PARTS = ["train", ...VALIDATION, "test"];

const { compare } = new Intl.Collator("en", { numeric: true });
/** 2 before 10. Names that are equal by that are in the order of their characters. */
const natural = (a: string, b: string): number => compare(a, b) || (a < b ? -1 : 1);

export async function openFolders(path: string, share: number | undefined, terminal: Terminal): Promise<DataSet> {
  const names = await foldersIn(path, terminal);
  const apart = arePartsOf(names);
  const from = apart ? join(path, "train") : path;
  const labels = apart ? await foldersIn(from, terminal) : names;
  if (labels.length === 0) {
    throw new Error(`${from}: expected a folder of photos for each class, or IDX files under MNIST's names, got neither`);
  }
  const photos = await photosOf(from, labels);
  const own = apart ? VALIDATION.find((name) => names.includes(name)) : undefined;
  const validation = own === undefined ? [] : await validationPhotos(join(path, own), labels, share, terminal);
  const parts: Part[] = own !== undefined
    ? [...photos.map(() => "train" as const), ...validation.map(() => "validation" as const)]
    : split(photos.map(({ label }) => labels.indexOf(label)), share ?? SHARE);
  return dataSet(path, labels, [...photos, ...validation], parts, terminal);
}

/** The part to measure on if a data set has both. */
export type HeldOutPart = "test" | "validation";

/** Only photos to measure on: those of test/ or validation/ if they lie beside train/, else all. */
export async function openHeldOutFolders(path: string, preferred: HeldOutPart, terminal: Terminal): Promise<DataSet> {
  const names = await foldersIn(path, terminal);
  const apart = arePartsOf(names);
  const order = preferred === "test" ? ["test", ...VALIDATION] : [...VALIDATION, "test"];
  const part = apart ? order.find((name) => names.includes(name)) : undefined;
  const from = part === undefined ? path : join(path, part);
  if (apart && part === undefined) {
    throw new Error(`${path}: expected photos that were not trained on, in test or validation, got only train; to use these, pass ${join(path, "train")}`);
  }
  const labels = part === undefined ? names : await foldersIn(from, terminal);
  if (labels.length === 0) {
    throw new Error(`${from}: expected a folder of photos for each class, or IDX files under MNIST's names of the test part (t10k-…), got neither`);
  }
  const photos = await photosOf(from, labels);
  return dataSet(from, labels, photos, photos.map(() => "validation"), terminal);
}

/** Whether these folders are the parts of a data set, and not classes. */
const arePartsOf = (names: readonly string[]): boolean =>
  names.includes("train") && names.every((name) => PARTS.includes(name));

async function dataSet(
  path: string,
  labels: readonly string[],
  all: readonly Photo[],
  parts: readonly Part[],
  terminal: Terminal,
): Promise<DataSet> {
  const decoder = await Photos.load(terminal.stdin);
  return {
    path, labels, parts, named: true,
    async *groups(): AsyncGenerator<readonly Example[]> {
      let at = 0;
      for await (const group of decoder.groups(all.map(({ file }) => file))) {
        yield group.map((read) => {
          const example = { name: read.file, label: all[at]!.label, part: parts[at++]! };
          return "photo" in read ? { ...example, image: read.photo } : { ...example, error: read.error };
        });
      }
    },
  };
}

/** The folder's own photos to measure on. */
async function validationPhotos(path: string, labels: readonly string[], share: number | undefined, terminal: Terminal): Promise<Photo[]> {
  if (share !== undefined) {
    throw new UsageError(`--validation: expected none, because ${path} has the photos to measure on, got ${share}`);
  }
  const own = await foldersIn(path, terminal);
  const other = own.find((name) => !labels.includes(name));
  if (other === undefined) return photosOf(path, own);
  throw new Error(`${join(path, other)}: expected a class that is trained on (${labels.join(", ")}), got another one`);
}

/** The folders in a folder, without hidden ones. Names the photos beside them. */
async function foldersIn(path: string, terminal: Terminal): Promise<string[]> {
  const names = (await listFolder(path)).filter((name) => !name.startsWith("."));
  const are = await Promise.all(names.map(async (name) =>
    (await stat(join(path, name)).catch(() => undefined))?.isDirectory() === true));
  const beside = names.filter((name, i) => !are[i] && IMAGE.test(name));
  for (const name of beside) terminal.complain(`${join(path, name)}: skipped, because it is not in a class's folder`);
  return names.filter((_, i) => are[i]).sort(natural);
}

async function photosOf(path: string, labels: readonly string[]): Promise<Photo[]> {
  const all = await Promise.all(labels.map(async (label) => {
    const folder = join(path, label);
    const inside = await listFolder(folder, true);
    const files = inside.filter((name) => IMAGE.test(name) && !/(^|[/\\])\./.test(name)).sort(natural);
    return files.map((file) => ({ file: join(folder, file), label }));
  }));
  const without = labels.find((_, i) => all[i]!.length === 0); // the first, whichever folder is read first
  if (without === undefined) return all.flat();
  throw new Error(`${join(path, without)}: expected photos of the class "${basename(without)}", got none`);
}

const listFolder = (path: string, recursive = false): Promise<string[]> =>
  readdir(path, { recursive }).catch((cause: unknown) => {
    throw new Error(`${path}: expected a folder, got ${reason(cause)}`, { cause });
  });
