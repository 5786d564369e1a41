// The models to explain with: their packed form, and what the shipped ones can do.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { pack, unpack } from "../../web/base/pack.mjs";
import { readSafetensors, writeSafetensors } from "../../web/base/safetensors.mjs";
import { readPack, score, testImages } from "../../weights/tools/accuracy.mjs";
import { findMnist, readDigits } from "../../web/scripts/data.mjs";
import { recipes } from "../../weights/tools/explain.mjs";
import { load } from "./support.mjs";

const packed = readFileSync(new URL("../../weights/explain.safetensors.gz", import.meta.url));
const shipped = unpack(gunzipSync(packed));
const mnist = findMnist();

test("a series is unpacked with each number within half a step of its row's scale", () => {
  const shapes = { matrix: [3, 4], vector: [5], token: [1, 1, 4], grid: [1, 3, 2], filters: [2, 1, 3, 3] };
  const models = [0, 7, 50].map((step, at) => {
    const tensors = new Map(Object.entries(shapes).map(([name, shape]) => {
      const size = shape.reduce((a, b) => a * b);
      const data = Float32Array.from({ length: size }, (_, i) => 10 ** (i % 3) * Math.sin(i * 1.7 + at) * (i < 4 ? 0 : 1));
      return [name, { shape, data }];
    }));
    return { step, weights: writeSafetensors({ config: { width: 4 }, tensors }) };
  });
  const rows = { matrix: 3, vector: 1, token: 4, grid: 3, filters: 2 };
  for (const [levels, list] of [[25, models], [63, models.slice(1, 2)]]) {
    const got = unpack(pack([{ name: "other", models: models.slice(0, 1) }, { name: "run", models: list }])).run;
    assert.deepEqual(got.map(({ step }) => step), list.map(({ step }) => step));
    const [want, have] = [list, got].map((all) => all.map(({ weights }) => readSafetensors(weights)));
    for (const [name, shape] of Object.entries(shapes)) {
      const columns = want[0].tensors.get(name).data.length / rows[name];
      const steps = name === "vector" ? 127 : levels;
      const all = want.map(({ tensors }) => tensors.get(name).data);
      have.forEach(({ config, tensors }, at) => {
        assert.deepEqual(config, { width: 4 });
        assert.deepEqual(tensors.get(name).shape, shape);
        all[at].forEach((number, i) => {
          const row = Math.floor(i / columns) * columns;
          const largest = Math.max(...all.map((data) => Math.max(...data.slice(row, row + columns).map(Math.abs))));
          const apart = Math.abs(tensors.get(name).data[i] - number);
          assert.ok(apart <= (0.5 * largest * (1 + 1e-6)) / steps, `${name}[${i}]: ${apart} of ${largest}`);
        });
      });
    }
  }
});

test("the shipped models to explain with are as their recipes say, in at most 520 kB", () => {
  assert.ok(packed.length <= 520_000, `${packed.length} bytes`);
  const all = recipes();
  assert.deepEqual(Object.keys(shipped), [...all.map(({ name }) => name), "learning"]);
  for (const { name, recipe } of all) {
    const { config, tensors } = readSafetensors(shipped[name][0].weights);
    for (const [key, value] of Object.entries(recipe.model)) assert.deepEqual(config[key], value, `${name}: ${key}`);
    const parameters = [...tensors.values()].reduce((sum, { data }) => sum + data.length, 0);
    assert.ok(parameters > 26_000 && parameters < 30_000, `${name}: ${parameters} parameters`);
  }
});

test("the snapshots go from step 0 to the end of the run, and the last answers as its model does", async () => {
  const { learning, learned } = shipped;
  assert.ok(learning.length >= 30 && learning.length <= 40, `${learning.length} snapshots`);
  assert.equal(learning[0].step, 0);
  learning.slice(1).forEach(({ step }, at) => assert.ok(step > learning[at].step, `${step} after ${learning[at].step}`));
  const [last, model] = await Promise.all([learning.at(-1), learned[0]].map(({ weights }) => load(weights)));
  const image = Float32Array.from({ length: 784 }, (_, i) => (i % 28 === 14 ? 1 : 0));
  const [a, b] = await Promise.all([last, model].map((vit) => vit.classify(image)));
  assert.equal(a.classes[0].label, b.classes[0].label);
});

/** MNIST's last 5,000 training images, which no recipe here trains on; 1,000 of them. */
function validation() {
  const { images: pixels, labels } = readDigits(mnist, "train");
  return Array.from({ length: 1000 }, (_, i) => {
    const at = 59_000 + i;
    return { label: String(labels[at]), image: Float32Array.from(pixels.subarray(784 * at, 784 * (at + 1)), (v) => v / 255) };
  });
}

const skip = mnist ? false : "MNIST is not here";
test("each model to explain with reads at least 95 % of MNIST's validation images, without positions 75 %", { skip }, async () => {
  const digits = validation();
  const share = async (weights) => {
    const answers = await (await load(weights)).classifyAll(digits.map(({ image }) => image), { topK: 1 });
    return answers.filter(({ classes }, i) => classes[0].label === digits[i].label).length / digits.length;
  };
  const least = { none: 0.75 };
  for (const { name } of recipes()) {
    const right = await share(shipped[name][0].weights);
    assert.ok(right >= (least[name] ?? 0.95), `${name}: ${right}`);
  }
  const { learning } = shipped;
  const [first, last] = [await share(learning[0].weights), await share(learning.at(-1).weights)];
  assert.ok(first < 0.3 && last >= 0.95, `from ${first} to ${last}`);
});

const figures = JSON.parse(readFileSync(new URL("../../web/demo/explain/accuracy.json", import.meta.url)));

test("the accuracies that the page shows belong to the shipped models, and are the card's", () => {
  assert.equal(figures.pack, readPack().pack, "run node weights/tools/accuracy.mjs");
  assert.equal(figures.learning.right.length, shipped.learning.length);
  assert.equal(figures.learning.loss.length, shipped.learning.length);
  const card = readFileSync(new URL("../../weights/README.md", import.meta.url), "utf8");
  for (const { name } of recipes()) {
    const row = card.match(new RegExp(`^\\| ${name}[:| ].*\\((\\d+)/10000\\)`, "m"));
    assert.equal(figures.models.right[name], Number(row[1]), name);
  }
});

test("the accuracies that the page shows are measured again", { skip }, async () => {
  const { images, right, loss } = figures.learning, some = testImages(mnist, images);
  for (const at of [0, 10, 35]) {
    const got = await score(shipped.learning[at].weights, some);
    assert.deepEqual([got.right, Number(got.loss.toFixed(4))], [right[at], loss[at]], `stop ${at}`);
  }
});
