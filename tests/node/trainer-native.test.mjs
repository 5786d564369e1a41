// The Trainer in wasm beside the same C, compiled natively, with the scalar table.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { Trainer } from "../../dist/train.js";
import { BARS, bars, SPELLED, spelled, values } from "./bars.mjs";
import { idx } from "./idx.mjs";
import { ways } from "./support.mjs";

const native = fileURLToPath(new URL("../../build/native/steps", import.meta.url));
const skip = !existsSync(native) && "no build/native/steps here; npm test builds it in the stage native";

const BATCH = 16, STEPS = 20, EPOCHS = 2, SEED = 5;
const { images, labels } = bars((BATCH * STEPS) / EPOCHS);

/** What is learnt of the images, as a Trainer takes it and as a row of an IDX file. */
const texts = labels.map(spelled), most = Math.max(...texts.map(({ length }) => length));
const TASKS = {
  classes: { model: BARS, labels, rows: labels.map((label) => [label]), file: "labels-idx1", sizes: [labels.length] },
  texts: {
    model: SPELLED, labels: texts, file: "tokens-idx2", sizes: [labels.length, most],
    rows: texts.map((tokens) => Array.from({ length: most }, (_, i) => tokens[i] ?? SPELLED.decoder.padding)),
  },
};

const recipe = (optimizer, task = "classes") => ({
  model: TASKS[task].model,
  training: {
    batch: BATCH, optimizer, learning_rate: 4e-3, min_learning_rate: 1e-4, warmup_epochs: 1, clip_norm: 1,
    ema_decay: 0.9, drop_path: 0.1, augment: { shift: 0.5, rotation: 5, elastic: 0.2 },
  },
});

const folder = skip ? undefined : mkdtempSync(join(tmpdir(), "vitrine-"));
after(() => folder && rmSync(folder, { recursive: true }));

/** The native run's parameters and its last epoch's loss. `nudge`: how far they are moved at first, in units of float32's epsilon. */
function nativeRun({ model, training }, { rows }, nudge) {
  const at = (name) => join(folder, name);
  writeFileSync(at("recipe.json"), JSON.stringify({ model, training: { ...training, epochs: EPOCHS, validation: 0, seed: SEED } }));
  writeFileSync(at("images"), Buffer.concat(images.map(({ data }) => data)));
  writeFileSync(at("labels"), Uint8Array.from(rows.flat()));
  const loss = Number(execFileSync(native, [...["recipe.json", "images", "labels"].map(at), String(nudge), at("model.safetensors")]));
  return { loss, tensors: readSafetensors(readFileSync(at("model.safetensors"))).tensors };
}

async function wasmRun(recipe, { labels }, options) {
  const trainer = await Trainer.create({ recipe }, { seed: SEED, ...options });
  try {
    await trainer.add(images.map(values), labels);
    let steps = 0, last;
    for await (last of trainer.run({ epochs: EPOCHS, onStep: () => steps++ })) assert.ok(last.epoch <= EPOCHS);
    assert.equal(steps, STEPS);
    return { loss: last.loss, tensors: readSafetensors(await trainer.save()).tensors };
  } finally {
    trainer.dispose();
  }
}

/** How far apart two runs' parameters are, as a root of the mean square. */
function distance(a, b) {
  assert.deepEqual([...a.keys()], [...b.keys()]);
  let sum = 0, count = 0;
  for (const [name, { data }] of a) {
    data.forEach((value, i) => (sum += (value - b.get(name).data[i]) ** 2));
    count += data.length;
  }
  return Math.sqrt(sum / count);
}

// Only rounding may differ. What rounding leads to is measured by the native run alone, as in trainer_test.c:
// once more, from parameters that differ by up to 4 units in the last place.
describe(`after ${STEPS} steps wasm has the parameters and the loss of the native scalar build, but for rounding`, { skip }, () => {
  if (skip) return;
  for (const [name, optimizer] of [["classes", "adamw"], ["classes", "muon"], ["texts", "adamw"]]) {
    const task = TASKS[name], used = recipe(optimizer, name);
    const want = nativeRun(used, task, 0), nudged = nativeRun(used, task, 4);
    const allowed = 10 * distance(want.tensors, nudged.tensors);
    for (const { variant, worker } of ways) {
      test(`${name}, ${optimizer}, ${variant}${worker ? ", in a worker" : ""}`, async (t) => {
        const run = await wasmRun(used, task, { variant, worker });
        const got = distance(want.tensors, run.tensors), losses = [want, run].map(({ loss }) => loss);
        t.diagnostic(`parameters ${got} apart, allowed ${allowed}; losses ${losses}`);
        assert.ok(allowed < 1e-3, `rounding leads to ${allowed}`);
        assert.ok(got <= allowed, `${got} apart, allowed ${allowed}`);
        assert.ok(Math.abs(losses[1] - losses[0]) <= 1e-5 * losses[0], `${losses}`);
      });
    }
  }
});

