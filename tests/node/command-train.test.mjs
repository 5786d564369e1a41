// The command `vitrine train`: what it learns from folders and IDX files, its checkpoint, what it refuses.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Trainer } from "../../dist/train.js";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { checkpoint, folder, picture, raw, refused, run, skip, start, variant } from "./command.mjs";
import { shared } from "./golden.mjs";
import { idx } from "./idx.mjs";
import { load } from "./support.mjs";

const SIDE = 8;
/** Kinds of pictures, in the natural order of their names. */
const KINDS = ["kind 2", "kind 10", "slant"];
const SAME = ["--variant", variant, "--threads", "1"]; // the same bits on every machine

const training = { batch: 16, learning_rate: 4e-3, warmup_epochs: 1, clip_norm: 1, epochs: 15, seed: 3 };
const model = { image_size: [SIDE, SIDE], patch_size: [4, 4], channels: 1, width: 16, depth: 2, heads: 2, mlp_width: 32 };
const coloured = { ...model, channels: 3, prepare: { kind: "photo", resize: SIDE, mean: [0.1, 0.2, 0.3], std: [0.5, 0.4, 0.3] } };

/** A grey picture (SIDE,SIDE): a bar across, down or aslant, with noise. */
function bar(kind, index) {
  const data = new Uint8Array(SIDE * SIDE).map((_, i) => (((i + 7) * (index + 3) * 2654435761) % 2 ** 32 < 2 ** 32 / 10 ? 64 : 0));
  const at = (index * 5) % SIDE;
  for (let j = 0; j < SIDE; j++) {
    const [row, column] = [[at, j], [j, at], [j, (j + at) % SIDE]][kind];
    data[row * SIDE + column] = 255;
  }
  return data;
}

const png = (data) => raw({ data, width: SIDE, height: SIDE, channels: 1 }).png().toBuffer();

/** Writes `count` pictures of each kind, each kind in a folder. */
async function photos(here, name, count, from = 0) {
  for (const [kind, label] of KINDS.entries()) {
    mkdirSync(here.at(`${name}/${label}`), { recursive: true });
    for (let i = from; i < from + count; i++) here.write(`${name}/${label}/${i}.png`, await png(bar(kind, i)));
  }
  return here.at(name);
}

const recipe = (here, parts = {}, name = "recipe.json") =>
  here.write(name, JSON.stringify({ model: { ...coloured, ...parts.model }, training: { ...training, ...parts.training } }));

const IMAGES = "train-images-idx3-ubyte", LABELS = "train-labels-idx1-ubyte";

/** `count` pictures as the bytes of IDX files, in turns of every kind. */
function idxFiles(count) {
  const labels = Array.from({ length: count }, (_, i) => i % KINDS.length);
  const images = labels.map((kind, i) => bar(kind, i));
  return {
    [IMAGES]: idx([count, SIDE, SIDE], Buffer.concat(images)),
    [LABELS]: idx([count], Uint8Array.from(labels)),
    labels, images,
  };
}

const lines = (text) => text.trim().split("\n");
const contents = (path) => readSafetensors(readFileSync(path));

