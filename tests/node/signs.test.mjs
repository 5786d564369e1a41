// Doubt about what is no digit: the shipped model on twenty signs by ten hands, and the drawings that it learnt from.
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawSigns } from "../../weights/tools/draw-signs.mjs";
import { SIGNS } from "../../weights/tools/shapes.mjs";
import { uncertainSigns } from "../../weights/tools/signs.mjs";
import { load } from "./support.mjs";

test("of twenty signs by ten hands, 19 in 20 are uncertain, and each smiley, star, house, heart and arrow", async () => {
  const vit = await load(new URL("../../weights/digits.safetensors", import.meta.url));
  const all = await uncertainSigns(vit);
  vit.dispose();
  assert.deepEqual([SIGNS.length, all.length], [20, 20]);
  const counts = Object.fromEntries(all.map(({ sign, uncertain }) => [sign, uncertain]));
  for (const sign of ["smiley", "star", "house", "heart", "arrow"]) assert.equal(counts[sign], 10, sign);
  assert.ok(all.reduce((sum, { uncertain }) => sum + uncertain, 0) >= 0.95 * 200, JSON.stringify(counts));
});

test("drawn signs are the same for the same seed, differ from hand to hand, and are near the square that they fill", () => {
  const all = drawSigns(3, 2000);
  assert.deepEqual(drawSigns(3, 2000), all);
  assert.notDeepEqual(drawSigns(3, 2000, 6), all);
  assert.equal(new Set(all.map(({ strokes }) => JSON.stringify(strokes))).size, all.length);
  for (const { label, writer, strokes } of all) {
    assert.ok(label === null && writer >= 2000 && writer < 2003);
    assert.ok(strokes.length > 0 && strokes.every((points) => points.length > 1));
    const reach = Math.max(...strokes.flat(2).map(Math.abs));
    assert.ok(reach > 0.5 && reach < 2, String(reach));
  }
});
