// Scrambled patches: the function that the page and the script share, and the shipped figures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { permuted, seeded, shuffled } from "../../web/base/scramble.mjs";
import { findMnist } from "../../web/scripts/data.mjs";
import { measure } from "../../weights/tools/scramble.mjs";

test("each place of the grid gets the patch that the order names, in each channel", () => {
  const sizes = { rows: 5, cols: 6, patchRows: 2, patchCols: 3, gridCols: 2 }; // a row of pixels remains
  const image = Float32Array.from({ length: 60 }, (_, i) => i);
  const order = [2, 0, 3, 1];
  const got = permuted(image, order, sizes);
  for (let i = 0; i < 60; i++) {
    const channel = Math.floor(i / 30), y = Math.floor(i / 6) % 5, x = i % 6;
    const patch = order[2 * Math.floor(y / 2) + Math.floor(x / 3)];
    const from = y === 4 ? i : 30 * channel + 6 * (2 * Math.floor(patch / 2) + (y % 2)) + 3 * (patch % 2) + (x % 3);
    assert.equal(got[i], from, `value ${i}`);
  }
  assert.deepEqual(image, Float32Array.from({ length: 60 }, (_, i) => i), "the image given stays");
  assert.deepEqual(permuted(image, [0, 1, 2, 3], sizes), image);
});

test("a shuffle is a permutation, and puts each thing in each place equally often", () => {
  const random = seeded(7), counts = Array.from({ length: 5 }, () => Array(5).fill(0));
  for (let run = 0; run < 5000; run++) {
    const order = shuffled(5, random);
    assert.deepEqual(order.toSorted(), [0, 1, 2, 3, 4]);
    order.forEach((thing, place) => counts[place][thing]++);
  }
  // 1000 expected in each of 25 cells, deviation √(5000 · 0.2 · 0.8) = 28; five of them
  for (const count of counts.flat()) assert.ok(Math.abs(count - 1000) < 142, counts.join(" | "));
  assert.deepEqual(shuffled(49, seeded(1)), shuffled(49, seeded(1)));
  assert.notDeepEqual(shuffled(49, seeded(1)), shuffled(49, seeded(2)));
});

const data = findMnist();
test("the page's figures of scrambled test digits are those of the shipped models", { skip: data ? false : "MNIST is not here" }, async () => {
  const pageNumbers = JSON.parse(readFileSync(new URL("../../web/demo/explain/scramble.json", import.meta.url)));
  const got = await measure(data);
  assert.deepEqual([pageNumbers.digits, pageNumbers.seed], [got.digits, got.seed]);
  assert.deepEqual(Object.keys(pageNumbers.right), Object.keys(got.right));
  for (const [name, counts] of Object.entries(got.right)) {
    // The builds round differently, which may turn a digit that lies between two classes.
    for (const [what, count] of Object.entries(counts)) {
      assert.ok(Math.abs(pageNumbers.right[name][what] - count) <= 2, `${name} ${what}: ${pageNumbers.right[name][what]}, now ${count}`);
    }
  }
  const { none, ...placed } = got.right;
  assert.ok(Math.abs(none.before - none.after) <= 2, "without positions the order does not matter");
  for (const [name, { before, after }] of Object.entries(placed)) assert.ok(before > 950 && after < 400, name);
});