test("the command train learns a folder of PNGs by a recipe, and classify reads what it wrote", { skip }, async (t) => {
  const here = folder(t);
  const data = await photos(here, "data", 24);
  here.write("data/.hidden.png", "no picture");
  here.write("data/slant/notes.txt", "no picture");
  const out = here.at("out.safetensors");
  const { code, stdout, stderr } = await run(["train", "--data", data, "--recipe", recipe(here), "--out", out, ...SAME], { terminal: true });
  assert.equal(code, 0, stderr);
  const output = lines(stdout);
  assert.match(output[0], /^data: 66 images of 3 classes to train on, 6 to validate with$/);
  assert.match(output[1], /^model: .*recipe\.json, from scratch: 8x8x3 pixels, 2 blocks of width 16$/);
  assert.equal(output[2], `run: 15 epochs by 1 thread, build ${variant}`);
  assert.match(output[3], /^time: about \d+ \w+.* from here, at [\d.]+ images\/s$/);
  assert.equal(output.length, 4 + 15 + 1);
  output.slice(4, 19).forEach((line, i) => assert.match(line, new RegExp(`^epoch ${i + 1}/15  loss \\d\\.\\d{4}  accuracy [01]\\.\\d{4}  validation loss .*images/s`)));
  assert.match(stderr, /\/72 images.*epoch 1\/15 {2}step \d\/5 {2}loss [^\n]*left \d+ s/s);
  assert.deepEqual(readdirSync(here.path).sort(), ["data", "out.safetensors", "recipe.json"]);

  const { config } = contents(out);
  assert.deepEqual([config.labels, config.classes, config.log.length, config.seed], [KINDS, 3, 15, 3]);
  const others = await photos(here, "others", 20, 100);
  const answers = JSON.parse((await run(["classify", "--json", "--model", out, others])).stdout);
  const right = answers.filter(({ file, classes }) => file.includes(`/${classes[0].label}/`)).length;
  assert.ok(right >= 57, `${right} of 60`);
});

test("the command train gives the bits of the API's Trainer on IDX files, packed or not", async (t) => {
  const here = folder(t);
  const files = idxFiles(60);
  for (const ending of ["", ".gz"]) {
    mkdirSync(here.at(`data${ending}`));
    for (const name of [IMAGES, LABELS]) here.write(`data${ending}/${name}${ending}`, ending ? gzipSync(files[name]) : files[name]);
    here.write(`data${ending}/t10k-images-idx3-ubyte`, "not to be read");
  }
  const labels = ["across", "down", "aslant"];
  const trainer = await Trainer.create({ recipe: { model: { ...model, labels, classes: 3 }, training: { ...training, validation: 7 } } }, { variant, seed: 9 });
  const values = files.images.map((bytes) => Float32Array.from(bytes, (value) => value / 255));
  const isValidation = (i) => [9, 19].includes(Math.floor(i / 3)); // every tenth of the 20 of a class
  for (const part of ["train", "validation"]) {
    const chosen = values.map((_, i) => i).filter((i) => isValidation(i) === (part === "validation"));
    await trainer.add(chosen.map((i) => values[i]), chosen.map((i) => files.labels[i]), { part });
  }
  for await (const _ of trainer.run({ epochs: 2 }));
  const want = await trainer.save();
  trainer.dispose();
  const path = here.write("recipe.json", JSON.stringify({ model: { ...model, labels }, training: { ...training, validation: 7 } }));
  for (const ending of ["", ".gz"]) {
    const out = here.at(`out${ending}.safetensors`);
    const args = ["train", "--data", here.at(`data${ending}`), "--recipe", path, "--out", out, "--epochs", "2", "--seed", "9", "--json", ...SAME];
    const { code, stdout, stderr } = await run(args);
    assert.equal(code, 0, stderr);
    const [output, got] = [contents(out), readSafetensors(want)];
    assert.deepEqual(output.tensors, got.tensors);
    assert.deepEqual(output.config.log, got.config.log);
    const { epochs, ...report } = JSON.parse(stdout);
    assert.deepEqual(report, { out, labels, images: 54, validation: 6, variant, threads: 1 });
    assert.deepEqual(epochs, got.config.log);
    assert.match(stderr, /training key validation: ignored; --validation sets/);
  }
});

test("the command train takes the parts of train/ and val/ as they are, and prints a JSON line per epoch", { skip }, async (t) => {
  const here = folder(t);
  await photos(here, "data/train", 6);
  await photos(here, "data/val", 2, 50);
  await photos(here, "data/test", 1, 60);
  const args = ["train", "--data", here.at("data"), "--recipe", recipe(here), "--epochs", "2", ...SAME];
  const { code, stdout, stderr } = await start([...args, "--ndjson"], { cwd: here.path }).done;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^vitrine: data: 18 images of 3 classes to train on, 6 to validate with$/m);
  const epochs = lines(stdout).map((line) => JSON.parse(line));
  assert.deepEqual(epochs.map(({ epoch, epochs }) => [epoch, epochs]), [[1, 2], [2, 2]]);
  assert.ok(epochs.every(({ validation }) => [0, 1, 2, 3, 4, 5, 6].some((right) => right / 6 === validation.accuracy)));
  assert.ok(existsSync(here.at("model.safetensors")));
  await refused([...args, "--validation", "0.2", "--out", here.at("out.safetensors")], 2, /^vitrine: --validation: expected none, because .*val has the photos to measure on, got 0.2\n$/);
});

