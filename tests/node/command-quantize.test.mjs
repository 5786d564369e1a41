// The command `vitrine quantize` and the library's `quantize`: the native command's bytes, refusals.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { quantize } from "../../dist/train.js";
import { readSafetensors, writeSafetensors } from "../../web/base/safetensors.mjs";
import { checkpoint, folder, picture, printed, refused, run, variant } from "./command.mjs";
import { modelBytes, modelPath } from "./golden.mjs";
import { load, rejects } from "./support.mjs";

const weights = (name) => fileURLToPath(new URL(`../../weights/${name}.safetensors`, import.meta.url));
const DIGITS = weights("digits"), INT8 = weights("digits-int8");

const native = fileURLToPath(new URL("../../build/native/vit", import.meta.url));
const skipNative = !existsSync(native) && "no build/native/vit here; npm test builds it in the stage native";
const nativeSays = (...args) => execFileSync(native, args, { encoding: "utf8" });

test("the command quantize and the library's quantize make the shipped int8 model of the shipped model, byte for byte", async (t) => {
  const here = folder(t);
  const out = here.at("int8.safetensors");
  const want = readFileSync(new URL("../../weights/digits-int8.safetensors", import.meta.url));
  const result = await run(["quantize", "--out", out], { terminal: true });
  assert.deepEqual([result.code, result.stdout], [0, `${out}: ${want.length} bytes instead of ${readFileSync(DIGITS).length}\n`], result.stderr);
  assert.ok(readFileSync(out).equals(want));
  assert.deepEqual(readdirSync(here.path), ["int8.safetensors"]);
  for (const build of ["scalar", "simd128", "auto"]) assert.ok(want.equals(await quantize(DIGITS, { variant: build })), build);
});

test("the command quantize writes what the native command writes, and its line", { skip: skipNative }, async (t) => {
  const here = folder(t);
  const [ours, theirs] = ["ours", "theirs"].map((name) => here.at(`${name}.safetensors`));
  const names = readdirSync(new URL("../golden/", import.meta.url)).map((name) => name.match(/^(\w+)\.safetensors$/)?.[1]).filter(Boolean);
  assert.ok(names.length > 10);
  for (const name of names) {
    const args = (out) => ["quantize", "--model", modelPath(name), "--out", out];
    const stdout = await printed(args(ours));
    assert.deepEqual(stdout.replace(ours, theirs), nativeSays(...args(theirs)), name);
    assert.ok(readFileSync(ours).equals(readFileSync(theirs)), name);
  }
});

test("the command quantize takes a checkpoint's folder, and its model classifies nearly alike", async (t) => {
  const here = folder(t);
  const out = here.at("small.safetensors");
  const model = checkpoint(here);
  const { code, stdout } = await run(["quantize", "--model", model, "--out", out, "--json"]);
  const { bytes, before } = JSON.parse(stdout);
  assert.deepEqual([code, bytes, before > bytes], [0, readFileSync(out).length, true]);
  const [a, b] = await Promise.all([model, out].map(async (path) => (await (await load(path, { variant })).classify(picture(20, 14, 3))).classes));
  assert.equal(b[0].label, a[0].label);
  b.forEach(({ index, p }) => assert.ok(Math.abs(p - a.find((one) => one.index === index).p) < 0.02));
});

test("the command quantize writes over its own model, keeps its temperature, and takes one without a head", async (t) => {
  const here = folder(t);
  const { config: { labels: _, ...own }, tensors } = readSafetensors(modelBytes("pre_gelu_learned"));
  const config = { ...own, classes: 0, temperature: 0.7, uncertain_below: 0.4 };
  const model = here.write("model.safetensors", writeSafetensors({
    config, tensors: new Map([...tensors].filter(([name]) => !name.startsWith("head."))),
  }));
  await printed(["quantize", "--model", model, "--out", model]);
  const { quantized, ...rest } = readSafetensors(readFileSync(model)).config;
  assert.deepEqual([quantized.startsWith("int8"), rest.temperature, rest.uncertain_below, rest.classes], [true, 0.7, 0.4, 0]);
});

test("quantize refuses what it cannot take, and writes nothing", async (t) => {
  const here = folder(t);
  const out = here.at("never.safetensors");
  for (const [args, code, message] of [
    [[], 2, /--out: expected a name that ends in \.safetensors, got none/],
    [["--out", "a.safetensors", "b"], 2, /operands: expected none, got "b"; see vitrine quantize --help/],
    [["--model", INT8, "--out", out], 1, /expected a model of floats, got one that is int8 already/],
    [["--model", here.at("none"), "--out", out], 1, /ENOENT/],
    [["--model", here.write("text.safetensors", "no model at all"), "--out", out], 1, /expected a safetensors file/],
    [["--out", here.at("no/x.safetensors")], 1, /x\.safetensors: expected a path that can be written, got ENOENT/],
  ]) {
    await refused(["quantize", ...args], code, message);
  }
  assert.deepEqual(readdirSync(here.path), ["text.safetensors"]);
  await rejects(() => quantize(DIGITS, { threads: 2 }), "bad_option", /threads/);
  await rejects(() => quantize(modelBytes("pre_gelu_learned").subarray(0, 100)), "bad_file", /truncated/);
  await rejects(() => quantize(7), "bad_argument", /^source: /);
});
