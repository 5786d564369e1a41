// npm run train, of models that are trained in several runs: a later run's recipe; and the data that idx.mjs packs. No run is made.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { finishing } from "../../weights/tools/finish.mjs";
import { files as hands } from "../../weights/tools/hands.mjs";
import { raw, skip } from "./command.mjs";
import { folderOf } from "./folder.mjs";
import { idx } from "./idx.mjs";

const weights = new URL("../../weights/", import.meta.url);
const json = (name) => JSON.parse(readFileSync(new URL(name, weights), "utf8"));
/** What changes a recipe for a later run: digits.finish.json is { name: "digits", run: "finish" }. */
const later = readdirSync(weights).flatMap((file) => {
  const [, name, run] = /^(.+)\.([a-z]+)\.json$/.exec(file) ?? [];
  return name && !/^recipes?$/.test(run) ? [{ name, run }] : [];
});

test("a later run has the first's recipe but for the changes, and its fitted numbers", () => {
  const first = { model: { width: 8, temperature: 1 }, training: { epochs: 9, batch: 4, augment: { shift: 1, settle: 0.4 } } };
  const before = structuredClone(first);
  const changes = { model: { classes: 3 }, training: { epochs: 2, augment: { settle: 0.6 } } };
  assert.deepEqual(finishing(first, changes, { width: 9, temperature: 0.7, uncertain_below: 0.8 }), {
    model: { width: 8, classes: 3, temperature: 0.7, uncertain_below: 0.8 },
    training: { epochs: 2, batch: 4, augment: { shift: 1, settle: 0.6 } },
  });
  assert.deepEqual(first, before);
});

test("a model of several runs has a fitted temperature, and its later runs are slower, and shorter but for photos'", () => {
  assert.deepEqual(later.map(({ name, run }) => `${name} ${run}`).toSorted(), ["digits finish", "digits fourth", "digits third", "digits-large finish", "digits-large third", "digits-stem finish",
    "numbers fifth", "numbers fourth", "numbers second", "numbers seventh", "numbers sixth", "numbers third", "photos finish"]);
  for (const { name, run } of later) {
    const first = json(`${name}.recipe.json`), { strokes, teacher } = json(`${name}.${run}.json`);
    assert.ok(strokes === undefined || hands.includes(fileURLToPath(new URL(`../${strokes}`, weights))), `hands.mjs writes ${strokes}`);
    assert.ok(teacher === undefined || existsSync(new URL(`${teacher}.safetensors`, weights)), `there is ${teacher}`);
    const { model, training } = finishing(first, json(`${name}.${run}.json`), { temperature: 2, uncertain_below: 0.5 });
    assert.equal(first.training.validation > 0, first.model.temperature === undefined,
      "its temperature is fitted to the validation part, or the recipe has the one of such a run");
    assert.ok(training.learning_rate < first.training.learning_rate);
    assert.ok(training.epochs < first.training.epochs || name === "photos");
    const all = ["digits third", "digits fourth", "numbers fifth", "numbers sixth", "numbers seventh"].includes(`${name} ${run}`); // learn from the validation part, too
    assert.equal(training.validation, all ? 0 : { digits: 5000, numbers: 3000, photos: 5000 }[name] ?? 0);
    const steps = ["sharpness", "sharpness_batch"].filter((key) => !["numbers", "photos"].includes(name) || key in training); // what a later run may add
    assert.deepEqual(new Set(Object.keys(training)), new Set([...Object.keys(first.training), ...steps]), "no other key is new");
    assert.deepEqual(new Set(Object.keys(model)), new Set([...Object.keys(first.model), ...(training.validation > 0 ? [] : ["temperature", "uncertain_below"])]));
  }
});

test("idx.mjs packs images of no class first, then the classes in turn, which end together, each channel by itself", { skip }, async (t) => {
  const folder = folderOf(t), out = join(folder, "packed");
  const images = { "b/0": 10, "a/0": 20, "none/x": 30, "a/1": 40, "none/y": 50 }; // the reds; green is 1 and blue 2 more
  for (const [name, red] of Object.entries(images)) {
    mkdirSync(join(folder, "images", name.split("/")[0]), { recursive: true });
    const data = Uint8Array.from({ length: 2 * 3 * 3 }, (_, i) => red + (i % 3));
    await raw({ data, width: 3, height: 2, channels: 3 }).png().toFile(join(folder, "images", `${name}.png`));
  }
  execFileSync(process.execPath, [fileURLToPath(new URL("tools/idx.mjs", weights)), join(folder, "images"), out, "t10k"]);
  const read = (name) => gunzipSync(readFileSync(join(out, `t10k-${name}-ubyte.gz`)));
  const planes = [30, 50, 20, 40, 10].flatMap((red) => [red, red + 1, red + 2].flatMap((value) => Array(6).fill(value)));
  assert.deepEqual(read("images-idx4"), idx([5, 3, 2, 3], Uint8Array.from(planes)));
  assert.deepEqual(read("labels-idx1"), idx([5], Uint8Array.of(255, 255, 0, 0, 1)));
});