// ---- The one checkpoint ------------------------------------------------------

const vit = fileURLToPath(new URL("../../build/native/vit", import.meta.url));
const LONG = 20_000; // epochs: no run here comes to their end

/** `vit train` until it prints a line; resolves to what it printed. */
async function interruptedNatively(out, task) {
  const [data, path] = [join(folder, `${task}-data`), join(folder, `${task}.json`)];
  const { model, training } = recipe("adamw", task), { rows: labels, file, sizes } = TASKS[task];
  const [rows, columns] = BARS.image_size;
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, "train-images-idx3-ubyte"), idx([images.length, rows, columns], Buffer.concat(images.map((image) => image.data))));
  writeFileSync(join(data, `train-${file}-ubyte`), idx(sizes, Uint8Array.from(labels.flat())));
  writeFileSync(path, JSON.stringify({ model, training: { ...training, epochs: LONG, validation: 0, seed: SEED } }));
  const child = spawn(vit, ["train", "--data", data, "--recipe", path, "--out", out, "--threads", "1"]);
  const printed = ["", ""];
  [child.stdout, child.stderr].forEach((stream, i) => stream.on("data", (text) => (printed[i] += text)));
  child.stdout.once("data", () => child.kill("SIGINT"));
  const [code] = await once(child, "close");
  assert.equal(code, 130, printed.join());
  return printed[0];
}

/** Takes two steps. Returns the places after them. */
async function twoSteps(trainer) {
  const places = [];
  const stop = new AbortController();
  const onStep = ({ epoch, step }) => {
    if (places.push([epoch, step]) === 2) stop.abort();
  };
  await assert.rejects(async () => {
    for await (const _ of trainer.run({ epochs: LONG, signal: stop.signal, onStep }));
  }, { name: "AbortError" });
  return places;
}

for (const task of Object.keys(TASKS)) describe(`one checkpoint of training ${task}`, { skip: skip || (!existsSync(vit) && "no build/native/vit here") }, () => {
  const { labels } = TASKS[task];

  test("a Trainer continues that of `vit train`, from the file alone and with the same recipe and examples", async () => {
    const out = join(folder, `${task}-native.safetensors`);
    const first = Number((await interruptedNatively(out, task)).match(/.*epoch (\d+)\//s)[1]) + 1;
    const bytes = readFileSync(`${out}.checkpoint`);
    const alone = await Trainer.resume(bytes);
    const again = await Trainer.create({ recipe: recipe("adamw", task) }, { seed: SEED });
    await again.add(images.map(values), labels);
    await again.continueFrom(bytes);
    const places = [await twoSteps(alone), await twoSteps(again)];
    assert.ok([first, first + 1].includes(places[0][0][0]), `${places} after ${first}`); // all steps of an epoch may be taken
    assert.deepEqual(places[1], places[0]);
    assert.deepEqual(await alone.save(), await again.save());
    for (const trainer of [alone, again]) trainer.dispose();
    const other = await Trainer.create({ recipe: recipe("adamw", task) }, { seed: SEED });
    await other.add([...images.slice(1), images[0]].map(values), [...labels.slice(1), labels[0]]);
    await assert.rejects(() => other.continueFrom(bytes.subarray(0, -1)), { code: "bad_file", message: /damaged/ });
    await assert.rejects(() => other.continueFrom(bytes), { code: "bad_file", message: /another data set: resume with the same/ });
    assert.deepEqual(await twoSteps(other), [[1, 1], [1, 2]]);
    other.dispose();
  });

  test("`vit train` continues a Trainer's", async () => {
    const out = join(folder, `${task}-wasm.safetensors`);
    const trainer = await Trainer.create({ recipe: recipe("adamw", task) }, { seed: SEED });
    await trainer.add(images.map(values), labels);
    assert.deepEqual(await twoSteps(trainer), [[1, 1], [1, 2]]);
    writeFileSync(`${out}.checkpoint`, await trainer.checkpoint());
    trainer.dispose();
    assert.match(await interruptedNatively(out, task), /^resumed after epoch 0 of 20000 and 32 of the next one's 160 images\n/);
  });
});
