// "Teach it your own signs": what a lesson brings and costs, on one writer's drawings.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { findStrokes } from "../../web/scripts/data.mjs";
import { digits, signsOf, teach } from "../../weights/tools/teach.mjs";

const strokes = findStrokes(), validation = digits("validation");
const skip = strokes && validation ? false : "neither MNIST nor pen drawings here";
const rows = skip ? [] : gunzipSync(readFileSync(strokes)).toString().trim().split("\n").map((line) => JSON.parse(line));
const WRITER = 5; // no model was trained on these drawings

test("the signs are turned digits where a file has only digits, and other labels where it has any", { skip }, () => {
  const { taught, asked } = signsOf(rows, WRITER, [..."0123456789"]);
  const names = ["turned 2", "turned 3", "turned 4", "turned 5", "turned 7"];
  assert.deepEqual([...new Set(taught.map(({ label }) => label))], names);
  for (const name of names) assert.equal(taught.filter(({ label }) => label === name).length, 8);
  const seen = new Set(taught.map(({ strokes }) => JSON.stringify(strokes)));
  assert.ok(asked.length >= 50 && asked.every(({ strokes }) => !seen.has(JSON.stringify(strokes))));
  const letters = rows.slice(0, 20).map((row, index) => ({ ...row, writer: 1, label: "ab"[index % 2] }));
  assert.deepEqual([...new Set(signsOf(letters, 1, [..."0123456789"]).taught.map(({ label }) => label))], ["a", "b"]);
});

for (const model of ["digits", "digits-plain"]) {
  test(`${model}: five signs by eight examples each are read, and at most one digit in 200 is lost`, { skip }, async () => {
    const weights = new Uint8Array(readFileSync(new URL(`../../weights/${model}.safetensors`, import.meta.url)));
    const images = validation.slice(0, 400);
    const { signs, before, after } = await teach(weights, signsOf(rows, WRITER, [..."0123456789"]), images, { variant: "simd128" });
    assert.ok(signs >= 0.95, `${signs} of the signs`);
    assert.ok(before - after <= 0.005, `${before} of the digits before, ${after} after`);
  });
}
