// Finds the data. MNIST (LeCun, Cortes, Burges) is four files with Yann LeCun's own names. If they
// are missing, they are downloaded from a public mirror into the cache folder and checked against
// their SHA-256. Pen drawings are never downloaded.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { idxIn } from "../base/idx.mjs";
import { Trouble, cacheFolder, root, say, timed } from "./lib.mjs";

const sha256 = {
  "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
  "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
  "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
  "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
};
const mirrors = [
  "https://ossci-datasets.s3.amazonaws.com/mnist/",
  "https://storage.googleapis.com/cvdf-datasets/mnist/",
];
const cached = join(cacheFolder, "mnist");
const names = Object.keys(sha256);

/** Where a data set under MNIST's file names may be. */
function places() {
  const data = process.env.VITRINE_DATA;
  return [data, data && join(data, "mnist"), join(root, "..", "shared", "mnist"), cached].filter(Boolean);
}

const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Whether a gzip file is whole and, if it is IDX, as long as its header says. */
function isWhole(path) {
  let bytes;
  try {
    if (!statSync(path).isFile()) return false;
    bytes = gunzipSync(readFileSync(path), { maxOutputLength: 2 ** 30 });
    const [, rank] = path.match(/idx(\d)-ubyte/) ?? [];
    if (rank) idxIn(path, bytes, Number(rank));
  } catch {
    return false;
  }
  return bytes.length > 0;
}

/** Whether all files are whole. Names those that are not, as after an interrupted download. */
function areWhole(folder, files) {
  if (!files.every((name) => existsSync(join(folder, name)))) return false;
  const incomplete = files.filter((name) => !isWhole(join(folder, name)));
  if (incomplete.length > 0) say(`✗ ${folder}: not whole: ${incomplete.join(", ")}`);
  return incomplete.length === 0;
}

/** The folder that holds all four files; undefined without one. Other data sets with MNIST's file
 *  names, such as Fashion-MNIST, are found too. */
export const findMnist = () => places().find((folder) => areWhole(folder, names));

/** MNIST's own images of a part (count, 28, 28), light ink on black, and their labels; undefined if
 *  they are not on this machine. Unlike findMnist it takes no other data set. */
function digitsOf(part) {
  const files = names.filter((name) => name.startsWith(part));
  const isOwn = (path) => existsSync(path) && hashOf(readFileSync(path)) === sha256[basename(path)];
  const folder = places().find((folder) => files.every((name) => isOwn(join(folder, name))));
  if (!folder) return undefined;
  return readDigits(folder, part);
}

/** The images (count, 28, 28) and labels of a part, "train" or "t10k", in a folder of MNIST's files. */
export function readDigits(folder, part) {
  const [images, labels] = ["images-idx3", "labels-idx1"].map((name, i) => {
    const path = join(folder, `${part}-${name}-ubyte.gz`);
    return idxIn(path, gunzipSync(readFileSync(path)), [3, 1][i]).bytes;
  });
  return { images, labels };
}

export const testDigits = () => digitsOf("t10k");
export const trainingDigits = () => digitsOf("train");

/** The file of pen drawings; undefined if there is none. */
export function findStrokes() {
  const data = process.env.VITRINE_DATA;
  const folders = [data, data && join(data, "strokes"), data && join(data, "..", "strokes"),
    join(root, "..", "shared", "strokes")];
  const name = "pendigits-train.jsonl.gz";
  const found = folders.filter(Boolean).find((folder) => areWhole(folder, [name]));
  return found && join(found, name);
}

export async function mnist() {
  const found = findMnist();
  if (found) {
    say(`✓ MNIST: ${found}`);
    return found;
  }
  await timed(`MNIST, 11 MB, into ${cached}`, async () => {
    mkdirSync(cached, { recursive: true });
    for (const name of names) await fetchFile(name);
  });
  return cached;
}

async function fetchFile(name) {
  const path = join(cached, name);
  const intact = (bytes) => hashOf(bytes) === sha256[name];
  if (existsSync(path) && intact(readFileSync(path))) return;
  const refusals = [];
  for (const mirror of mirrors) {
    try {
      const response = await fetch(mirror + name);
      const bytes = Buffer.from(await response.arrayBuffer());
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      if (!intact(bytes)) throw new Error("the SHA-256 is not MNIST's");
      writeFileSync(`${path}.part`, bytes);
      return renameSync(`${path}.part`, path);
    } catch (error) {
      refusals.push(`  ${mirror}${name}: ${error.cause?.message ?? error.message}`);
    }
  }
  throw new Trouble(`cannot download MNIST:\n${refusals.join("\n")}\n` +
    `  Put its four files into a folder and name that in $VITRINE_DATA.`);
}
