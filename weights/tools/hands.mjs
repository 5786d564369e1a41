// node weights/tools/hands.mjs OMNIGLOT [UJI]: gathers the drawings that a model with an output for doubt learns
// from, into build/train/hands.jsonl.gz: digits of Pen-Based (UCI) and UNIPEN, and of no class the letters of
// UNIPEN and the signs of Omniglot, without those that many people write like a digit; for later runs into
// hands-and-signs.jsonl.gz with the signs of draw-signs.mjs, too, and into hands-signs-and-uji.jsonl.gz with the
// digits of UJI Pen Characters besides. OMNIGLOT is the folder into which strokes_background_small1.zip and
// strokes_background_small2.zip were unpacked, UJI the file Data/ujipenchars2.json of the public repository
// bridger/NumberPad: of 60 writers each digit twice.
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { drawSigns } from "./draw-signs.mjs";
import { findStrokes } from "../../web/scripts/data.mjs";
import { Trouble, isMain, main, root, say } from "../../web/scripts/lib.mjs";

export const files = ["hands", "hands-and-signs", "hands-signs-and-uji"].map((name) => join(root, "build", "train", `${name}.jsonl.gz`));

/** Letters of UNIPEN that many people write like a digit. */
const LIKE_DIGITS = "BDGIOQSZbgijloqsyz";
/** Characters of Omniglot of which digits-large, after its second run, is certain to see a digit in more than half of the drawings. */
const SIGNS_LIKE_DIGITS = {
  "Balinese": [5],
  "Early_Aramaic": [1, 4, 6, 9, 10, 14, 16, 17, 20],
  "Greek": [4, 6, 8, 15, 23],
  "Japanese_(katakana)": [2, 8, 24, 27, 32, 43, 46],
  "Korean": [10, 12, 21, 22, 33, 37],
  "Latin": [7, 9, 12, 15, 17, 19, 26],
  "Sanskrit": [13, 37],
  "Tagalog": [3, 16],
};
/** writers_part() in src/train/strokes.c divides writers by their numbers: from 104, the three of UNIPEN who drew
 *  a thousand and more are for training. */
export const FIRST_OF_UNIPEN = 104;
const [FIRST_OF_OMNIGLOT, DRAWERS, FIRST_OF_SIGNS] = [1000, 20, 2000];
/** UJI's writers have the numbers 3001, 3011 ... and so are all for training. */
export const FIRST_OF_UJI = 3001;
const EACH_BY_UJI = 2;
const EACH_SIGN = 150;

const linesOf = (path) => gunzipSync(readFileSync(path)).toString().trim().split("\n").map((line) => JSON.parse(line));

/** UNIPEN's digits and letters; a writer of both has one number. */
function unipen(folder) {
  const sets = ["digits", "letters"].map((name) => linesOf(join(folder, `unipen-${name}.jsonl.gz`)));
  const writers = [...new Set(sets.flat().map(({ writer }) => writer))].sort();
  const numbers = new Map(writers.map((writer, index) => [writer, FIRST_OF_UNIPEN + index]));
  const drawings = sets.flat().filter(({ label }) => typeof label === "number" || !LIKE_DIGITS.includes(label));
  return drawings.map(({ label, writer, strokes }) =>
    ({ label: typeof label === "number" ? label : null, writer: numbers.get(writer), strokes }));
}

/** A drawing of Omniglot: lines of x, y and milliseconds, y up, strokes between START or BREAK and BREAK. */
function strokesIn(text) {
  const strokes = text.split("BREAK").map((stroke) => stroke.trim().split("\n").filter((line) => line.includes(","))
    .map((line) => line.split(",").slice(0, 2).map((number) => Math.round(Number(number) * 10) / 10)));
  return strokes.filter((points) => points.length > 0);
}

const numberOf = (character) => Number(character.slice(-2));
const foldersIn = (path) => readdirSync(path, { withFileTypes: true })
  .filter((entry) => entry.isDirectory()).map(({ name }) => name).sort();

/** Omniglot's drawings, {label, writer, strokes}: each alphabet has twenty drawers of its own. */
function omniglot(folder) {
  const sets = foldersIn(folder).filter((name) => name.startsWith("strokes_background_small"));
  const alphabets = new Map(sets.flatMap((set) =>
    foldersIn(join(folder, set)).map((name) => [name, join(folder, set, name)])));
  return [...alphabets].sort().flatMap(([alphabet, path], index) => foldersIn(path)
    .filter((character) => !SIGNS_LIKE_DIGITS[alphabet]?.includes(numberOf(character))).flatMap((character) =>
    readdirSync(join(path, character)).filter((name) => name.endsWith(".txt")).sort().map((name) => ({
      label: null,
      writer: FIRST_OF_OMNIGLOT + DRAWERS * index + Number(name.slice(-6, -4)) - 1,
      strokes: strokesIn(readFileSync(join(path, character, name), "latin1")),
    }))));
}

/** UJI's digits; the file lists each digit's drawings by writer, y down. */
function uji(path) {
  const { rawData } = JSON.parse(readFileSync(path, "utf8"));
  if (Object.keys(rawData ?? {}).join("") !== "0123456789") throw new Trouble(`${path}: expected rawData of the ten digits`);
  return Object.entries(rawData).flatMap(([digit, drawings]) => drawings.map((strokes, at) => ({
    label: Number(digit),
    writer: FIRST_OF_UJI + 10 * Math.floor(at / EACH_BY_UJI),
    strokes: strokes.map((points) => points.map(([x, y]) => [x, -y])),
  })));
}

if (isMain(import.meta)) {
  await main(async () => {
    const [signs, ujiFile] = process.argv.slice(2), pens = findStrokes();
    if (!signs || !existsSync(signs)) throw new Trouble("expected the folder of Omniglot's unpacked strokes");
    if (!pens) throw new Trouble("no pen drawings: expected them in $VITRINE_DATA or in strokes beside it");
    const all = [...linesOf(pens).map(({ label, writer, strokes }) => ({ label, writer, strokes })),
      ...unipen(dirname(pens)), ...omniglot(signs)];
    const withSigns = [...all, ...drawSigns(EACH_SIGN, FIRST_OF_SIGNS)];
    const sets = [all, withSigns, ...(ujiFile ? [[...withSigns, ...uji(ujiFile)]] : [])];
    for (const [at, drawings] of sets.entries()) {
      const path = files[at];
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(`${path}.new`, gzipSync(drawings.map((drawing) => `${JSON.stringify(drawing)}\n`).join("")));
      renameSync(`${path}.new`, path);
      const digits = drawings.filter(({ label }) => label !== null).length;
      say(`✓ ${path}: ${digits} digits, ${drawings.length - digits} drawings of no class`);
    }
  });
}
