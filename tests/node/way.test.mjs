// A drawing as one way of the pen, cut anywhere: an example that writes itself, and the strip of moments.
import assert from "node:assert/strict";
import { test } from "node:test";
import { importTypescript } from "../../web/scripts/typescript.mjs";

const { cut, wayOf } = await importTypescript("web/demo/way.ts");
const { PEN } = await importTypescript("web/demo/ink.ts");

const stroke = (...points) => points.map(([x, y, width = 10]) => ({ x, y, width }));
const DRAWING = [stroke([0, 0], [30, 40], [30, 140]), stroke([200, 10]), stroke([50, 50], [110, 50, 20])];

test("the way is the strokes' length and a pen's width for each lift", () => {
  assert.equal(wayOf(DRAWING).length, 50 + 100 + 2 * PEN + 60);
  assert.equal(wayOf([]).length, 0);
});

test("cut at its end a drawing is whole, and earlier it ends between two points of its own", () => {
  const way = wayOf(DRAWING);
  assert.deepEqual(cut(way, way.length), DRAWING);
  assert.deepEqual(cut(way, 25), [stroke([0, 0], [15, 20])]);
  assert.deepEqual(cut(way, 100), [stroke([0, 0], [30, 40], [30, 90])]);
  assert.deepEqual(cut(way, 150 + PEN / 2), DRAWING.slice(0, 1), "the pen is in the air");
  assert.deepEqual(cut(way, 150 + PEN), DRAWING.slice(0, 2), "a dot is there at once");
  assert.deepEqual(cut(way, way.length - 30).at(-1), stroke([50, 50], [80, 50, 15]), "the width changes with the way");
});