describe("fine-tuning by the command train, three photos a class", { skip }, () => {
  /** Three photos of each of two classes, which differ in colour. */
  async function pets(here) {
    for (const [channel, label] of ["cat", "dog"].entries()) {
      mkdirSync(here.at(`pets/${label}`), { recursive: true });
      for (let i = 0; i < 3; i++) {
        const photo = picture(40 + i, 36, 3);
        photo.data.forEach((value, at) => (photo.data[at] = at % 3 === channel ? 200 + value / 5 : value / 2));
        here.write(`pets/${label}/${i}.jpg`, await raw(photo).jpeg().toBuffer());
      }
    }
    return here.at("pets");
  }

  async function tuned(here, data, from, epochs, ...more) {
    const out = here.at("pets.safetensors");
    const { code, stdout, stderr } = await run(["train", "--data", data, "--model", from, "--out", out, "--epochs", epochs, ...more, ...SAME]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^data: 6 images of 2 classes to train on, 0 to validate with$/m);
    const frozen = more.includes("--freeze") ? ", all but head frozen" : more.includes("--recipe") ? ", 1 block frozen" : "";
    assert.match(stdout, new RegExp(`^model: [^:]*, fine-tuned${frozen}: `, "m"));
    return out;
  }

  test("of a ViT in the form of transformers leaves all but the head as it is", async (t) => {
    const here = folder(t);
    const [data, from] = [await pets(here), checkpoint(here)];
    const out = await tuned(here, data, from, "30", "--freeze", "all but head");
    const answers = lines((await run(["classify", "--model", out, data])).stdout);
    assert.equal(answers.length, 6);
    for (const line of answers) assert.match(line, /\/(cat|dog)\/\d\.jpg\t\1\t/);
    const photo = picture(20, 24, 3);
    const [before, after] = [await load(from, { variant }), await load(out, { variant })];
    assert.deepEqual((await after.embed(photo)).tokens, (await before.embed(photo)).tokens);
    assert.deepEqual((await after.embed(photo)).pooled, (await before.embed(photo)).pooled);
    assert.deepEqual(after.config.labels, ["cat", "dog"]);
    assert.equal(after.config.training.freeze, 3);
    const whole = await load(await tuned(here, data, from, "30"), { variant });
    assert.notDeepEqual((await whole.embed(photo)).pooled, (await before.embed(photo)).pooled);
    const path = here.write("training.json", JSON.stringify({ training: { freeze: 1, batch: 3 } }));
    const { config } = await load(await tuned(here, data, from, "30", "--recipe", path), { variant });
    assert.deepEqual([config.training.freeze, config.training.batch], [1, 3]);
  });

  const family = join(shared("families") ?? "", "timm-1.0.29_deit_tiny_distilled_patch16_224");
  const absent = !existsSync(family) && "no folder families in the data that VITRINE_DATA names";
  test("of a DeiT-Ti of timm leaves every other tensor's bits", { skip: absent }, async (t) => {
    const here = folder(t);
    const after = contents(await tuned(here, await pets(here), family, "2", "--freeze", "all but head")).tensors;
    const before = contents(join(family, "model.safetensors")).tensors;
    const same = [...after.keys()].filter((name) => !name.startsWith("head"));
    assert.ok(same.length > 20);
    for (const name of same) assert.deepEqual(after.get(name).data, before.get(name).data, name);
  });
});

/** Stops a training by a signal, which npx sends twice, as soon as one of its streams tells `what`. */
const interrupted = (args, signal, stream, what) => run([...args, "--ndjson"], {
  terminal: true,
  watch: (host) => host[stream].on("data", (text) => what.test(text) && [0, 1].map(() => host.emit(signal))),
});

