// Shared by several tests of the API.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { afterEach } from "node:test";
import { Vit } from "../../dist/vit.js";
import { modelPath } from "./golden.mjs";

/** The builds that this engine can run. In some engines relaxed SIMD computes wrong results; the others run in all. */
export const variants = ["simd128", "scalar"];
await Vit.load(modelPath("per_head"), { variant: "relaxed" }).then(
  (vit) => void (variants.unshift("relaxed"), vit.dispose()),
  (error) => assert.equal(error.code, "unsupported", error),
);

let copies = 0;
/** A new copy of the package, which has loaded nothing yet. */
export const fresh = () => import(`../../dist/vit.js?copy=${copies++}`);

/** The wasm module of a build. */
export const wasmPath = (build) => new URL(`../../dist/vit.${build}.wasm`, import.meta.url);
export const wasmBytes = (build) => readFileSync(wasmPath(build));

/** The ways to run in this engine: each build, and a worker of the build that `auto` does not choose. */
export const ways = [...variants.map((variant) => ({ variant, worker: false })), { variant: "scalar", worker: true }];

const loaded = [];
afterEach(() => loaded.splice(0).forEach((vit) => vit.dispose()));

/** Vit.load, but the model is disposed after the test. */
export async function load(source, options) {
  loaded.push(await Vit.load(source, options));
  return loaded.at(-1);
}

/** Asserts that `work` rejects with a VitError of this code, whose message matches. */
export async function rejects(work, code, message) {
  const error = await Promise.resolve()
    .then(work)
    .then(() => assert.fail(`expected a VitError ${code}, got no error`), (thrown) => thrown);
  assert.equal(error.name, "VitError", String(error?.stack ?? error)); // by name, because copies of the package have classes of their own
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
}

/** Runs `work` while `object[name]` is `value`. */
export async function during(object, name, value, work) {
  const before = Object.getOwnPropertyDescriptor(object, name);
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
  try {
    return await work();
  } finally {
    if (before) Object.defineProperty(object, name, before);
    else delete object[name];
  }
}

/** Collects the workers that `work` starts. `classOf` makes their class from Node's. */
export async function workersOf(work, classOf) {
  const threads = createRequire(import.meta.url)("node:worker_threads");
  const { Worker } = threads;
  const workers = [];
  threads.Worker = class extends classOf(Worker) {
    constructor(...args) {
      super(...args);
      workers.push(this);
    }
  };
  syncBuiltinESMExports();
  try {
    await work(workers);
  } finally {
    threads.Worker = Worker;
    syncBuiltinESMExports();
  }
}

/** Collects the exports of every wasm instance that `work` makes. `change` may change them. */
export async function instancesOf(work, change = (exports) => exports) {
  const instances = [];
  const instantiate = WebAssembly.instantiate;
  const watched = async (...args) => {
    const instance = await instantiate(...args);
    if (!instance.exports?.vitw_run) return instance; // an instance of Node's own
    const exports = change({ ...instance.exports });
    instances.push(exports);
    return { exports };
  };
  const result = await during(WebAssembly, "instantiate", watched, work);
  return [instances, result];
}

/** A drawing as RGBA bytes: dark ink where `ink(x, y)`, on white. */
export function drawing(width, height, ink) {
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++)
      if (ink(x, y)) data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
  }
  return { data, width, height };
}

/** The digit 1: a slanted stroke. */
export const stroke = drawing(120, 120, (x, y) => y > 15 && y < 105 && Math.abs(x - 75 + y / 4) < 6);
