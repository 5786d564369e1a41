// A visitor's own images in "Train one yourself, here": IDX files and folders, checked before use.
import assert from "node:assert/strict";
import { File } from "node:buffer";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { idx } from "./idx.mjs";

const { MOST, photosIn, readIdx, sourceOf } = await importTypescript("web/demo/story/chapters/learning/live/own.ts");
const { recipeOf, PRESETS } = await importTypescript("web/demo/story/chapters/learning/live/recipe.ts");

const COUNT = 60;
const pixels = Uint8Array.from({ length: COUNT * 12 }, (_, at) => (at * 7) % 256);
const numbers = Uint8Array.from({ length: COUNT }, (_, at) => at % 3);
const IMAGES = idx([COUNT, 3, 4], pixels), LABELS = idx([COUNT], numbers);
const read = (images, labels) => readIdx([new File([images], "images"), new File([labels], "labels")]);

test("IDX files are read in either order, as they are and packed", async () => {
  const files = [new File([IMAGES], "a"), new File([gzipSync(LABELS)], "b")];
  for (const order of [files, files.toReversed(), [new File([gzipSync(IMAGES)], "a"), new File([LABELS], "b")]]) {
    const got = await readIdx(order);
    assert.deepEqual([got.names, got.rows, got.columns], [["0", "1", "2"], 3, 4]);
    assert.deepEqual([...got.labels], [...numbers]);
    assert.deepEqual([...got.pixels], [...pixels]);
  }
});

test("wrong IDX files are refused with the reason", async () => {
  const big = (count) => idx([count, 28, 28]);
  const cases = [
    [IMAGES, IMAGES, /labels: expected IDX bytes of rank 1 \(00 00 08 01\), got a file that starts with 00 00 08 03/],
    [Buffer.from("not a picture of anything"), LABELS, /images: expected IDX bytes of rank 3/],
    [Buffer.alloc(3), LABELS, /images: expected an IDX header of 16 bytes, got 3 bytes/],
    [Buffer.alloc(0), LABELS, /got 0 bytes/],
    [IMAGES.subarray(0, -1), LABELS, /images: expected 720 bytes after the header, as it announces, got 719; the file is cut short/],
    [Buffer.concat([IMAGES, Buffer.alloc(1)]), LABELS, /images: expected 720 bytes .* got more/],
    [gzipSync(IMAGES).subarray(0, -9), LABELS, /images: expected (a whole gzip file|720 bytes)/],
    [gzipSync(Buffer.alloc(1e6)), LABELS, /images: expected IDX bytes of rank 3/],
    [idx([COUNT, 0, 4]), LABELS, /images: expected sizes from 1, got 60x0x4/],
    [idx([2, 3, 4], pixels.subarray(0, 24)), LABELS, /images: expected an image for each of 60 labels, got 2 images/],
    [IMAGES, idx([COUNT], new Uint8Array(COUNT)), /labels: expected 2 to 20 classes, got 1/],
    [IMAGES, idx([COUNT], numbers.map((at) => at + 1)), /labels: expected labels from 0 to 3, got none of 0/],
    [IMAGES, idx([COUNT], Uint8Array.from({ length: COUNT }, (_, at) => at % 21)), /labels: expected 2 to 20 classes, got 21/],
    [big(MOST.images + 1), idx([MOST.images + 1]), /images: expected at most 70000 images, got 70001/],
    [idx([9, 65535, 65535]), idx([9], Buffer.alloc(9)), /images: expected at most 268435456 bytes/],
  ];
  for (const [images, labels, why] of cases) await assert.rejects(read(images, labels), why);
  for (const count of [1, 3]) {
    await assert.rejects(readIdx(Array(count).fill(new File([IMAGES], "a"))), new RegExp(`expected two IDX files.*got ${count}`));
  }
});

/** Each image's first pixel is its number. */
const numbered = (count, classes) => ({
  names: Array.from({ length: classes }, (_, at) => `class ${at}`),
  labels: Uint8Array.from({ length: count }, (_, at) => Math.floor((at * classes) / count)),
  pixels: Uint8Array.from({ length: count * 784 }, (_, at) => (at % 784 ? 0 : at / 784)),
});

test("a tenth of each class is kept to test with, always the same, and the rest is mixed", async () => {
  const dataset = numbered(200, 4), source = sourceOf(dataset), { train, test: testPart } = await source.open();
  assert.deepEqual([source.train, source.test, source.names], [180, 20, dataset.names]);
  const numbers = [];
  for (const part of [train, testPart]) {
    part.labels.forEach((label, at) => {
      const number = Math.round(part.image(at)[0] * 255);
      assert.equal(label, dataset.labels[number]);
      numbers.push(number);
    });
  }
  assert.deepEqual(numbers.toSorted((a, b) => a - b), Array.from({ length: 200 }, (_, at) => at));
  for (let label = 0; label < 4; label++) assert.equal(testPart.labels.filter((other) => other === label).length, 5);
  assert.equal(new Set(train.labels.subarray(0, 40)).size, 4, "a run of few images has all classes");
  assert.deepEqual((await sourceOf(dataset).open()).test.labels, testPart.labels);
});

test("too few images to keep any are refused", () => {
  assert.throws(() => sourceOf(numbered(8, 2)), /expected 5 images of a class at least/);
});

test("classes are the names of the subfolders, 2 before 10; other files are left out", () => {
  const file = (path, type = "image/png") => ({ webkitRelativePath: path, name: path.split("/").at(-1), type });
  const paths = ["own/10/a.png", "own/2/b.png", "own/2/deep/c.png", "own/beside.png", "own/2/.hidden.png"];
  const { names, photos, labels } = photosIn([...paths.map((path) => file(path)), file("own/3/notes.txt", "text/plain")]);
  assert.deepEqual(names, ["2", "10"]);
  assert.deepEqual(photos.map(({ webkitRelativePath }) => webkitRelativePath), [paths[1], paths[2], paths[0]], "in order");
  assert.deepEqual([...labels], [0, 0, 1]);
  assert.throws(() => photosIn([]), /expected 2 to 20 classes, got 0/);
  assert.throws(() => photosIn([file("own/1/a.png")]), /own: expected 2 to 20 classes, got 1/);
  assert.throws(() => photosIn(Array.from({ length: 70_001 }, (_, at) => file(`own/${at % 2}/${at}.png`))), /at most 70000 images/);
});

test("the recipe follows the classes and how photos are prepared", () => {
  const names = ["cat", "dog"], prepare = { kind: "photo" };
  const { model } = recipeOf(PRESETS.ours, { names, prepare });
  assert.deepEqual([model.classes, model.labels, model.prepare], [2, names, prepare]);
  assert.equal(recipeOf(PRESETS.ours).model.classes, 10);
});
