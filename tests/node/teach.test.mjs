// "Teach it your own signs": what a lesson brings and costs, on one writer's drawings.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { teach } from "../../dist/train.js";
import { readSafetensors, writeSafetensors } from "../../web/base/safetensors.mjs";
import { findStrokes } from "../../web/scripts/data.mjs";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { digits, lesson, rightBy, signByThree, signsOf } from "../../weights/tools/teach.mjs";
import { full } from "./full.mjs";

const strokes = findStrokes(), validation = digits("validation");
const skip = strokes && validation ? false : "neither MNIST nor pen drawings here";
const rows = skip ? [] : gunzipSync(readFileSync(strokes)).toString().trim().split("\n").map((line) => JSON.parse(line));
const WRITER = 5; // no model was trained on these drawings

test("the signs are turned digits where a file has only digits, and other labels where it has any", { skip }, () => {
  const { examples, testDrawings } = signsOf(rows, WRITER, [..."0123456789"]);
  const names = ["turned 2", "turned 3", "turned 4", "turned 5", "turned 7"];
  assert.deepEqual([...new Set(examples.map(({ label }) => label))], names);
  for (const name of names) assert.equal(examples.filter(({ label }) => label === name).length, 8);
  const exampleStrokes = new Set(examples.map(({ strokes }) => JSON.stringify(strokes)));
  assert.ok(testDrawings.length >= 50 && testDrawings.every(({ strokes }) => !exampleStrokes.has(JSON.stringify(strokes))));
  const letters = rows.slice(0, 20).map((row, index) => ({ ...row, writer: 1, label: "ab"[index % 2] }));
  assert.deepEqual([...new Set(signsOf(letters, 1, [..."0123456789"]).examples.map(({ label }) => label))], ["a", "b"]);
});

const bytesOf = (model) => new Uint8Array(readFileSync(new URL(`../../weights/${model}.safetensors`, import.meta.url)));
const images = validation?.slice(0, full ? 400 : 200) ?? [];
const variant = "simd128";

for (const model of ["digits", "digits-stem"]) {
  const skipLong = skip || (!full && "npm run test:full runs it");
  const weights = bytesOf(model), rightBefore = () => rightBy(weights, images, { variant });

  test(`${model}: five signs by eight examples each are read, and at most one digit in 200 is lost`, { skip: skipLong }, async () => {
    const before = await rightBefore();
    const { examples, testDrawings } = signsOf(rows, WRITER, [..."0123456789"]);
    const withImage = ({ label, strokes }) => ({ label, image: { strokes, width: 280, height: 280 } });
    const { signs, after } = await lesson(weights, { examples: examples.map(withImage), testDrawings: testDrawings.map(withImage) }, images, { variant });
    assert.ok(signs >= 0.95, `${signs} of the signs`);
    assert.ok(before - after < 0.0051, `${before} of the digits before, ${after} after`);
  });

  test(`${model}: after three stars, later stars are read, other things are not known, and the digits stay`, { skip: model === "digits" ? skip : skipLong }, async () => {
    const before = await rightBefore();
    const { signs, doubted, unknown, after } = await lesson(weights, signByThree("star"), images, { variant });
    assert.ok(signs >= 0.95 && doubted <= 0.05, `${signs} of the stars, ${doubted} in doubt`);
    assert.ok(unknown >= 0.9, `${unknown} of other things`);
    assert.ok(before - after < 0.0051, `${before} of the digits before, ${after} after`);
  });
}

test("the taught weights lie between the old and the trained ones, but for a new class's rows of the head", async () => {
  const { interpolate } = await importTypescript("web/train/lesson.ts");
  const file = (value) => writeSafetensors({ config: {}, tensors: new Map([
    ["blocks.0.norm1.weight", { shape: [2], data: Float32Array.of(value, -value) }],
    ["head.weight", { shape: [3, 2], data: new Float32Array(6).fill(value) }],
    ["head.bias", { shape: [3], data: new Float32Array(3).fill(value) }],
  ]) });
  const after = file(2);
  interpolate(after, file(1), { ownClasses: 2 });
  const { tensors } = readSafetensors(after), between = Math.fround(1.8);
  assert.deepEqual([...tensors.get("blocks.0.norm1.weight").data], [between, -between]);
  assert.deepEqual([...tensors.get("head.weight").data], [between, between, between, between, 2, 2]);
  assert.deepEqual([...tensors.get("head.bias").data], [between, between, 2]);
});

test("examples that are none are refused, and a signal stops a lesson", async () => {
  const weights = bytesOf("digits");
  for (const [examples, words] of [[[], /expected an array of \{ label, image \}, got/], [[{ image: 1 }], /at 0$/], ["star", /got star/]]) {
    await assert.rejects(teach(weights, examples), ({ code, message }) => code === "bad_argument" && words.test(message));
  }
  const stop = new AbortController(), reason = new Error("enough");
  const onStep = () => stop.abort(reason);
  await assert.rejects(teach(weights, signByThree("heart").examples, { signal: stop.signal, onStep }), reason);
});
