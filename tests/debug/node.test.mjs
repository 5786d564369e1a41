// In a debug build a trap names C's functions and lines: in Node, and in its workers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, test } from "node:test";
import "./ill.mjs"; // before the package is loaded
import { isChain, isTrapOfImages, placesIn } from "./places.mjs";

const { Vit } = await import("../../build/debug/dist/vit.js");
const digits = new URL("../../weights/digits.safetensors", import.meta.url);
const modules = new URL("../../build/debug/dist/", import.meta.url);
const image = { data: new Uint8Array(28 * 28).fill(255).fill(0, 200, 400), width: 28, height: 28, channels: 1 };

const said = [];
const { error } = console;
console.error = (thrown) => void said.push(thrown.stack);
afterEach(() => {
  globalThis.ill = undefined;
  said.length = 0;
});

/** The error of a run that reads or writes its `word` beyond the heap. */
async function trap(word, options, source = digits) {
  globalThis.ill = word;
  const vit = await Vit.load(source, options);
  try {
    const thrown = await vit.classify(image).then(() => assert.fail("it did not trap"), (thrown) => thrown);
    assert.equal(thrown.code, "internal", String(thrown));
    return thrown;
  } finally {
    vit.dispose();
  }
}

test("a trap names C's functions and lines in the error and on the console", async () => {
  isTrapOfImages((await trap("images", { variant: "simd128" })).message);
  assert.equal(said.length, 1);
  isTrapOfImages(said[0]);
});

test("a trap in a stage names the functions that are inlined there, too", async () => {
  const places = placesIn((await trap("logits", { variant: "simd128" })).message);
  const outer = places.slice(-5); // kernels inside of it may be macros
  assert.deepEqual(outer.map(({ name }) => name), ["matmul", "logits_forward", "run_some", "vit_run", "vitw_run"]);
  isChain(outer);
});

test("a trap in a build for threads names C's functions and lines", async () => {
  isTrapOfImages((await trap("images", { variant: "simd128", threads: 2 })).message);
});

test("a trap in a worker names C's functions and lines in the error", async () => {
  const wasm = { simd128: new URL("vit.simd128.wasm", modules), worker: new URL("./ill-worker.mjs", import.meta.url) };
  isTrapOfImages((await trap("images", { variant: "simd128", worker: true, wasm })).message);
});

test("a module without the table of lines traps as a released one does", async () => {
  const bare = new Uint8Array(withoutSection(readFileSync(new URL("vit.simd128.wasm", modules)), "vitrine.lines"));
  const { message } = await trap("images", { wasm: bare });
  assert.match(message, /\(RuntimeError: memory access out of bounds\)/);
  assert.equal(said.length, 0);
});

/** A module whose custom section of this name has another. */
function withoutSection(module, name) {
  const at = module.lastIndexOf(name, undefined, "latin1");
  module.write("x", at, "latin1");
  return module;
}

test("a run that does not trap answers as in a release", async () => {
  const vit = await Vit.load(digits, { variant: "simd128" });
  const { classes } = await vit.classify(image);
  vit.dispose();
  assert.equal(classes.length, 10);
  assert.ok(Math.abs(classes.reduce((sum, { p }) => sum + p, 0) - 1) < 1e-5);
  assert.equal(said.length, 0);
  console.error = error;
});
