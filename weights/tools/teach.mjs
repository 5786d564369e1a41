// node weights/tools/teach.mjs: how well vitrine/train's `teach` does. It teaches a model one sign by three
// drawings, and then counts: later drawings of the sign, drawings of nothing that it calls uncertain, and
// MNIST's digits before and after. Then it teaches five signs of a writer of pen drawings by eight examples
// each, writer after writer. It needs dist/, from `npm run build`.
//
// Signs are all labels of the drawings that the model does not know, letters for instance. Where there
// are none, five of the digits turned by a quarter are the signs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { findStrokes, mnist, testDigits, trainingDigits } from "../../web/scripts/data.mjs";
import { Trouble, isMain, main, root, say } from "../../web/scripts/lib.mjs";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { dice, scribble, shape } from "./shapes.mjs";

const help = `node weights/tools/teach.mjs [OPTIONS]

  --model FILE     the model that learns (default: weights/digits.safetensors)
  --strokes FILE   pen drawings, gzipped lines of JSON as in weights/README.md
                   (default: those that npm run train finds)
  --writers all    every writer of the file (default: those whose number ends in 0 or 5, on
                   whom no model of ours was trained)
  --images PART    validation, MNIST's last 5,000 training images (default), or test
  --help           this text`;

const { drawingOf, PEN, SIDE } = await importTypescript("web/demo/ink.ts");

const BOX = 180; // how large a drawing is made on the pad
const SIGNS = 5, SHOTS = 8, VALIDATION = 5000;
const TURNED = [2, 3, 4, 5, 7]; // a turned 0, 1, 6, 8 or 9 looks like a digit

const upright = ([x, y]) => [x, -y], turned = ([x, y]) => [y, x];

/** A pen drawing in the middle of the pad. */
function onPad({ strokes }, place) {
  const points = strokes.map((stroke) => stroke.map(place)), all = points.flat();
  const [left, top] = [0, 1].map((axis) => Math.min(...all.map((point) => point[axis])));
  const [right, bottom] = [0, 1].map((axis) => Math.max(...all.map((point) => point[axis])));
  const scale = BOX / (Math.max(right - left, bottom - top) || 1);
  const move = ([x, y]) =>
    ({ x: SIDE / 2 + (x - (left + right) / 2) * scale, y: SIDE / 2 + (y - (top + bottom) / 2) * scale, width: PEN });
  return points.map((stroke) => stroke.map(move));
}

/** One writer's signs: to teach, and to ask for afterwards. */
export function signsOf(rows, writer, knownLabels) {
  const own = rows.filter((row) => row.writer === writer);
  const others = [...new Set(own.map(({ label }) => String(label)))].filter((label) => !knownLabels.includes(label));
  const signs = others.length > 0 ? others.slice(0, SIGNS).map((label) => [label, upright, label])
    : TURNED.map((digit) => [String(digit), turned, `turned ${digit}`]);
  const examples = [], testDrawings = [];
  for (const [label, place, name] of signs) {
    const drawings = own.filter((row) => String(row.label) === label);
    drawings.forEach((row, index) => (index < SHOTS ? examples : testDrawings).push({ label: name, strokes: onPad(row, place) }));
  }
  return { examples, testDrawings };
}

/** MNIST's images of a part, with their labels; undefined where they are not at hand. */
export function digits(part) {
  const all = part === "test" ? testDigits() : trainingDigits();
  if (!all) return undefined;
  const { images, labels } = all, from = part === "test" ? 0 : labels.length - VALIDATION;
  return Array.from(labels.subarray(from), (label, index) => ({
    label: String(label),
    image: { data: new Uint8Array(images.subarray(784 * (from + index), 784 * (from + index + 1))), width: 28, height: 28, channels: 1 },
  }));
}

/** The shares of the answers that are their image's label, and that are uncertain. Without images: NaN. */
async function shares(vit, all) {
  const answers = await vit.classifyAll(all.map(({ image }) => image), { topK: 1 });
  const share = (is) => answers.filter(is).length / all.length;
  return { right: share(({ classes }, index) => classes[0].label === all[index].label), uncertain: share(({ uncertain }) => uncertain) };
}

/** The share of the images whose answer by these weights is their label. */
export async function rightBy(weights, images, { variant = "auto" } = {}) {
  const { Vit } = await import("../../dist/vit.js");
  const vit = await Vit.load(weights, { variant });
  const { right } = await shares(vit, images);
  vit.dispose();
  return right;
}

