// node weights/tools/numbers.mjs validation|test|uji: draws numbers from 0 to 9999 on wide pads, for the model `numbers`,
// into build/numbers/PART: images that the library has prepared, and rows of tokens. Their digits are MNIST's, set side
// by side, and those of pens that hands.mjs has gathered; where there is no number, letters, signs, scribbles and
// longer numbers; `mixed` has all of it, as in training. The parts share no digit and no writer; uji has rows by the
// writers of UJI, by which the model is chosen and calibrated. It needs `npm run build`. `npm run train -- numbers`
// draws what the model learns from, and trains it.
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { readSafetensors, writeSafetensors } from "../../web/base/safetensors.mjs";
import { mnist, readDigits } from "../../web/scripts/data.mjs";
import { Trouble, isMain, main, root, say } from "../../web/scripts/lib.mjs";
import { finishing } from "./finish.mjs";
import { FIRST_OF_UJI, FIRST_OF_UNIPEN, files as hands } from "./hands.mjs";
import { LANGUAGES, TOKENS, tokensOf } from "./number-words.mjs";
import { SIGNS, dice, scribble, shape } from "./shapes.mjs";

export const IMAGE = [28, 112];
const [SIDE, TALL] = [28, 20]; // MNIST's images, and the digits in them
const VALIDATION = 5000; // the last of MNIST's training images, which choose
const VALIDATION_ROWS = 3000; // of `train`, its last
const MIXED = 6000;
const [PIXEL_UNIT, PEN_UNIT] = [40, 80]; // a digit's height on the pad

/** The writers of each part: writers_part in src/train/strokes.c. `trainval` is train and validation. */
const WRITERS = {
  train: (n) => n % 5 !== 0 && n % 10 !== 4,
  validation: (n) => n % 10 === 4,
  trainval: (n) => n % 5 !== 0,
  test: (n) => n % 5 === 0,
  uji: (n) => n >= FIRST_OF_UJI,
};

const within = (random, most) => (2 * random() - 1) * most;
const below = (random, count) => Math.floor(random() * count);
const pick = (random, list) => list[below(random, list.length)];
const between = (random, least, most) => least * (most / least) ** random();

// ---- Glyphs: digits and signs about (0,0), one high, y down ---------------

const glyphOfPixels = (bytes) => {
  const points = [];
  for (let at = 0; at < bytes.length; at++) if (bytes[at] > 64) points.push([(at % SIDE - 13.5) / TALL, (Math.floor(at / SIDE) - 13.5) / TALL]);
  return { bytes, points };
};

