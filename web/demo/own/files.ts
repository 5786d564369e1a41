/** Sorts dropped, pasted or chosen files into one checkpoint and a picture. */
import { ownWords } from "./words.ts";

/** What was dropped, pasted or chosen. Folders are among the entries. */
export interface FileTransfer {
  entries: FileSystemEntry[];
  files: File[];
}

export interface FileWithPath {
  file: File;
  path: string;
}

const MOST_FILES = 2000;

export async function allIn({ entries, files }: FileTransfer): Promise<FileWithPath[]> {
  if (entries.length === 0) return withPaths(files);
  const all: FileWithPath[] = [];
  for (const entry of entries) await walk(entry, all);
  return all;
}

async function walk(entry: FileSystemEntry, all: FileWithPath[]): Promise<void> {
  if (all.length >= MOST_FILES) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    all.push({ file, path: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return; // a reader gives at most a hundred at a time
    for (const one of some) await walk(one, all);
  }
}

export function withPaths(files: Iterable<File>): FileWithPath[] {
  return [...files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}

const folderOf = ({ path }: FileWithPath) => path.slice(0, path.lastIndexOf("/") + 1);
const depthOf = (one: FileWithPath) => folderOf(one).split("/").length;

const PYTORCH = /\.(bin|pth?)$/;

/** The checkpoint is the files in the folder of the topmost weights. Other folders are ignored. */
export function sortOut(files: FileWithPath[]): { checkpoint: File[]; picture: File | undefined } {
  const byName = (pattern: RegExp) => files.filter(({ file }) => pattern.test(file.name));
  const nearest = (pattern: RegExp) => byName(pattern).sort((a, b) => depthOf(a) - depthOf(b))[0];
  const weights = nearest(/\.safetensors$/) ?? nearest(PYTORCH);
  const beside = weights && folderOf(weights);
  const checkpoint = byName(/\.(safetensors|json|bin|pth?)$/).filter((one) => folderOf(one) === beside);
  return {
    checkpoint: checkpoint.map(({ file }) => file),
    picture: files.find(({ file }) => file.type.startsWith("image/") || isNamedHeic(file))?.file,
  };
}

/** Only some systems know the type of an iPhone's photo. */
const isNamedHeic = ({ name }: File) => /\.hei[cf]$/i.test(name);

/** A message for files that hold neither a checkpoint nor a picture. */
export function misfit(files: FileWithPath[]): string {
  const names = files.map(({ file }) => file.name);
  const got = names.length > 3 ? ownWords().otherFiles({ count: String(names.length) }) : names.join(", ") || ownWords().noFiles;
  return ownWords().misfit({ got });
}
