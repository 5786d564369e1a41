import tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-backend-wasm";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as ort from "onnxruntime-web/wasm";
import { Vit } from "../../dist/vit.js";
import { contest } from "./contest.mjs";
import { heapOf } from "./heap.mjs";
import { randomModel, shapes } from "./models.mjs";
import { named, tables } from "./report.mjs";
import { writeSafetensors } from "../../web/base/safetensors.mjs";
import { onnxFiles, scripts, startUp } from "./start-up.mjs";

ort.env.wasm.numThreads = 1;
await tf.setBackend("wasm");
const engines = { Vit, ort, tf, limits: [] };
const model = randomModel({ ...shapes.digits, depth: 1 });
const plan = { precision: "f32", rows: ["f32", "maps"], rounds: 1, slice: 0, variant: "auto" };
const answer = await contest(engines, model, plan);
const KEYS = ["name", "model", "batch", "threads", "ours_ms", "peer", "peer_ms", "ratio", "gflops"];

test("a contest gives a named row for each pair and batch, with every key of the JSON", () => {
  const versions = { "onnxruntime-web": "1.2.3", "tfjs-backend-wasm": "4.5.6" };
  const rows = named("node", "Node 1", [{ title: "small", ...answer, limit: 50 }], versions);
  const peers = ["onnxruntime-web 1.2.3", "tfjs-backend-wasm 4.5.6", "vitrine without maps"];
  assert.deepEqual(rows.map(({ batch, peer }) => [batch, peer]),
    [1, 64].flatMap((batch) => peers.map((peer) => [batch, peer])));
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  for (const row of rows) {
    assert.deepEqual(KEYS.filter((key) => row[key] === undefined || Number.isNaN(row[key])), []);
    assert.ok(Math.abs(row.ratio / (row.peer_ms / row.ours_ms) - 1) < 0.01);
    assert.ok(Math.abs(row.share_of_limit / (row.gflops / 50) - 1) < 0.01);
  }
  const [{ weights_mb, ours_heap_mb, peer_heap_mb }] = rows;
  assert.ok(0 < weights_mb && weights_mb < ours_heap_mb && ours_heap_mb < peer_heap_mb);
  const text = tables(rows);
  assert.match(text, /^Node 1; limit: 50\.0 GFLOP\/s a core\n\nmodel +what +batch/);
  assert.match(text, /\nsmall +maps f32 +64 .* vitrine without maps +\d/);
  assert.match(text, /weights +MB +our heap MB/);
});

test("a contest compares int8 with the peer's int8 and float32, each near its own float32", async () => {
  const { rows } = await contest(engines, model, { ...plan, precision: "int8", rows: ["int8", "maps"] });
  const peers = ["onnxruntime-web int8", "onnxruntime-web f32", "vitrine without maps"];
  assert.deepEqual(rows.map(({ batch, peer }) => [batch, peer]),
    [1, 64].flatMap((batch) => peers.map((peer) => [batch, peer])));
  const [{ cosine, peer_cosine, weights_mb }] = rows;
  assert.ok(0.999 <= cosine && cosine < 1 && 0.99 <= peer_cosine && peer_cosine < 1);
  assert.ok(weights_mb < answer.rows[0].weights_mb / 2);
});

test("a contest times two threads and one thread for a batch, or notes why not", async () => {
  const { rows, notes } = await contest(engines, model, { ...plan, rows: ["threads"] });
  if (notes.length > 0) return assert.deepEqual([rows, notes], [[], ["no more than 1 thread here"]]);
  assert.deepEqual(rows.map(({ batch, threads, peer }) => [batch, threads, peer]),
    [[64, 2, "vitrine, one thread"]]);
});

test("a contest notes that a model has no tfjs form, and goes on", async () => {
  const config = { ...model.config, activation: "relu" };
  const { rows, notes } = await contest(engines, { ...model, config }, { ...plan, rows: ["f32"] });
  assert.deepEqual(rows.map(({ batch, peer }) => [batch, peer]),
    [[1, "onnxruntime-web"], [64, "onnxruntime-web"]]);
  assert.deepEqual(notes, ["no tfjs form of activation relu, only of gelu"]);
});

test("a contest refuses to compare sides whose answers differ", async () => {
  class Wrong {
    static load = async (...args) => Object.assign(new Wrong(), { vit: await Vit.load(...args) });
    dispose = () => this.vit.dispose();
    classify = async (image) => {
      const result = await this.vit.classify(image);
      result.logits[3] += 0.01;
      return result;
    };
  }
  await assert.rejects(contest({ ...engines, Vit: Wrong }, model, { ...plan, rows: ["f32"] }),
    /logits of onnxruntime-web \(standard\) differ from ours by 0\.0/);
});

test("a start-up runs the scripts of both sides to the same logits", async () => {
  const folder = mkdtempSync(join(tmpdir(), "start-up-"));
  try {
    const files = { "model.safetensors": writeSafetensors(model), ...onnxFiles(model) };
    for (const [file, bytes] of Object.entries(files)) writeFileSync(join(folder, file), bytes);
    const urls = {
      vitrine: new URL("../../dist/vit.js", import.meta.url).href,
      onnx: import.meta.resolve("onnxruntime-web/wasm"),
      model: join(folder, "model.safetensors"),
      folder: `${folder}/`,
      fs: "node:fs/promises",
    };
    const run = (script, options) => scripts[script](options);
    const row = await startUp(model, urls, run, { startUps: 1, variant: "auto" });
    assert.deepEqual(KEYS.slice(2).filter((key) => row[key] === undefined), []);
    const wrong = async (script, options) => {
      const answer = await run(script, options);
      return script === "vitrine" ? answer : { ...answer, logits: answer.logits.map((x) => x + 0.1) };
    };
    await assert.rejects(startUp(model, urls, wrong, { startUps: 1, variant: "auto" }), /logits differ/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("heapOf gives the largest memory that a script or an instance makes", async () => {
  const exporting = Uint8Array.of( // a module of one exported memory of 2 pages
    ...[0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 0, 2, 7, 5, 1, 1, 109, 2, 0],
  );
  const PAGE = 65536;
  const [memory, bytes] = await heapOf(() => new WebAssembly.Memory({ initial: 3 }));
  assert.ok(memory instanceof WebAssembly.Memory);
  assert.equal(bytes(), 3 * PAGE);
  memory.grow(1);
  assert.equal(bytes(), 4 * PAGE);
  const module = new WebAssembly.Module(exporting);
  const instances = [];
  for (const make of [
    async () => instances.push(await WebAssembly.instantiate(exporting)),
    async () => instances.push(await WebAssembly.instantiate(module)),
    () => instances.push(new WebAssembly.Instance(module)),
  ]) {
    const [, size] = await heapOf(make);
    assert.equal(size(), 2 * PAGE);
  }
  const [, none] = await heapOf(() => {});
  assert.equal(none(), 0);
});
