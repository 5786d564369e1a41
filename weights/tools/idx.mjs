// node weights/tools/idx.mjs FOLDER OUT [t10k]: packs images in folders by class for `vit train --data OUT`, which
// decodes none: as IDX files, train-images-idx4-ubyte.gz (count, 3, rows, columns) and train-labels-idx1-ubyte.gz, or t10k- for images to measure by.
// The classes take turns, so that any last part of the images, as for validation, has all of them. Before them all come the
// images of a folder called "none", which are of no class: a model with doubt learns from them what it does not know.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import sharp from "sharp";

/** An IDX file of bytes: LeCun, Cortes & Burges. */
const idx = (shape, data) => {
  const header = Buffer.alloc(4 + 4 * shape.length);
  header.set([0, 0, 8, shape.length]);
  shape.forEach((size, axis) => header.writeUInt32BE(size, 4 + 4 * axis));
  return gzipSync(Buffer.concat([header, data]));
};

/** Of no class, in src/train/strokes.h. */
const NONE = { folder: "none", label: 255 };

/** Paths and class numbers, class by class in turn. */
function inTurn(folder) {
  const filesOf = (name) => readdirSync(join(folder, name)).sort().map((file) => join(folder, name, file));
  const folders = readdirSync(folder).sort(), classes = folders.filter((name) => name !== NONE.folder).map(filesOf);
  const none = folders.includes(NONE.folder) ? filesOf(NONE.folder).map((path) => ({ path, label: NONE.label })) : [];
  const most = Math.max(...classes.map(({ length }) => length));
  const turns = Array.from({ length: most }, (_, turn) => classes.flatMap((of, label) => {
    const path = of[turn - most + of.length]; // a class with fewer images begins later
    return path ? [{ path, label }] : [];
  }));
  return [none, ...turns].flat();
}

const [folder, out, part = "train"] = process.argv.slice(2);
if (!folder || !out) {
  console.log("node weights/tools/idx.mjs FOLDER OUT [t10k]: packs images of one size, in folders by class, as IDX files");
  process.exit(process.argv.length > 2 ? 1 : 0);
}
const all = inTurn(folder), planes = [];
let size;
for (const { path } of all) {
  const { data, info } = await sharp(path).toColourspace("srgb").removeAlpha().raw().toBuffer({ resolveWithObject: true });
  size ??= [info.height, info.width];
  if (info.channels !== 3 || info.height !== size[0] || info.width !== size[1]) {
    throw new Error(`${path}: expected 3 channels of ${size.join("×")}, got ${info.channels} of ${info.height}×${info.width}`);
  }
  const pixels = info.height * info.width;
  planes.push(Buffer.from(Uint8Array.from({ length: 3 * pixels }, (_, at) => data[(at % pixels) * 3 + Math.floor(at / pixels)])));
  if (planes.length % 5000 === 0) console.error(`${planes.length} of ${all.length} images`);
}
mkdirSync(out, { recursive: true });
writeFileSync(join(out, `${part}-images-idx4-ubyte.gz`), idx([all.length, 3, ...size], Buffer.concat(planes)));
writeFileSync(join(out, `${part}-labels-idx1-ubyte.gz`), idx([all.length], Buffer.from(all.map(({ label }) => label))));
console.log(`${out}: ${all.length} images of ${size.join("×")}, ${new Set(all.map(({ label }) => label).filter((label) => label !== NONE.label)).size} classes`);
