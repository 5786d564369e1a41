// The commands `vitrine eval` and `calibrate`, and the library's `score`: formulas in doubles, the native command, refusals.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, watch } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { score } from "../../dist/train.js";
import { headerLength, readSafetensors, writeSafetensors } from "../../web/base/safetensors.mjs";
import { checkpoint, folder, picture, printed, raw, refused, run, skip, start, variant } from "./command.mjs";
import { full } from "./full.mjs";
import { modelBytes, modelPath } from "./golden.mjs";
import { idx } from "./idx.mjs";
import { load, rejects } from "./support.mjs";
import { testDigits } from "../../web/scripts/data.mjs";

const MODEL = "pre_gelu_learned";
const COUNT = 300, SIDE = 12, CLASSES = 7, SKIPPED = 40;
const SAME = ["--variant", variant];

const native = fileURLToPath(new URL("../../build/native/vit", import.meta.url));
const skipNative = !existsSync(native) && "no build/native/vit here; npm test builds it in the stage native";
const nativeSays = (...args) => execFileSync(native, args, { encoding: "utf8" });

/** Random images. A label is the model's own answer, but of the first SKIPPED and of every seventh the next class. */
const pixels = Uint8Array.from({ length: COUNT * SIDE * SIDE }, (_, i) => Math.imul(i + 1, 2654435761) >>> 13);
const images = Array.from({ length: COUNT }, (_, i) =>
  Float32Array.from(pixels.subarray(i * SIDE * SIDE, (i + 1) * SIDE * SIDE), (byte) => byte / 255));
const answers = (await (await load(modelPath(MODEL), { variant })).classifyAll(images)).map(({ logits }) => logits);
const largest = (row) => row.indexOf(Math.max(...row));
const labels = answers.map((row, i) => (largest(row) + Number(i < SKIPPED || i % 7 === 0)) % CLASSES);

/** The images as files, and the options that name them. */
function data(here, { truth = labels, packed = false } = {}) {
  const write = (name, bytes) => here.write(packed ? `${name}.gz` : name, packed ? gzipSync(bytes) : bytes);
  return ["--images", write("images.idx", idx([truth.length, SIDE, SIDE], pixels.subarray(0, truth.length * SIDE * SIDE))),
    "--labels", write("labels.idx", idx([truth.length], Uint8Array.from(truth)))];
}