const withImage = ({ label, strokes }) => ({ label, image: drawingOf(strokes) });

/**
 * What a lesson brings and costs: shares from 0 to 1, and seconds.
 *
 * @param examples `{ label, image }`. @param testDrawings the same, drawn later. @param nothing drawings of no class.
 * @param images of the classes that the model knew before.
 */
export async function lesson(weights, { examples, testDrawings, nothing = [] }, images, { variant = "auto" } = {}) {
  const [{ teach }, { Vit }] = await Promise.all([import("../../dist/train.js"), import("../../dist/vit.js")]);
  const begin = performance.now();
  const file = await teach(weights, examples, { variant });
  const seconds = (performance.now() - begin) / 1000;
  const vit = await Vit.load(file, { variant });
  const later = await shares(vit, testDrawings), { uncertain: unknown } = await shares(vit, nothing), { right: after } = await shares(vit, images);
  vit.dispose();
  return { signs: later.right, doubted: later.uncertain, unknown, after, seconds };
}

/** One sign by three drawings, thirty later ones of it, and drawings of other things. */
export function signByThree(name, seed = 7) {
  const random = dice(seed), many = (count, draw) => Array.from({ length: count }, draw);
  const sign = () => ({ label: name, image: shape(name, random) });
  const others = ["A", "house", "heart", "star"].filter((other) => other !== name);
  return {
    examples: many(3, sign), testDrawings: many(30, sign),
    nothing: [...others.flatMap((other) => many(15, () => shape(other, random))), ...many(20, () => scribble(random))].map((image) => ({ image })),
  };
}

const ONE_SIGN = ["star", "heart", "fish", "bolt", "arrow"];

async function measure({ model, strokes, writers, images }) {
  const rows = gunzipSync(readFileSync(strokes)).toString().trim().split("\n").map((line) => JSON.parse(line));
  const all = [...new Set(rows.map(({ writer }) => writer))].filter((writer) => writers === "all" || writer % 5 === 0);
  await mnist();
  const test = digits(images), weights = new Uint8Array(readFileSync(model));
  const before = await rightBy(weights, test);
  for (const name of ONE_SIGN) {
    const one = await lesson(weights, signByThree(name), test);
    say(`${name}: ${percent(one.signs)} of 30 later ones, ${percent(one.doubted)} in doubt; ${percent(one.unknown)} of other things not known; digits ${percent(before)} before and ${percent(one.after)} after, ${one.seconds.toFixed(1)} s`);
  }
  const digitLabels = [..."0123456789"], results = [];
  for (const writer of all.toSorted((a, b) => a - b)) {
    const signs = signsOf(rows, writer, digitLabels);
    if (signs.testDrawings.length === 0) continue;
    const one = await lesson(weights, { examples: signs.examples.map(withImage), testDrawings: signs.testDrawings.map(withImage) }, test);
    results.push(one);
    say(`writer ${writer}: ${percent(one.signs)} of ${signs.testDrawings.length} signs, digits ${percent(before)} before and ${percent(one.after)} after, ${one.seconds.toFixed(1)} s`);
  }
  if (results.length === 0) throw new Trouble(`${strokes}: no writer has more than ${SHOTS} drawings of a sign`);
  const mean = (key) => results.reduce((sum, one) => sum + one[key], 0) / results.length;
  say(`mean of ${results.length} writers: ${percent(mean("signs"))} of the signs; digits lose ${((before - mean("after")) * 100).toFixed(2)} points`);
}

const percent = (value) => `${(value * 100).toFixed(2)} %`;

if (isMain(import.meta)) {
  await main(async () => {
    const { values } = parseArgs({ options: {
      model: { type: "string", default: join(root, "weights", "digits.safetensors") },
      strokes: { type: "string", default: findStrokes() },
      writers: { type: "string", default: "held out" },
      images: { type: "string", default: "validation" },
      help: { type: "boolean" },
    } });
    if (values.help) return say(help);
    if (!["validation", "test"].includes(values.images)) throw new Trouble(`--images: expected validation or test, got "${values.images}"`);
    if (!values.strokes) throw new Trouble("no pen drawings: name a file with --strokes, as weights/README.md describes it");
    await measure(values);
  });
}
