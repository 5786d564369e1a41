// The words for where a map is hottest, by the drawing's own geometry.
import assert from "node:assert/strict";
import { test } from "node:test";
import { importTypescript } from "../../web/scripts/typescript.mjs";

const { whereOf } = await importTypescript("web/demo/where.ts");

const PAD = { left: 0, top: 0, width: 280, height: 280 };
const stroke = (...points) => points.map(([x, y]) => ({ x, y, width: 10 }));
/** A map of 7 × 7 patches of 40 units with these values, by row and column. */
const mapOf = (hot) => {
  const map = new Float32Array(49).fill(0.001);
  for (const [row, col, value] of hot) map[row * 7 + col] = value;
  return map;
};
const look = (hot, strokes, placement = PAD) => whereOf(mapOf(hot), [7, 7], placement, strokes);
const place = (...args) => look(...args).places.map(({ kind, position }) => `${kind} ${position}`).join();

const seven = [stroke([60, 60], [220, 60], [140, 260])];
const cross = [stroke([140, 20], [140, 260]), stroke([20, 140], [260, 140])];

test("a stroke's end, its turn, its middle and paper without ink are told apart", () => {
  assert.equal(place([[1, 1, 0.3]], seven), "end topLeft");
  assert.equal(place([[1, 5, 0.3]], seven), "turn topRight");
  assert.equal(place([[6, 3, 0.3]], seven), "end bottom");
  assert.equal(place([[1, 3, 0.3]], seven), "line top");
  assert.equal(place([[5, 1, 0.3]], seven), "gap bottomLeft");
});

test("a round bend is no sharp turn, and strokes that meet are a crossing", () => {
  const arc = [stroke(...Array.from({ length: 41 }, (_, i) => [140 + 70 * Math.sin((i * Math.PI) / 40), 140 - 70 * Math.cos((i * Math.PI) / 40)]))];
  assert.equal(place([[3, 5, 0.3]], arc), "bend right");
  assert.equal(place([[3, 3, 0.3]], cross), "crossing middle");
  const eight = [stroke([60, 60], [220, 220], [60, 220], [220, 60])];
  assert.equal(place([[3, 3, 0.3]], eight), "crossing middle");
});

test("a closed loop has no ends", () => {
  const loop = [stroke(...Array.from({ length: 61 }, (_, i) => [140 + 80 * Math.sin((i * Math.PI) / 30), 140 - 80 * Math.cos((i * Math.PI) / 30)]))];
  assert.equal(place([[1, 3, 0.3]], loop), "bend top");
});

test("hot patches are counted with their share; two far apart are two places, many are none", () => {
  const one = look([[1, 1, 0.3], [1, 2, 0.2], [5, 5, 0.05]], seven);
  assert.deepEqual([one.patches, Math.round(100 * one.share), one.places.length, one.spread], [2, 50, 1, false]);
  assert.equal(place([[1, 1, 0.3], [1, 5, 0.25]], seven), "end topLeft,turn topRight");
  assert.equal(place([[1, 1, 0.3], [1, 5, 0.15]], seven), "end topLeft", "the second is much fainter");
  assert.equal(look(Array.from({ length: 14 }, (_, i) => [Math.floor(i / 7), i % 7, 0.05]), seven).spread, true);
});

test("positions are those in the ink's box, wherever the model's image lies", () => {
  const small = [stroke([200, 200], [240, 200], [220, 250])];
  const placement = { left: 185, top: 190, width: 70, height: 70 };
  assert.equal(place([[1, 1, 0.3]], small, placement), "end topLeft");
  const upright = [stroke([140, 40], [140, 240])];
  assert.equal(place([[3, 3, 0.3]], upright), "line middle");
  assert.equal(place([[1, 3, 0.3]], upright), "end top");
});

test("in a photo ink and paper are told apart, by the model's image", () => {
  const values = new Float32Array(28 * 28);
  for (let row = 6; row < 22; row++) values[28 * row + 18] = 0.9; // in the patches of column 4
  const placement = { left: 100, top: 40, width: 84, height: 84 };
  const place = (row, col) => {
    const { places } = whereOf(mapOf([[row, col, 0.3]]), [7, 7], placement, [], { values, rows: 28, cols: 28 });
    return places.map(({ kind, position }) => `${kind} ${position}`).join();
  };
  assert.equal(place(1, 4), "ink top");
  assert.equal(place(3, 4), "ink middle");
  assert.equal(place(3, 5), "gap right");
  assert.equal(place(6, 1), "gap bottomLeft");
});