/** The same after the first epoch, in a process of its own. */
async function killed(args, signal) {
  const { child, done } = start([...args, "--ndjson"]);
  child.stdout.once("data", () => [0, 1].map(() => child.kill(signal)));
  return done;
}

test("a signal loses nothing: the same command continues to the same bits, and another one is refused", { skip }, async (t) => {
  const here = folder(t);
  const data = await photos(here, "data", 12);
  const path = recipe(here, { training: { epochs: 6, ema_decay: 0.9, drop_path: 0.1 } });
  const args = (name) => ["train", "--data", data, "--recipe", path, "--out", here.at(`${name}.safetensors`), "--variant", variant, "--threads", "2"];
  const whole = await run(args("whole"));
  assert.equal(whole.code, 0, whole.stderr);
  const interruption = (epochs, name) => new RegExp(`vitrine: interrupted after (\\d+ of ${epochs} epochs and \\d steps? of the next); the run is saved in .*${name}\\.safetensors\\.checkpoint; run the same command again to continue\n`);
  let where = "resumed: after nothing";
  for (const [signal, code, ...moment] of [["SIGINT", 130, "stderr", /step 1\/3/], ["SIGTERM", 143, "stdout", /"epoch":2/]]) {
    const long = await killed([...args(signal), "--epochs", "100000"], signal);
    assert.equal(long.code, code, long.stderr);
    assert.match(long.stderr, interruption(100000, signal));
    const firstRun = await interrupted(args("broken"), signal, ...moment);
    assert.equal(firstRun.code, code, firstRun.stderr);
    assert.equal(firstRun.stderr.includes(where), code === 143);
    where = `resumed: after ${firstRun.stderr.match(interruption(6, "broken"))[1]}\n`;
    for (const name of [signal, "broken"]) {
      assert.deepEqual(readdirSync(here.path).filter((file) => file.startsWith(name)), [`${name}.safetensors.checkpoint`]);
    }
  }
  const checkpoint = here.at("broken.safetensors.checkpoint");
  const bytes = readFileSync(checkpoint);
  const other = (advice) => `expected a checkpoint of this run, got one of another; continue with ${advice}`;
  for (const [more, message] of [[["--epochs", "7"], other("--epochs 6")], [["--threads", "1"], other("--threads 2")],
    [["--seed", "4"], "the checkpoint comes from a run with another seed, 3 instead of 4: resume with the same"]]) {
    await refused([...args("broken"), ...more], 1, new RegExp(`checkpoint: ${message}.*--fresh`));
    assert.deepEqual(readFileSync(checkpoint), bytes);
  }
  const { code, stdout, stderr } = await run(args("broken").slice(0, -2)); // the threads are as before
  assert.equal(code, 0, stderr);
  assert.ok(stdout.includes(where), `${where} ${stdout}`);
  assert.match(stdout, /images\/s\nepoch 3/, "it does not start over");
  assert.deepEqual(readFileSync(here.at("broken.safetensors")), readFileSync(here.at("whole.safetensors")));
  assert.ok(!existsSync(checkpoint));

  for (const damaged of [bytes.subarray(0, 100), bytes.map((byte, i) => byte ^ (i === 5000 ? 1 : 0))]) {
    writeFileSync(checkpoint, damaged);
    await refused(args("broken"), 1, /^vitrine: .*\.checkpoint: .*damaged.*; --fresh starts over\n$/);
  }
  const anew = await run([...args("broken"), "--fresh", "--epochs", "1"]);
  assert.deepEqual([anew.code, existsSync(checkpoint)], [0, false]);
});

