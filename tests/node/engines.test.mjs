// Engines, runtimes and tools that lack features of newer ones.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { folderOf } from "./folder.mjs";
import { fresh, load, rejects, stroke, wasmBytes } from "./support.mjs";

const digits = fileURLToPath(new URL("../../weights/digits.safetensors", import.meta.url));

test("the API needs only functions of Chrome 91, the first Chrome with SIMD", async () => {
  const program = `
    await new Response("x").text(); // loads code of Node that needs the newer functions
    delete Object.hasOwn; delete URL.canParse; delete globalThis.structuredClone; delete Promise.withResolvers;
    for (const type of [Array, String, Uint8Array, Float32Array]) {
      for (const name of ["at", "toReversed", "toSorted", "with", "findLast", "findLastIndex"]) delete type.prototype[name];
    }
    delete Object.getPrototypeOf(Uint8Array).prototype.at;
    const { Vit } = await import(${JSON.stringify(new URL("../../dist/vit.js", import.meta.url).href)});
    const vit = await Vit.load(${JSON.stringify(digits)}, { variant: "simd128" });
    const drawing = { strokes: [[{ x: 140, y: 40, width: 20 }, { x: 138, y: 240, width: 20 }]], width: 280, height: 280 };
    const { classes, attention } = await vit.classify(drawing, { attention: true });
    console.log(classes[0].label, attention.fromClass().length, (await vit.embed(drawing)).patches.length > 0);
    const bad = await vit.classify(drawing, { topK: 0 }).catch((error) => error.code);
    console.log(bad);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  assert.equal(stdout, "1 49 true\nbad_option\n");
});

test("files are read with all arguments of read(), because Node before 20.12 needs them", async (t) => {
  const handle = await open(digits);
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const { read } = prototype;
  let calls = 0;
  prototype.read = function (...args) {
    calls++;
    return args.length < 4 ? Promise.resolve({ bytesRead: 0 }) : read.apply(this, args);
  };
  t.after(() => (prototype.read = read));
  const { classes } = await (await load(digits)).classify(stroke);
  assert.equal(classes[0].label, "1");
  assert.ok(calls > 10);
});

test("a compiled module runs in an engine that forbids compiling bytes, such as workerd", async (t) => {
  const module = await WebAssembly.compile(wasmBytes("simd128"));
  const { Vit } = await fresh();
  const before = { validate: WebAssembly.validate, compile: WebAssembly.compile, Module: WebAssembly.Module };
  const forbid = () => {
    throw new WebAssembly.CompileError("Wasm code generation disallowed by embedder");
  };
  class Forbidden {
    constructor() {
      forbid();
    }
    static [Symbol.hasInstance] = (value) => value instanceof before.Module;
    static imports = before.Module.imports;
    static exports = before.Module.exports;
  }
  Object.assign(WebAssembly, { validate: forbid, compile: forbid, Module: Forbidden });
  t.after(() => Object.assign(WebAssembly, before));
  for (const weights of [digits, fileURLToPath(new URL("../../weights/digits-int8.safetensors", import.meta.url))]) {
    const vit = await Vit.load(weights, { wasm: module });
    t.after(() => vit.dispose());
    assert.equal((await vit.classify(stroke)).classes[0].label, "1");
    assert.equal(vit.variant, "simd128");
  }
});

test("an error from a worker has its caller's stack frames", async () => {
  const vit = await load(digits, { worker: true });
  const blank = { data: new Uint8Array(64), width: 8, height: 8, channels: 1 };
  const wrong = { weights: digits, config: { norm_eps: -1 } };
  const asLoader = () => load(wrong, { worker: true });
  const asClassifier = () => vit.classify(blank);
  const asManyClassifier = () => vit.classifyAll([blank]);
  const asEmbedder = () => vit.embed(blank);
  const messages = { asLoader: /^VitError: config/, asClassifier: /blank/, asManyClassifier: /blank/, asEmbedder: /blank/ };
  for (const call of [asLoader, asClassifier, asManyClassifier, asEmbedder]) {
    const { stack } = await call().then(() => assert.fail(call.name), (thrown) => thrown);
    assert.match(stack.split("\n")[0], messages[call.name]);
    assert.match(stack, new RegExp(`${call.name} .*engines\\.test\\.mjs`));
  }
  await rejects(() => vit.classify("x"), "bad_image", /./);
});

test("an uncaught error prints its message and its place on one screen", async () => {
  const fails = {
    "no file": `Vit.load("/nowhere.safetensors")`,
    "no module": `Vit.load(digits, { wasm: "/nowhere/", variant: "scalar" })`,
    "a blank drawing": `(await Vit.load(digits, { worker: true })).embed({ data: new Uint8Array(64), width: 8, height: 8, channels: 1 })`,
  };
  for (const [what, call] of Object.entries(fails)) {
    const program = `
      import { Vit } from ${JSON.stringify(new URL("../../dist/vit.js", import.meta.url).href)};
      const digits = ${JSON.stringify(digits)};
      await ${call};`;
    const args = ["--input-type=module", "-e", program];
    const { stderr } = await promisify(execFile)(process.execPath, args).catch((error) => error);
    const lines = stderr.split("\n");
    assert.match(stderr, /^VitError: .*(ENOENT|blank)/m, what);
    assert.match(stderr, /^    at .*\[eval1\]:4/m, what);
    assert.ok(lines.length <= 50, `${what}: ${lines.length} lines`);
    assert.ok(lines.every((line) => line.length <= 400), `${what}: ${stderr}`);
  }
});

test("if a wasm module of the package is missing, the error says which files belong where", async (t) => {
  const copy = folderOf(t, { "package.json": '{"type": "module"}' });
  for (const name of ["vit.js", "worker.js"]) copyFileSync(new URL(`../../dist/${name}`, import.meta.url), join(copy, name));
  const alone = await import(pathToFileURL(join(copy, "vit.js")).href);
  const error = await alone.Vit.load(digits, { variant: "simd128" }).catch((thrown) => thrown);
  assert.equal(error.name, "VitError");
  assert.match(error.message, /ENOENT.*; its files \(vit\.\*\.wasm, worker\.js\) belong beside its code: .*optimizeDeps/);
});
