// The two editions of the module: the small one runs ordinary models, the full one all (src/edition.h).
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { modelPath, names } from "./golden.mjs";
import { during, fresh, load, rejects, wasmBytes, wasmPath } from "./support.mjs";

const variant = "simd128"; // every engine has it
const editions = ["simd128", "full.simd128", "simd128-threads", "full.simd128-threads"];
const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const folder = at("weights/");
const shipped = readdirSync(folder).filter((name) => name.endsWith(".safetensors") && name !== "numbers.safetensors").map((name) => folder + name);

/** The modules that a new copy of the package compiles to load a model, in order. */
async function compiledFor(source, options = {}) {
  const { Vit } = await fresh();
  const { compile } = WebAssembly;
  const compiled = [];
  const record = (bytes) => {
    compiled.push(editions.find((name) => wasmBytes(name).equals(Buffer.from(bytes))));
    return compile(bytes);
  };
  await during(WebAssembly, "compile", record, async () => (await Vit.load(source, { variant, ...options })).dispose());
  return compiled;
}

/** The bits of what a model computes of an image of bytes or of values. */
async function bits(source, wasm) {
  const vit = await load(source, { wasm, variant });
  const { image_size, channels, pool, classes } = vit.config;
  const values = Float32Array.from({ length: channels * image_size[0] * image_size[1] }, (_, i) => Math.sin(i * i));
  const relevance = classes > 0 && (pool === "class" || pool === "mean");
  const { logits, attention, trace } = await vit.classify(values, { attention: true, trace: true, ...(relevance && { relevance: true }) });
  const arrays = [logits, trace.tokens("embedded"), trace.scores(0, 0), attention.at(0, 0), ...(relevance ? [attention.relevance(logits.indexOf(Math.max(...logits.subarray(0, classes))))] : [])];
  return Buffer.concat(arrays.map((each) => Buffer.from(each.buffer, each.byteOffset, each.byteLength)));
}

test("every shipped model that classifies runs by the small edition, with the full one's bits", async () => {
  assert.ok(shipped.length >= 4);
  for (const path of shipped) {
    assert.deepEqual(await compiledFor(path), ["simd128"], path);
    assert.ok((await bits(path, wasmPath("simd128"))).equals(await bits(path, wasmPath("full.simd128"))), path);
  }
});

test("each golden model runs by the small edition with the full one's bits, or loads the full one", async () => {
  const small = [];
  for (const name of names) {
    const path = modelPath(name);
    const result = await load(path, { wasm: wasmPath("simd128"), variant }).catch((error) => error);
    const refused = result instanceof Error;
    if (refused) assert.match(result.message, /^config: \w+: this model needs the full edition/, name);
    else small.push(name);
    assert.deepEqual(await compiledFor(path), refused ? ["simd128", "full.simd128"] : ["simd128"], name);
    if (!refused) assert.ok((await bits(path, wasmPath("simd128"))).equals(await bits(path, wasmPath("full.simd128"))), name);
  }
  for (const name of ["pre_gelu_learned", "distillation", "per_head", "stem", "positions_enlarged"]) assert.ok(small.includes(name), name);
  for (const name of ["rotary", "relative", "attention_pool", "gated", "quick_none_mean"]) assert.ok(!small.includes(name), name);
});

test("a worker and threads run the full edition, too", async () => {
  const source = modelPath("rotary");
  assert.deepEqual(await compiledFor(source, { worker: true }), ["simd128", "full.simd128"]);
  assert.deepEqual(await compiledFor(source, { threads: 2 }), ["simd128-threads", "full.simd128-threads"]);
  for (const [name, config] of [["yolos/own"], ["families/t2t_vit", { heads: 2 }]]) {
    const weights = at(`tests/golden/${name}.safetensors`);
    assert.deepEqual(await compiledFor(config ? { weights, config } : weights), ["simd128", "full.simd128"], name);
  }
});

test("a given module that is too small is refused with the name of the one to give", async () => {
  const source = modelPath("rotary");
  const attempt = (wasm) => () => load(source, { wasm, variant });
  for (const wasm of [wasmPath("simd128"), { simd128: wasmPath("simd128") }]) {
    await rejects(attempt(wasm), "bad_config", /^config: \w+: this model needs the full edition.*vit\.full\.\*\.wasm.*small/);
  }
  for (const wasm of [wasmPath("full.simd128"), { simd128: wasmPath("full.simd128") }, { simd128: wasmPath("simd128"), "full.simd128": wasmPath("full.simd128") }, at("dist/")]) {
    await attempt(wasm)();
  }
  await load(modelPath("pre_gelu_learned"), { wasm: { "full.simd128": wasmPath("full.simd128") }, variant });
});