test("data and recipes that the command train cannot use are refused by name, and nothing is left behind", { skip }, async (t) => {
  const here = folder(t);
  const good = idxFiles(12);
  const data = (files) => {
    rmSync(here.at("idx"), { recursive: true, force: true });
    mkdirSync(here.at("idx"));
    for (const [name, bytes] of Object.entries(files)) here.write(`idx/${name}`, bytes);
    return here.at("idx");
  };
  const both = (images, labels = good[LABELS]) => data({ [IMAGES]: images, [LABELS]: labels });
  const packed = (bytes) => data({ [`${IMAGES}.gz`]: bytes, [LABELS]: good[LABELS] });
  const photo = await photos(here, "photos", 2);
  const grey = here.write("grey.json", JSON.stringify({ model, training }));
  mkdirSync(here.at("bad/a"), { recursive: true });
  mkdirSync(here.at("bad/b"));
  mkdirSync(here.at("one/a"), { recursive: true });
  here.write("one/a/a.png", await png(bar(0, 0)));
  const cases = [
    [() => both(good[IMAGES].subarray(0, -1)), /train-images-idx3-ubyte: expected 768 bytes after the header, as it announces, got 767; the file is cut short/],
    [() => both(Buffer.concat([good[IMAGES], Buffer.alloc(1)])), /train-images-idx3-ubyte: expected 768 bytes .*got more/],
    [() => both(good[LABELS]), /train-images-idx3-ubyte: expected IDX bytes of rank 3 \(00 00 08 03\), got a file that starts with 00 00 08 01/],
    [() => both(Buffer.alloc(3)), /train-images-idx3-ubyte: expected an IDX header of 16 bytes, got 3 bytes/],
    [() => both(idx([12, 0, SIDE])), /expected sizes from 1, got 12x0x8/],
    [() => both(idx([2, SIDE, SIDE], Buffer.alloc(2 * SIDE * SIDE))), /expected an image for each of 12 labels, got 2 images/],
    [() => both(idx([12, 4, 4], Buffer.alloc(12 * 16))), /expected images for the model, 8x8 with 1 channel, got 4x4 with 1/],
    [() => both(good[IMAGES], idx([12], Buffer.alloc(12, 1))), /train-labels-idx1-ubyte: expected labels from 0 to 1, got none of 0/],
    [() => packed(gzipSync(good[IMAGES]).subarray(0, -4)), /ubyte\.gz: expected a whole gzip file, got unexpected end of file/],
    [() => packed(gzipSync(Buffer.concat([good[IMAGES], Buffer.alloc(1e6)]))), /ubyte\.gz: expected a whole gzip file, got more bytes than its header announces/],
    [() => packed(gzipSync(idx([60000, 1000, 1000]))), /ubyte\.gz: expected at most 100 times the file's \d+ bytes, got a header that announces 60000000000/],
    [() => data({ [LABELS]: good[LABELS] }), /idx: expected train-images-idx3-ubyte in it, with or without \.gz, got none/],
    [() => here.at("none"), /none: expected a folder, got ENOENT/],
    [() => grey, /grey\.json: expected a folder, got ENOTDIR/],
    [() => data({}), /idx: expected a folder of photos for each class, or IDX files under MNIST's names, got neither/],
    [() => here.at("bad"), /bad.a: expected photos of the class "a", got none/],
    [() => here.at("one"), /one: expected 2 to 255 classes, got 1/],
    [() => photo, /no\.json: expected JSON, got/, "nonsense"],
    [() => photo, /no\.json: expected an object with two objects, "model" and "training", got "layers"/, { layers: 3 }],
    [() => photo, /no\.json: training key drawings: expected 0, got 2; only the native vit train has it, by --strokes/, { model: coloured, training: { drawings: 2 } }],
    [() => photo, /no\.json: decoder: expected none, because only the native vit train and the Trainer/, { model: { ...coloured, decoder: {} } }],
    [() => photo, /"learning_rat" is not a training key/, { model: coloured, training: { learning_rat: 2 } }],
    [() => photo, /freeze: expected 0 without --model, got 1/, { model: coloured, training: { freeze: 1 } }],
    [() => photo, /classes: expected 3 as in .*photos, got 2/, { model: { ...coloured, classes: 2 } }],
    [() => photo, /labels: expected the folders of .*photos, got "round", which has none/, { model: { ...coloured, labels: [...KINDS.slice(1), "round"] } }],
  ];
  const out = here.at("out.safetensors");
  for (const [at, message, json] of cases) {
    const file = json ? here.write("no.json", json === "nonsense" ? json : JSON.stringify(json)) : grey;
    await refused(["train", "--data", at(), "--recipe", file, "--out", out, ...SAME], 1, message);
  }
  here.write("photos/slant/bad.png", "no picture");
  here.write("photos/slant/cut.jpg", (await raw(picture(64, 64, 3)).jpeg().toBuffer()).subarray(0, 500));
  await refused(["train", "--data", photo, "--recipe", recipe(here), "--out", out], 1, /bad\.png: expected a whole PNG[^\n]*\nvitrine: [^\n]*cut\.jpg: [^\n]*\nvitrine: .*photos: expected images that can be read, got 2 that cannot; nothing was trained\n$/, 3);
  const nowhere = await run(["train", "--data", photo, "--out", here.at("no/out.safetensors")]);
  assert.match(nowhere.stderr, /^vitrine: .*out\.safetensors: expected a path that can be written, got ENOENT[^\n]*\n$/);
  mkdirSync(here.at("folder.safetensors"));
  const onto = await run(["train", "--data", photo, "--out", here.at("folder.safetensors")]);
  assert.match(onto.stderr, /expected a file to write, got a folder/);
  assert.deepEqual(readdirSync(here.path).filter((name) => /^(out|model)|part$/.test(name)), []);
});

test("wrong command lines of train are refused before anything is read", async () => {
  for (const [args, message] of [
    [[], /--data: expected a folder, got none; see vitrine train --help/],
    [["--data", "a", "b"], /operands: expected none, got "b"; see vitrine train --help/],
    [["--data", "a", "--out", "b.bin"], /--out: expected a name that ends in \.safetensors, got "b\.bin"/],
    [["--data", "a", "--epochs", "0"], /--epochs: expected a whole number from 1 to 100000, got "0"/],
    [["--data", "a", "--seed", "-1"], /--seed/],
    [["--data", "a", "--seed", "x"], /--seed: expected a whole number from 0/],
    [["--data", "a", "--validation", "1"], /--validation: expected a number from 0 to 0\.9, got "1"/],
    [["--data", "a", "--freeze", "head"], /--freeze: expected none, "all but head" or a number of blocks, got "head"/],
    [["--data", "a", "--recipe", "r", "--freeze", "1"], /--freeze: expected only with weights to fine-tune, got no --model/],
    [["--data", "a", "--recipe", "r", "--config", "{}"], /--config: expected only with weights/],
    [["--data", "a", "--threads", "0"], /--threads: expected a whole number from 1, got "0"/],
    [["--data", "a", "--variant", "fast"], /--variant: expected one of auto/],
    [["--data", "a", "--top", "3"], /'--top'.*vitrine train --help/],
  ]) {
    await refused(["train", ...args], 2, message);
  }
});

test("a training whose loss is no longer finite ends with an error, and writes no model", { skip }, async (t) => {
  const here = folder(t);
  const data = await photos(here, "data", 2);
  const path = recipe(here, { training: { learning_rate: 10, weight_decay: 10, schedule: "constant", warmup_epochs: 0, epochs: 200 } });
  const { code, stderr } = await run(["train", "--data", data, "--recipe", path, "--out", here.at("model.safetensors"), ...SAME]);
  assert.equal(code, 1);
  assert.match(stderr, /^vitrine: [^\n]*no longer finite[^\n]*\n$/);
  assert.ok(!existsSync(here.at("model.safetensors")));
});

test("more blocks to freeze than the model has are a wrong command line", { skip }, async (t) => {
  const here = folder(t);
  const data = await photos(here, "data", 1);
  const args = ["train", "--data", data, "--model", checkpoint(here), "--freeze", "9", "--out", here.at("model.safetensors")];
  await refused(args, 2, /^vitrine: --freeze: expected "none", "all but head" or blocks from 0 to 2, got 9\n$/);
});