const boxOf = (points) => [0, 1].map((axis) => {
  const values = points.map((point) => point[axis]);
  return [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
});

/** A drawing by a pen, y up. Flat signs are made smaller, so that none is wider than 1.3. */
export function glyphOfStrokes(strokes) {
  const [[left, right], [low, high]] = boxOf(strokes.flat());
  const scale = 1 / Math.max(high - low, (right - left) / 1.3, 1e-6);
  const moved = strokes.map((points) => points.map(([x, y]) => [scale * (x - (left + right) / 2), scale * ((low + high) / 2 - y)]));
  return { strokes: moved, points: moved.flat(), narrowness: Math.min(right - left, high - low) * scale };
}

// ---- A row of glyphs ---------------------------------------------------------

/** How a hand writes a row: all lean alike and stand at similar distances, and each is a little different, or `loose`
 *  times as much. A spread row is wide and straight. */
function handOf(random, { loose = 1, isSpread = false }) {
  const hand = { loose, slant: within(random, 0.25), gap: 0.4 * random(), drift: within(random, 0.06), wide: Math.exp(within(random, 0.12)) };
  return isSpread ? { ...hand, gap: 3.5 * hand.gap, drift: 0.3 * hand.drift } : hand;
}

/** Each glyph's matrix and place in the row. `margin` is what the pen adds to each side. */
function placesOf(glyphs, hand, random, margin) {
  let edge = 0;
  return glyphs.map(({ points }, index) => {
    const size = Math.exp(within(random, 0.1 * hand.loose)), turn = within(random, 0.06 * hand.loose), lean = hand.slant + within(random, 0.07 * hand.loose);
    const wide = hand.loose > 1 ? hand.wide * Math.exp(within(random, 0.1 * (hand.loose - 1))) : hand.wide;
    const matrix = [size * wide, size * (turn - lean), -size * turn, size];
    const [[left, right], [top, bottom]] = boxOf(points.map(([x, y]) => [matrix[0] * x + matrix[1] * y, matrix[2] * x + matrix[3] * y]));
    const gap = index === 0 ? 0 : Math.max(-0.06, hand.gap + within(random, 0.08));
    const x = edge + gap + margin - left, y = within(random, 0.08) + hand.drift * index;
    edge = x + right + margin;
    return { matrix, x, y, top: y + top - margin, bottom: y + bottom + margin, left: x + left - margin, right: edge };
  });
}

function extentOf(places) {
  const least = (key) => Math.min(...places.map((place) => place[key])), most = (key) => Math.max(...places.map((place) => place[key]));
  return { left: least("left"), right: most("right"), top: least("top"), bottom: most("bottom") };
}

/** A pad around the row: its size, where it begins, and the unit. */
function padOf(places, unit) {
  const edge = 0.25, row = extentOf(places), [left, top] = [row.left - edge, row.top - edge];
  return { unit, left, top, width: Math.ceil(unit * (row.right + edge - left)), height: Math.ceil(unit * (row.bottom + edge - top)) };
}

/** A pad that is the model's input as it is, with the row anywhere on it. */
function inputPad(places, random) {
  const { left, right, top, bottom } = extentOf(places), [height, width] = IMAGE;
  const unit = Math.min(22, (width - 4) / (right - left), (height - 2) / (bottom - top)) * between(random, 0.75, 1);
  const start = (from, to, side) => from - (0.5 + within(random, 0.4)) * (side / unit - (to - from));
  return { unit, left: start(left, right, width), top: start(top, bottom, height), width, height };
}

/** MNIST's images, side by side: sampled bilinearly, ink over ink. */
function pixelRow(glyphs, random, { isInput = false, ...style } = {}) {
  const places = placesOf(glyphs, handOf(random, style), random, 0.02), pad = isInput ? inputPad(places, random) : padOf(places, PIXEL_UNIT);
  const { unit, width, height } = pad, data = new Uint8Array(width * height);
  glyphs.forEach(({ bytes }, index) => {
    const { matrix: [a, b, c, d], x, y } = places[index], det = a * d - b * c, step = TALL / unit / det;
    const [middleX, middleY] = [(x - pad.left) * unit, (y - pad.top) * unit], reach = 1.1 * unit;
    for (let row = Math.max(0, Math.floor(middleY - reach)); row < Math.min(height, middleY + reach); row++) {
      for (let column = Math.max(0, Math.floor(middleX - reach)); column < Math.min(width, middleX + reach); column++) {
        const [right, down] = [column - middleX, row - middleY];
        const u = 13.5 + step * (d * right - b * down), v = 13.5 + step * (a * down - c * right);
        const i = Math.floor(u), j = Math.floor(v);
        if (i < 0 || j < 0 || i >= SIDE - 1 || j >= SIDE - 1) continue;
        const at = j * SIDE + i, s = u - i, t = v - j;
        const upper = bytes[at] + s * (bytes[at + 1] - bytes[at]), lower = bytes[at + SIDE] + s * (bytes[at + SIDE + 1] - bytes[at + SIDE]);
        const ink = upper + t * (lower - upper), to = row * width + column;
        if (ink > data[to]) data[to] = ink;
      }
    }
  });
  return { data, width, height, isInput };
}

/** A glyph's strokes as another hand would write them: wider or narrower, each moved, and its ends cut. They are a drawing again: y up. */
export function distort(strokes, random) {
  const wide = Math.exp(within(random, 0.2));
  return strokes.map((points) => {
    const [right, down] = [within(random, 0.05), within(random, 0.05)];
    const [first, last] = [0, 1].map(() => (random() < 0.25 ? Math.floor(0.1 * random() * points.length) : 0));
    return points.slice(first, points.length - last).map(([x, y]) => [wide * x + right, down - y]);
  });
}

/** Drawings side by side, by one pen, their lines bent a little. */
function penRow(drawings, random, { isDistorted = false, ...style } = {}) {
  const glyphs = isDistorted ? drawings.map(({ strokes }) => glyphOfStrokes(distort(strokes, random))) : drawings;
  const narrow = Math.min(...glyphs.map(({ narrowness }) => Math.max(0.1, 0.55 * narrowness)));
  const pen = Math.min(between(random, 0.05, 0.22), narrow);
  const places = placesOf(glyphs, handOf(random, style), random, pen / 2), pad = padOf(places, PEN_UNIT);
  const strokes = glyphs.flatMap(({ strokes }, index) => {
    const { matrix: [a, b, c, d], x, y } = places[index];
    const [high, long, at] = [within(random, 0.04), 4 + within(random, 3), 6 * random()];
    return strokes.map((points) => points.map(([px, py]) => {
      const [u, v] = [px + high * Math.sin(long * py + at), py + high * Math.sin(long * px + at)];
      return { x: PEN_UNIT * (x + a * u + b * v - pad.left), y: PEN_UNIT * (y + c * u + d * v - pad.top), width: PEN_UNIT * pen };
    }));
  });
  return { strokes, width: pad.width, height: pad.height };
}

// ---- What is drawn -------------------------------------------------------------

/** A number's digits. Three in ten numbers are round: they have more zeros. */
function digitsOf(random, length) {
  const round = random() < 0.3;
  return Array.from({ length }, (_, at) =>
    (at > 0 && round && random() < 0.4 ? 0 : at === 0 && length > 1 ? 1 + below(random, 9) : below(random, 10)));
}
const lengthOf = (random) => [1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1, 2, 3][below(random, 20)];

/** A pen that wanders over a wide or a narrow field. */
function wandering(random) {
  const wide = between(random, 0.8, 5);
  let x = wide * random(), y = random(), angle = 6.28 * random(), turn = 0;
  const bend = between(random, 0.2, 1);
  return [Array.from({ length: 20 + below(random, 120) }, () => {
    angle += turn = 0.75 * turn + within(random, bend);
    x = Math.min(wide, Math.max(0, x + 0.1 * Math.cos(angle)));
    y = Math.min(1, Math.max(0, y + 0.1 * Math.sin(angle)));
    return [x, y];
  })];
}

/** The part's digits by MNIST and by writers, and its drawings of no digit. */
async function gather(part) {
  const folder = await mnist(), { images, labels } = readDigits(folder, part === "test" ? "t10k" : "train");
  const file = hands[part === "uji" ? 2 : 1];
  if (!existsSync(file)) throw new Trouble(`no drawings in ${file}: weights/tools/hands.mjs gathers them`);
  const first = part === "validation" ? labels.length - VALIDATION : 0, end = part === "train" ? labels.length - VALIDATION : labels.length;
  const pixels = Array.from({ length: end - first }, (_, i) =>
    ({ digit: labels[first + i], bytes: images.subarray(SIDE * SIDE * (first + i), SIDE * SIDE * (first + i + 1)) }));
  const drawings = gunzipSync(readFileSync(file)).toString().trim().split("\n").map((line) => JSON.parse(line))
    .filter(({ writer }) => WRITERS[part](writer));
  const writers = new Map();
  for (const { label, writer, strokes } of drawings.filter(({ label }) => label !== null)) {
    if (!writers.has(writer)) writers.set(writer, []);
    writers.get(writer).push({ digit: label, glyph: glyphOfStrokes(strokes) });
  }
  const others = drawings.filter(({ label }) => label === null).map(({ strokes }) => glyphOfStrokes(strokes));
  const byPens = [...writers].map(([writer, all]) => ({ writer, all }));
  return { pixels, writers: byPens, others };
}

const byDigit = (list) => Array.from({ length: 10 }, (_, digit) => list.filter((of) => of.digit === digit));

/** Gives pads at random: { image, number }, number null where there is none. `none` is the share of these. The share `scanned` of
 *  the rows are MNIST's, and of these the share `input` are the model's input as they are. Of the pens' rows, `distortion` is the
 *  share that are distorted, and at least the share `uci` are by UCI's writers. Of all rows the share `spread` are spread. Without
 *  `hasStrays` no letter stands among digits. */
function drawer({ pixels, writers, others }, random, { loose = 1, none = 0.1, scanned = 0.5, input = 0, distortion = 0, uci = 0, spread = 0, hasStrays = true } = {}) {
  const images = byDigit(pixels), hands = writers.map(({ all }) => byDigit(all)), all = byDigit(writers.flatMap(({ all }) => all));
  const ofUci = writers.filter(({ writer }) => writer < FIRST_OF_UNIPEN).map(({ all }) => byDigit(all));
  const chance = (share) => share > 0 && random() < share; // without a share no random number, so that the first runs draw what they drew
  const penned = (digits) => {
    const hand = chance(uci) ? pick(random, ofUci) : random() < 0.8 ? pick(random, hands) : all;
    return digits.map((digit) => pick(random, hand[digit].length > 0 ? hand[digit] : all[digit]).glyph);
  };
  const ofPixels = (digits) => digits.map((digit) => glyphOfPixels(pick(random, images[digit]).bytes));
  const row = (digits) => (random() < scanned
    ? pixelRow(ofPixels(digits), random, { loose, isSpread: chance(spread), isInput: chance(input) })
    : penRow(penned(digits), random, { loose, isDistorted: chance(distortion), isSpread: chance(spread) }));
  const strayLetter = () => {
    const glyphs = penned(digitsOf(random, 1 + below(random, 4)));
    glyphs.splice(below(random, glyphs.length + 1), glyphs.length > 3 ? 1 : below(random, 2), pick(random, others));
    return penRow(glyphs, random);
  };
  const NONE = [
    () => penRow(Array.from({ length: 1 + below(random, 5) }, () => pick(random, others)), random),
    () => penRow(Array.from({ length: 1 + below(random, 5) }, () => pick(random, others)), random),
    ...(hasStrays ? [strayLetter] : []),
    () => penRow(Array.from({ length: 1 + below(random, 2) }, () => glyphOfStrokes(wandering(random))), random),
    () => {
      const places = { strokes: wandering(random), width: 600, height: 200 }, width = between(random, 6, 24);
      return { ...places, strokes: places.strokes.map((points) => points.map(([x, y]) => ({ x: 30 + 100 * x, y: 40 + 120 * y, width }))) };
    },
    () => row(digitsOf(random, 5 + below(random, 3))),
  ];
  return () => {
    if (random() < none) return { image: pick(random, NONE)(), number: null };
    const digits = digitsOf(random, lengthOf(random));
    return { image: row(digits), number: Number(digits.join("")) };
  };
}

/** Four-digit numbers of digits that are used equally often, `times` each. A 0 is never first. */
function numbersOf(list, times, random) {
  const deck = Array.from({ length: times }, () => shuffled(list, random)).flat();
  return Array.from({ length: Math.floor(deck.length / 4) }, (_, at) => {
    const four = deck.slice(4 * at, 4 * at + 4), first = four.findIndex(({ digit }) => digit > 0);
    return [...four.slice(first), ...four.slice(0, first)];
  }).filter(([{ digit }]) => digit > 0);
}

function shuffled(list, random) {
  const all = [...list];
  for (let i = all.length - 1; i > 0; i--) {
    const j = below(random, i + 1);
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all;
}

/** Four of MNIST's images side by side, which are the model's input as they are. */
function besideOneAnother(four) {
  const data = new Uint8Array(IMAGE[0] * IMAGE[1]);
  four.forEach(({ bytes }, at) => {
    for (let row = 0; row < SIDE; row++) data.set(bytes.subarray(SIDE * row, SIDE * (row + 1)), IMAGE[1] * row + SIDE * at);
  });
  return { data, isInput: true };
}

const numberOf = (four) => Number(four.map(({ digit }) => digit).join(""));

/** Drawings in rows of four, a hand a row, each in `times` of them. */
const rowsOf = (writers, random, style, times = 4) => writers.flatMap(({ all }) => numbersOf(all, times, random))
  .map((four) => ({ image: penRow(four.map(({ glyph }) => glyph), random, style), number: numberOf(four) }));

/** Rows by writers from whom no run learns. */
const ujiRows = ({ writers }, random) => ({ pens: rowsOf(writers, random, {}, 16) });

/** What a model is measured on: MNIST's digits, each in four numbers; the same by pens, a hand a number, of UCI's
 *  drawings and of UNIPEN's; no numbers; MNIST's images side by side, and UCI's drawings in spread rows. */
function measured({ pixels, writers, others }, random) {
  const isUci = ({ writer }) => writer < FIRST_OF_UNIPEN, uci = writers.filter(isUci), unipen = writers.filter((of) => !isUci(of));
  const alone = () => (random() < 0.5 ? shape(pick(random, SIGNS), random) : scribble(random));
  return {
    digits: numbersOf(pixels, 4, random).map((four) => ({ image: pixelRow(four.map(({ bytes }) => glyphOfPixels(bytes)), random), number: numberOf(four) })),
    pens: rowsOf(uci, random),
    unipen: rowsOf(unipen, random),
    none: Array.from({ length: 2000 }, (_, at) => ({
      image: at % 2 ? alone() : penRow(Array.from({ length: 1 + below(random, 4) }, () => pick(random, others)), random), number: null,
    })),
    beside: numbersOf(pixels, 1, random).map((four) => ({ image: besideOneAnother(four), number: numberOf(four) })),
    spread: rowsOf(uci, random, { isSpread: true }),
  };
}

// ---- Files -----------------------------------------------------------------------

/** A network of one number, whose input is what the library makes of a pad. */
async function preparer() {
  const { Vit } = await import("../../dist/vit.js");
  const config = {
    image_size: IMAGE, patch_size: IMAGE, channels: 1, width: 1, depth: 0, heads: 1, mlp_width: 1, classes: 1, position: "none",
    pool: "mean", prefix: [], final_norm: false, patch_bias: false, head_bias: false, prepare: { kind: "digit" },
  };
  const zeros = (...shape) => ({ shape, data: new Float32Array(shape.reduce((a, b) => a * b)) });
  const tensors = new Map([["patch_embed.proj.weight", zeros(1, 1, ...IMAGE)], ["head.weight", zeros(1, 1)]]);
  const vit = await Vit.load(writeSafetensors({ config, tensors }));
  return async (images) => Buffer.concat((await vit.classifyAll(images)).map(({ input }) => Uint8Array.from(input, (value) => Math.round(255 * value))));
}

const header = (...shape) => {
  const bytes = Buffer.alloc(4 + 4 * shape.length);
  bytes.set([0, 0, 8, shape.length]);
  shape.forEach((side, i) => bytes.writeUInt32BE(side, 4 + 4 * i));
  return bytes;
};

/** Writes NAME-images-idx3-ubyte, and for each way to choose languages a file of tokens. `next` gives a pad. */
async function write(folder, name, count, next, languages) {
  mkdirSync(folder, { recursive: true });
  const prepare = await preparer(), path = (what) => join(folder, `${name}-${what}-ubyte`), numbers = [];
  const file = openSync(path("images-idx3"), "w");
  writeSync(file, header(count, ...IMAGE));
  for (let done = 0, pads; done < count; done += pads.length) {
    pads = Array.from({ length: Math.min(500, count - done) }, (_, i) => next(done + i));
    const prepared = await prepare(pads.flatMap(({ image }) => (image.isInput ? [] : [image]))), size = IMAGE[0] * IMAGE[1];
    let at = 0;
    writeSync(file, Buffer.concat(pads.map(({ image }) => (image.isInput ? image.data : prepared.subarray(at, at += size)))));
    numbers.push(...pads.map(({ number }) => number));
    if (done % 50_000 === 0 && done > 0) say(`  ${name}: ${done} of ${count}`);
  }
  closeSync(file);
  for (const [what, languageOf] of Object.entries(languages)) {
    const tokens = openSync(path(what), "w");
    writeSync(tokens, Buffer.concat([header(count, TOKENS), Buffer.from(numbers.flatMap((number, at) => tokensOf(number, languageOf(at))))]));
    closeSync(tokens);
  }
  say(`✓ ${path("images-idx3")}: ${count} pads`);
}

const folder = join(root, "build", "numbers"), weights = join(root, "weights");
const jsonIn = (path) => JSON.parse(readFileSync(path, "utf8"));

/** Pads for the last runs, whose recipes differ. */
const LAST = { part: "trainval", pads: 290_000, loose: [1, 2], none: 0.06, scanned: 0.4, distortion: 0.4, uci: 0.5 };

/** Each run begins from the mean of the models `from`, which is itself a model, "before-" and the run's name, and has pads of its
 *  own, drawn as `drawer` says, loose in turn. The last pads validate, but not where the run learns from trainval. Later runs follow
 *  the recipe with the changes of numbers.NAME.json. */
const RUNS = [
  { name: "first", from: ["start"], pads: 120_000, seed: 1 },
  { name: "second", from: ["first"], pads: 187_000, seed: 2, loose: [2] },
  { name: "third", from: ["first", "second"], pads: 603_000, seed: 3, loose: [1, 2] },
  { name: "fourth", from: ["third"], pads: 603_000, seed: 4, loose: [1, 2], none: 0.05, distortion: 0.6, uci: 0.4 },
  { name: "fifth", from: ["third", "fourth"], part: "trainval", pads: 400_000, seed: 6, distortion: 0.3, uci: 0.4 },
  { name: "sixth", from: ["fifth", "third", "third", "fourth"], seed: 31, ...LAST, input: 0.25, spread: 0.35 },
  { name: "seventh", from: ["before-sixth", "sixth"], seed: 33, ...LAST, input: 0.4, spread: 0.45, hasStrays: false },
];
/** The models whose mean is shipped, the seventh one twice. */
const SHIPPED = ["before-sixth", "sixth", "seventh", "seventh"];
/** Fitted to UJI's rows, whose writers no run learns from. */
const CALIBRATION = { temperature: 0.7859, uncertain_below: 0.7093 };

async function drawTraining(out, { part = "train", pads, seed, loose = [1], ...style }) {
  if (existsSync(join(out, "train-tokens-idx2-ubyte"))) return;
  const random = dice(seed), train = await gather(part), check = drawer(await gather("validation"), random);
  const draw = loose.map((of) => drawer(train, random, { loose: of, ...style }));
  const training = pads - (part === "trainval" ? 0 : VALIDATION_ROWS), pad = (at) => (at < training ? draw[at % draw.length]() : check());
  await write(out, "train", pads, pad, { "tokens-idx2": () => pick(random, LANGUAGES) });
}

/** What the first run begins from: random numbers, and the convolutions of digits-stem. */
function writeStart(path, random) {
  const start = readSafetensors(readFileSync(random)), { tensors } = readSafetensors(readFileSync(join(weights, "digits-stem.safetensors")));
  for (const [name, tensor] of tensors) if (name.startsWith("patch_embed.backbone.")) start.tensors.set(name, tensor);
  writeFileSync(path, writeSafetensors(start));
}

/** The mean of the models' numbers. */
function writeMean(path, models) {
  const [mean, ...others] = models.map((file) => readSafetensors(readFileSync(file)));
  for (const [name, { data }] of mean.tensors) {
    data.forEach((value, at) => { data[at] = others.reduce((sum, { tensors }) => sum + tensors.get(name).data[at], value) / models.length; });
  }
  if (others.length > 0) delete mean.config.validation_accuracy; // the first one's
  writeFileSync(path, writeSafetensors(mean));
}

/** Makes weights/numbers.safetensors. `command` runs `vit`. */
export async function numbers({ command, words }) {
  const at = (name) => join(folder, name), model = (name) => at(`${name}.safetensors`), recipe = join(weights, "numbers.recipe.json");
  mkdirSync(folder, { recursive: true });
  await drawTraining(at("few"), { pads: 2 * VALIDATION_ROWS, seed: 1 });
  await command("train", "--data", at("few"), "--recipe", recipe, "--out", model("few"), "--epochs", "1", "--snapshots", "2", "--fresh");
  writeStart(model("start"), at("few.safetensors.step-000000.safetensors"));
  for (const { name, from, ...pads } of RUNS) {
    const changes = join(weights, `numbers.${name}.json`), isFirst = !existsSync(changes), own = isFirst ? recipe : at(`${name}.recipe.json`);
    if (!isFirst) writeFileSync(own, JSON.stringify(finishing(jsonIn(recipe), jsonIn(changes), CALIBRATION)));
    writeMean(model(`before-${name}`), from.map(model));
    await drawTraining(at(`train-${name}`), pads);
    await command("train", "--data", at(`train-${name}`), "--recipe", own, "--out", model(name), "--init", model(`before-${name}`), ...words);
    copyFileSync(`${model(name)}.log.tsv`, join(weights, `numbers.${isFirst ? "safetensors" : name}.log.tsv`));
  }
  writeMean(join(weights, "numbers.safetensors"), SHIPPED.map(model));
}

const SEEDS = { validation: [2, 4], test: [3, 5], uji: [6] };

/** Draws what a model is measured on, and pads as in training. */
async function drawMeasured(part) {
  const gathered = await gather(part), [seed, other] = SEEDS[part];
  for (const [name, pads] of Object.entries(part === "uji" ? ujiRows(gathered, dice(seed)) : measured(gathered, dice(seed)))) {
    const each = LANGUAGES.map((language) => [`tokens-${language}-idx2`, () => language]);
    await write(join(folder, part), name, pads.length, (at) => pads[at], Object.fromEntries(each));
  }
  if (!other) return;
  const random = dice(other);
  await write(join(folder, part), "mixed", MIXED, drawer(gathered, random), { "tokens-idx2": () => pick(random, LANGUAGES) });
}

if (isMain(import.meta)) {
  await main(async () => {
    const [part] = process.argv.slice(2);
    if (!Object.hasOwn(SEEDS, part)) throw new Trouble(`expected ${Object.keys(SEEDS).join(", ")}, got ${part ?? "nothing"}`);
    await drawMeasured(part);
  });
}