/** Probabilities in doubles. */
function softmax(row, temperature) {
  const powers = Array.from(row, (logit) => Math.exp(logit / temperature));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

/** Loss, calibration error by its definition, and right answers, of the examples from `first` on. */
function naive(temperature, first = 0) {
  const all = labels.map((label, i) => ({ label, row: softmax(answers[i], temperature) })).slice(first);
  const sure = all.map(({ label, row }) => ({ p: Math.max(...row), right: largest(row) === label }));
  const bins = Array.from({ length: 15 }, (_, m) => sure.filter(({ p }) => p > m / 15 && p <= (m + 1) / 15)).filter(({ length }) => length > 0);
  const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  const gap = (bin) => Math.abs(mean(bin.map(({ right }) => Number(right))) - mean(bin.map(({ p }) => p)));
  return {
    loss: mean(all.map(({ label, row }) => -Math.log(row[label]))),
    calibrationError: bins.reduce((sum, bin) => sum + gap(bin) * bin.length, 0) / all.length,
    correct: sure.filter(({ right }) => right).length,
    sure,
  };
}

const lines = (text) => text.trimEnd().split("\n");
const near = (got, want, gap = 1e-6) => assert.ok(Math.abs(got - want) <= gap, `${got}, not ${want}`);
const config = (path) => readSafetensors(readFileSync(path)).config;

/** Checks that a file is `origin` with these keys more in its config, and no other difference. */
function onlyKeysAdded(origin, file, keys) {
  const [a, b] = [origin, file].map((bytes) => readSafetensors(bytes));
  assert.equal(headerLength(file) % 8, 0);
  assert.equal(JSON.stringify(b.config), JSON.stringify({ ...a.config, ...keys }));
  assert.deepEqual(b.tensors, a.tensors);
}

// ---- score ------------------------------------------------------------------

const flat = (rows) => Float32Array.from(rows.flatMap((row) => [...row]));

test("score gives what formulas in doubles give, in a worker or not", async () => {
  for (const [temperature, worker] of [[1, false], [0.4, true]]) {
    const want = naive(temperature);
    const got = await score({ logits: flat(answers), labels }, { temperature, accept: 1, variant, worker });
    near(got.loss, want.loss, 1e-12);
    near(got.calibrationError, want.calibrationError, 1e-7);
    assert.deepEqual([got.temperature, got.accuracy, got.right, got.wrong.count],
      [temperature, want.correct / COUNT, { count: want.correct, below: 0 }, COUNT - want.correct]);
    const least = Math.min(...want.sure.filter(({ right }) => right).map(({ p }) => p));
    near(got.uncertainBelow, Math.floor(least * 1e4) / 1e4, 1e-12);
    assert.equal(got.wrong.below, want.sure.filter(({ p, right }) => !right && p < got.uncertainBelow).length);
  }
});

test("score takes a thousand classes, and answers of which none is right", async () => {
  const classes = 1000, logits = new Float32Array(3 * classes);
  [999, 256, 0].forEach((label, n) => (logits[n * classes + label] = 20));
  const right = await score({ logits, labels: [999, 256, 0] }, { temperature: 1, variant });
  assert.equal(right.accuracy, 1);
  near(right.loss, Math.log1p(999 * Math.exp(-20)), 1e-12);
  const { right: none, wrong, uncertainBelow } = await score({ logits, labels: [255, 0, 1] }, { variant });
  assert.deepEqual([none, wrong, uncertainBelow], [{ count: 0, below: 0 }, { count: 3, below: 0 }, 0]);
});

test("doubt takes its share of each answer's probability", async () => {
  const logits = Float32Array.of(3, 0, 0, 2), labels = [0, 1], doubt = Float32Array.of(0, 0.75);
  const got = await score({ logits, labels, doubt }, { temperature: 1, accept: 1, variant });
  const [first, second] = [softmax([3, 0], 1)[0], softmax([0, 2], 1)[1] / 4];
  near(got.loss, -(Math.log(first) + Math.log(second)) / 2, 1e-7);
  near(got.calibrationError, (1 - first + 1 - second) / 2, 1e-7);
  near(got.uncertainBelow, Math.floor(second * 1e4) / 1e4, 1e-12);
});

test("score refuses what are no answers, and other options", async () => {
  const logits = Float32Array.of(1, 2, 3, 4), labels = [0, 1];
  for (const [wrong, message] of [
    [{ logits: logits.slice(0, 3), labels }, /logits: expected a Float32Array with as many for each of 2 labels, got 3$/],
    [{ logits: [1, 2, 3, 4], labels }, /logits: expected a Float32Array/],
    [{ logits, labels: [] }, /for each of 0 labels/],
    [{ logits: new Float32Array(0), labels }, /for each of 2 labels, got 0/],
    [{ logits, labels: [0, 2] }, /labels: expected numbers below 2, got 2/],
    [{ logits, labels: [0, -1] }, /labels: expected whole numbers from 0, got -1/],
    [{ logits, labels: [0, undefined] }, /labels: expected whole numbers from 0, got undefined/],
    [{ logits, labels: [0, 0.5] }, /labels: expected whole numbers from 0, got 0\.5/],
    [{ logits: Float32Array.of(1, 2, 3, NaN), labels }, /logits: expected finite numbers, got another for image 1/],
    [{ logits: Float32Array.of(Infinity, 2, 3, 4), labels }, /got another for image 0/],
    [{ logits, labels, doubt: [0, 0] }, /doubt: expected a Float32Array with one for each of 2 labels/],
    [{ logits, labels, doubt: Float32Array.of(1) }, /doubt: expected a Float32Array with one for each of 2 labels, got 1/],
    [{ logits, labels, doubt: Float32Array.of(0, 1.5) }, /doubt: expected numbers from 0 to 1, got another for image 1/],
    [{ logits, labels, doubt: Float32Array.of(NaN, 0) }, /doubt: expected numbers from 0 to 1, got another for image 0/],
    [{ logits }, /score: expected arguments that can be read/],
    [undefined, /score: expected arguments that can be read/],
  ]) await rejects(() => score(wrong, { variant }), "bad_argument", message);
  for (const [options, message] of [
    [{ temperature: 0 }, /temperature: expected a number above 0 and up to 100, got 0/],
    [{ temperature: "1" }, /temperature: /],
    [{ accept: 1.1 }, /accept: expected a number from 0 to 1, got 1\.1/],
    [{ accept: NaN }, /accept: /],
    [{ threads: 2 }, /threads/],
  ]) await rejects(() => score({ logits, labels }, options), "bad_option", message);
});

// ---- eval -------------------------------------------------------------------

test("the command eval prints loss, calibration error and, last, accuracy, as formulas in doubles give them", async (t) => {
  const here = folder(t);
  const want = naive(1);
  for (const packed of [false, true]) {
    const { code, stdout, stderr } = await run(["eval", "--model", modelPath(MODEL), ...data(here, { packed }), ...SAME], { terminal: true });
    assert.deepEqual([code, stderr.endsWith("\r\x1b[K"), /\d+\/300 images/.test(stderr)], [0, true, true], stderr);
    const [loss, error, last, ...more] = lines(stdout);
    near(Number(loss.match(/^loss: (\d+\.\d{4})$/)[1]), want.loss, 5.1e-5);
    near(Number(error.match(/^calibration error: (\d\.\d{4})$/)[1]), want.calibrationError, 5.1e-5);
    assert.deepEqual([last, more], [`accuracy: ${(want.correct / COUNT).toFixed(4)} (${want.correct}/${COUNT})`, []]);
  }
  const { stdout } = await run(["eval", "--model", modelPath(MODEL), ...data(here), ...SAME, "--json", "--confusion", "--threads", "2"]);
  const { loss, calibrationError, accuracy, correct, count, confusion } = JSON.parse(stdout);
  near(loss, want.loss);
  near(calibrationError, want.calibrationError);
  assert.deepEqual([accuracy, correct, count], [want.correct / COUNT, want.correct, COUNT]);
  const counts = Array.from({ length: CLASSES }, (_, truth) => Array.from({ length: CLASSES }, (_, predicted) =>
    labels.filter((label, i) => label === truth && largest(answers[i]) === predicted).length));
  assert.deepEqual(confusion, counts);
});

test("the command eval prints what the native command prints, also the confusion matrix and rounded halves", { skip: skipNative }, async (t) => {
  const here = folder(t);
  const right = answers.map(largest);
  for (const [truth, accuracy] of [[labels], [right.slice(0, 32).map((label, i) => (label + Number(i === 5)) % CLASSES), "0.9688 (31/32)"],
    [right.slice(0, 32).map((label, i) => (label + Number(i > 8)) % CLASSES), "0.2812 (9/32)"]]) {
    const args = ["eval", "--model", modelPath(MODEL), ...data(here, { truth }), "--confusion"];
    const { code, stdout } = await run([...args, ...SAME]);
    assert.deepEqual([code, stdout], [0, nativeSays(...args)]);
    if (accuracy) assert.equal(lines(stdout).at(-1), `accuracy: ${accuracy}`);
  }
});

const mnist = testDigits();
test("the command eval measures the shipped model on MNIST's test images, named by their folder", { skip: !mnist && "MNIST is not at hand" }, async (t) => {
  const here = folder(t), count = full ? 10000 : 1500;
  here.write("t10k-images-idx3-ubyte", idx([count, 28, 28], mnist.images.subarray(0, count * 784)));
  here.write("t10k-labels-idx1-ubyte", idx([count], mnist.labels.subarray(0, count)));
  const stdout = await printed(["eval", "--data", here.path, ...SAME]);
  assert.equal(lines(stdout).at(-1), `accuracy: ${full ? "0.9969 (9969/10000)" : "0.9960 (1494/1500)"}`);
});

test("the command eval takes a folder of photos for each class, the whole or its part to measure on", { skip }, async (t) => {
  const here = folder(t);
  const vit = await load(checkpoint(here), { variant });
  const photos = [[16, 16], [20, 14], [31, 19], [14, 33]].map(([width, height]) => picture(width, height, 3));
  const predictions = (await vit.classifyAll(photos)).map(({ classes }) => classes[0].label);
  const put = async (name, truth) => {
    for (const [i, label] of truth.entries()) {
      mkdirSync(here.at(`${name}/${label}`), { recursive: true });
      here.write(`${name}/${label}/${i}.png`, await raw(photos[i]).png().toBuffer());
    }
  };
  const other = predictions.map((label) => (label === "a" ? "b" : "a"));
  await put("one", [...predictions.slice(0, 3), other[3]]);
  for (const [part, truth] of Object.entries({ train: predictions, validation: [...other.slice(0, 2), ...predictions.slice(2)], test: other })) {
    await put(`parts/${part}`, truth);
    if (part !== "test") await put(`two/${part}`, truth);
  }
  await put("only/train", predictions);
  const evaluate = (name) => run(["eval", "--model", here.at("vit"), "--data", here.at(name), ...SAME]);
  for (const [name, last] of [["one", "0.7500 (3/4)"], ["parts", "0.0000 (0/4)"], ["two", "0.5000 (2/4)"], ["parts/train", "1.0000 (4/4)"]]) {
    const { code, stdout, stderr } = await evaluate(name);
    assert.deepEqual([code, stderr, lines(stdout).at(-1)], [0, "", `accuracy: ${last}`], name);
  }
  mkdirSync(here.at("foreign/z"), { recursive: true });
  here.write("foreign/z/a.png", await raw(photos[0]).png().toBuffer());
  here.write("one/a/bad.png", "no picture");
  for (const [name, message] of [
    ["only", /only: expected photos that were not trained on, in test or validation, got only train; to use these, pass .*train\n/],
    ["foreign", /foreign: expected folders of the model's classes, got "z", which is not one/],
    ["one", /bad\.png: expected a whole PNG[^\n]*\nvitrine: .*one: expected images that can be read, got 1 that cannot; nothing was measured/],
    ["vit", /vit: expected a folder of photos for each class, or IDX files under MNIST's names of the test part \(t10k-…\), got neither/],
    ["none", /none: expected a folder, got ENOENT/],
  ]) {
    const { code, stdout, stderr } = await evaluate(name);
    assert.deepEqual([code, stdout], [1, ""], name);
    assert.match(stderr, message);
  }
});

test("where a data set's parts lie apart, calibrate reads the validation rather than the test, and eval the test", { skip }, async (t) => {
  const here = folder(t);
  const { config: own, tensors } = readSafetensors(modelBytes(MODEL));
  const model = here.write("model.safetensors", writeSafetensors({ config: { ...own, labels: [..."abcdefg"] }, tensors }));
  const vit = await load(model, { variant });
  const photos = [1, 2, 3, 4].map((shift) => ({ ...picture(SIDE, SIDE, 1), data: picture(SIDE, SIDE, 1).data.map((value) => value * shift) }));
  for (const [i, photo] of photos.entries()) {
    const { label } = (await vit.classify(photo)).classes[0];
    for (const part of ["train", "val", "test"].slice(0, i < 3 ? 3 : 2)) { // three in the test, four in the others
      mkdirSync(here.at(`data/${part}/${label}`), { recursive: true });
      here.write(`data/${part}/${label}/${i}.png`, await raw(photo).toColourspace("b-w").png().toBuffer());
    }
  }
  const report = async (...args) => JSON.parse((await run([...args, "--model", model, "--data", here.at("data"), "--json", ...SAME])).stdout);
  assert.equal((await report("eval")).count, 3);
  assert.equal((await report("calibrate", "--out", here.at("out.safetensors"))).right.count, 4);
  rmSync(here.at("data/val"), { recursive: true });
  assert.equal((await report("calibrate", "--out", here.at("out.safetensors"))).right.count, 3);
});

// ---- calibrate --------------------------------------------------------------

test("the command calibrate adds the images' temperature and threshold to a model, and nothing else", async (t) => {
  const here = folder(t);
  const out = here.at("out.safetensors");
  const args = ["calibrate", "--model", modelPath(MODEL), ...data(here), "--first", String(SKIPPED), "--accept", "0.9", "--out", out, ...SAME];
  const stdout = await printed(args);
  const { temperature, uncertain_below } = config(out);
  const near_by = [-3, -2, -1, 1, 2, 3].map((step) => naive(temperature + step * 1e-4, SKIPPED).loss);
  assert.ok(near_by.every((loss) => loss > naive(temperature, SKIPPED).loss), `${temperature} is not the best`);
  const [before, after] = [1, temperature].map((at) => naive(at, SKIPPED));
  const right = after.sure.filter((answer) => answer.right).map(({ p }) => p).sort((a, b) => a - b);
  const wrong = after.sure.filter((answer) => !answer.right).map(({ p }) => p);
  near(uncertain_below, right[right.length - Math.ceil(0.9 * right.length)], 1.01e-4);
  const below = (list) => `${list.filter((p) => p < uncertain_below).length} of ${list.length}`;
  const output = lines(stdout);
  assert.equal(output[0], `temperature: ${temperature.toFixed(4)}`);
  const errors = output[1].match(/^calibration error: (\d\.\d{4}) before, (\d\.\d{4}) after$/).slice(1).map(Number);
  [before, after].forEach(({ calibrationError }, i) => near(errors[i], calibrationError, 5.1e-5));
  assert.ok(errors[1] < errors[0]);
  assert.equal(output[2], `uncertain below: ${uncertain_below.toFixed(4)}, which is ${below(right)} right answers and ${below(wrong)} wrong ones`);
  onlyKeysAdded(modelBytes(MODEL), readFileSync(out), { temperature, uncertain_below });
  assert.deepEqual(readdirSync(here.path).sort(), ["images.idx", "labels.idx", "out.safetensors"]);
  const json = JSON.parse((await run([...args, "--json", "--count", "260"])).stdout);
  assert.deepEqual([json.out, json.temperature, json.uncertain_below, json.right.count, json.wrong.count], [out, temperature, uncertain_below, right.length, wrong.length]);
});

test("the command calibrate finds the native command's numbers and prints its lines", { skip: skipNative }, async (t) => {
  const here = folder(t);
  const [ours, theirs] = ["ours", "theirs"].map((name) => here.at(`${name}.safetensors`));
  const right = answers.map(largest);
  for (const [more, truth] of [[["--first", "40"], labels], [[], labels], [["--accept", "0.5", "--count", "100", "--first", "120"], labels], [[], right], [["--accept", "1"], right]]) {
    const args = (out) => ["calibrate", "--model", modelPath(MODEL), ...data(here, { truth }), "--out", out, ...more];
    const { code, stdout } = await run([...args(ours), ...SAME]);
    assert.deepEqual([code, stdout], [0, nativeSays(...args(theirs))]);
    assert.deepEqual(readSafetensors(readFileSync(ours)), readSafetensors(readFileSync(theirs)));
  }
});

test("the command calibrate replaces earlier numbers, writes over its own model, keeps unknown keys", async (t) => {
  const here = folder(t);
  const { config: own, tensors } = readSafetensors(modelBytes(MODEL));
  const letters = { ...own, labels: [..."abcdef", "n\"\\\né}"], note: { temperature: 3, a: [] } };
  const origin = writeSafetensors({ config: letters, tensors });
  const model = here.write("model.safetensors", origin);
  const calibrate = async (path, ...more) => {
    return printed(["calibrate", "--model", path, "--out", path, ...data(here), "--first", "40", ...SAME, ...more]);
  };
  await calibrate(model, "--accept", "1");
  const once = readFileSync(model);
  const { temperature, uncertain_below } = config(model);
  onlyKeysAdded(Buffer.from(origin), once, { temperature, uncertain_below });
  await calibrate(model, "--accept", "0.5");
  assert.notEqual(config(model).uncertain_below, uncertain_below);
  await calibrate(model, "--accept", "1");
  assert.deepEqual(readFileSync(model), once);
});

// ---- What both refuse ---------------------------------------------------

test("eval and calibrate refuse wrong command lines before anything is read", async () => {
  const calibrate = ["calibrate", "--data", "a", "--out", "b.safetensors"];
  for (const [args, message] of [
    [["eval"], /data: expected either --images and --labels, or --data, got none/],
    [["eval", "--images", "a"], /got --images/],
    [["eval", "--data", "a", "--labels", "b"], /got --data and --labels/],
    [["eval", "--data", "a", "b"], /operands: expected none, got "b"; see vitrine eval --help/],
    [["eval", "--data", "a", "--out", "b"], /'--out'.*vitrine eval --help/],
    [["calibrate", "--data", "a"], /--out: expected a name that ends in \.safetensors, got none/],
    [["calibrate", "--data", "a", "--out", "b.pt"], /--out: expected a name that ends in \.safetensors, got "b\.pt"/],
    [[...calibrate, "--first=-1"], /--first: expected a whole number from 0, got "-1"/],
    [[...calibrate, "--count", "0"], /--count: expected a whole number from 1, got "0"/],
    [[...calibrate, "--accept", "1.1"], /--accept: expected a number from 0 to 1, got "1.1"/],
    [[...calibrate, "--accept", "nan"], /--accept: expected a number from 0 to 1, got "nan"/],
  ]) {
    await refused(args, 2, message);
  }
});

test("eval and calibrate refuse models and data that they cannot use, and write nothing", async (t) => {
  const here = folder(t);
  const { config: own, tensors } = readSafetensors(modelBytes(MODEL));
  const model = (name, parts, without = []) => here.write(name, writeSafetensors({
    config: { ...own, ...parts },
    tensors: new Map([...tensors].filter(([tensor]) => !without.some((start) => tensor.startsWith(start)))),
  }));
  const { labels: _, ...unlabelled } = own;
  const headless = here.write("headless.safetensors", writeSafetensors({
    config: { ...unlabelled, classes: 0 },
    tensors: new Map([...tensors].filter(([tensor]) => !tensor.startsWith("head."))),
  }));
  const numbers = fileURLToPath(new URL("../../weights/numbers.safetensors", import.meta.url));
  const values = model("values.safetensors", { problem_type: "regression" });
  const out = here.at("never.safetensors");
  const good = data(here);
  const beyond = { at: (name) => here.at(name), write: (name, bytes) => here.write(`beyond-${name}`, bytes) };
  const both = [["eval"], ["calibrate", "--out", out]];
  const cases = [
    ...both.flatMap((command) => [
      [[...command, "--model", headless, ...good], /expected a model with a head, got one without/],
      [[...command, "--model", numbers, ...good], /expected a model that classifies, got one that writes texts/],
      [[...command, "--model", values, ...good], /expected a model whose problem_type is single_label_classification/],
      [[...command, "--model", modelPath(MODEL), ...data(beyond, { truth: [0, 1, 7] })], /beyond-labels\.idx: expected labels below the model's 7 classes, got 7/],
      [[...command, ...good], /images\.idx: expected images for the model, 28x28 with 1 channel, got 12x12 with 1/],
      [[...command, "--model", modelPath(MODEL), "--images", good[3], "--labels", good[1]], /expected IDX bytes of rank 1/],
      [[...command, "--model", here.at("none"), ...good], /none.*ENOENT|ENOENT.*none/],
    ]),
    [["calibrate", "--model", modelPath(MODEL), ...good, "--out", out, "--first", "300"], /--first 300 --count 0: expected a part of its 300 images/],
    [["calibrate", "--model", modelPath(MODEL), ...good, "--out", out, "--first", "200", "--count", "101"], /--first 200 --count 101: expected a part of its 300 images/],
    [["calibrate", "--model", modelPath(MODEL), ...good, "--out", out, "--count", "40"], /classifies right, got none of the 40 right/],
    [["calibrate", "--model", good[1], ...good, "--out", out], /images\.idx: expected a file of safetensors with a config in __metadata__\.vitrine/],
    [["calibrate", "--model", modelPath(MODEL), ...good, "--out", here.at("no/x.safetensors")], /x\.safetensors: expected a path that can be written, got ENOENT/],
  ];
  for (const [args, message] of cases) {
    await refused(args, 1, message);
  }
  assert.deepEqual(readdirSync(here.path).filter((name) => /never|part$/.test(name)), []);
});

test("Ctrl-C ends calibrate with exit code 130 and writes nothing", async (t) => {
  const here = folder(t);
  const many = idx([60_000, 28, 28], new Uint8Array(60_000 * 28 * 28));
  const args = ["calibrate", "--out", "out.safetensors", "--images", here.write("images.idx", many), "--labels", here.write("labels.idx", idx([60_000], new Uint8Array(60_000)))];
  const watcher = watch(here.path);
  const partFile = new Promise((resolve) => watcher.on("change", (_, name) => name === "out.safetensors.part" && resolve()));
  const { child, done } = start(args, { cwd: here.path });
  await Promise.race([partFile, done]);
  watcher.close();
  child.kill("SIGINT");
  const { code, stdout } = await done;
  assert.deepEqual([code, stdout], [130, ""]);
  assert.deepEqual(readdirSync(here.path).sort(), ["images.idx", "labels.idx"]);
});
