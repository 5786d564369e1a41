/** The image files that a command line names. Folders are walked; `-` is standard input. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "./options.ts";

/** Names of files that sharp decodes, because a folder holds other files too. */
export const IMAGE = /\.(png|jpe?g|webp|tiff?|gif|avif)$/i;

export const STDIN = "-";

/** The files in the order of the command line. The files of one folder are sorted. */
export async function filesOf(names: readonly string[]): Promise<string[]> {
  const files = await Promise.all(names.map(async (name) => {
    if (name === STDIN || !(await isFolder(name))) return [name];
    const inside = await readdir(name, { recursive: true });
    const images = inside.filter((file) => IMAGE.test(file)).sort();
    return images.length > 0 ? images.map((file) => join(name, file)) : [name]; // reading will fail
  }));
  const all = files.flat();
  if (all.filter((file) => file === STDIN).length <= 1) return all;
  throw new UsageError("photos: expected - only once, because standard input can be read only once");
}

const isFolder = (name: string): Promise<boolean> =>
  stat(name).then((there) => there.isDirectory(), () => false); // reading a missing file will fail
