/** What a command line names → image files: folders are walked, `-` is standard input. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "./options.ts";

/** What sharp decodes, by name: a folder holds other things too. */
const IMAGE = /\.(png|jpe?g|webp|tiff?|gif|avif)$/i;

export const STDIN = "-";

/** Files stay as they are named, in the order of the command line; a folder's are sorted. */
export async function filesOf(named: readonly string[]): Promise<string[]> {
  const files = await Promise.all(named.map(async (name) => {
    if (name === STDIN || !(await isFolder(name))) return [name];
    const inside = await readdir(name, { recursive: true });
    const images = inside.filter((file) => IMAGE.test(file)).sort();
    return images.length > 0 ? images.map((file) => join(name, file)) : [name]; // fails when it is read
  }));
  const all = files.flat();
  if (all.filter((file) => file === STDIN).length <= 1) return all;
  throw new UsageError("photos: expected - once, for standard input is read to its end");
}

const isFolder = (name: string): Promise<boolean> =>
  stat(name).then((there) => there.isDirectory(), () => false); // what is not there is told when it is read
