// Arguments that lie, throw, change while a call waits or are nothing at all. Each is copied by the
// engine's own constructors and counted afterwards. The result is an answer or a VitError.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Attention, Vit } from "../../dist/vit.js";
import { golden, modelBytes, modelPath } from "./golden.mjs";
import { harmless, ODD, refused, REVOKED, SHY, soon, thrower, UNPRINTABLE } from "./hostile.mjs";
import { instancesOf, load, stroke, workersOf } from "./support.mjs";

const name = "per_head";
const weights = modelBytes(name);
const [{ image }] = golden(name);
const digits = new URL("../../weights/digits.safetensors", import.meta.url);
const pad = { width: 64, height: 64 };
const point = { x: 20, y: 20, width: 9 };
const line = [point, { x: 40, y: 40, width: 9 }];

/** Values that are no images, by the reason. */
const NO_IMAGES = {
  "a point with a throwing getter": { strokes: [[{ ...point, get x() { return thrower(); } }]], ...pad },
  "numbers that are objects": { strokes: [[{ ...point, x: { valueOf: () => 3 } }]], ...pad },
  "numbers that are BigInts": { strokes: [[{ ...point, x: 3n }]], ...pad },
  "numbers that are Symbols": { strokes: [[{ ...point, x: Symbol() }]], ...pad },
  "a stroke with a hole": { strokes: [[point, , point]], ...pad },
  "a hole among the strokes": { strokes: [line, , line], ...pad },
  "four thousand million holes": { strokes: [new Array(2 ** 32 - 1)], ...pad },
  "as many strokes": { strokes: new Array(2 ** 32 - 1), ...pad },
  "strokes one level too deep": { strokes: [[line]], ...pad },
  "strokes of a length of their own": { strokes: { length: 1, 0: line }, ...pad },
  "revoked strokes": { strokes: REVOKED, ...pad },
  "shy strokes": { strokes: [SHY], ...pad },
  "a width that is an object": { strokes: [line], width: { valueOf: () => 64 }, height: 64 },
  "a pad too large": { strokes: [line], width: 2 ** 53, height: 1 },
  "fewer bytes than said": { data: new Uint8Array(99), width: 10, height: 10 },
  "more bytes than said": { data: new Uint8Array(101), width: 10, height: 10, channels: 1 },
  "sizes whose product wraps": { data: new Uint8Array(0), width: 65536, height: 65536, channels: 1 },
  "a negative size": { data: new Uint8Array(4), width: -2, height: -2, channels: 1 },
  "a size of text": { data: new Uint8Array(4), width: "2", height: "2", channels: 1 },
  "a length of its own": { data: Object.defineProperty(new Uint8Array(4), "length", { value: 100 }), width: 10, height: 10, channels: 1 },
  "bytes behind a Proxy": { data: new Proxy(new Uint8Array(100), {}), width: 10, height: 10, channels: 1 },
  "something that calls itself bytes": { data: Object.setPrototypeOf({ length: 100 }, Uint8Array.prototype), width: 10, height: 10 },
  "something that calls itself floats": Object.setPrototypeOf({ length: 784 }, Float32Array.prototype),
  "floats behind a Proxy": new Proxy(new Float32Array(784), {}),
  "detached bytes": { data: detached(new Uint8Array(100)), width: 10, height: 10, channels: 1 },
  "detached floats": detached(new Float32Array(784)),
  "floats out of bounds": outOfBounds(),
  "a getter that throws": { get data() { return thrower(); }, width: 1, height: 1 },
  "what calls itself a canvas": { [Symbol.toStringTag]: "HTMLCanvasElement", width: 9, height: 9 },
  "a canvas that throws": { [Symbol.toStringTag]: "HTMLCanvasElement", get width() { return thrower(); } },
  "an image that throws": { [Symbol.toStringTag]: "HTMLImageElement", complete: false, decode: thrower },
  "a video of infinite width": { [Symbol.toStringTag]: "VideoFrame", displayWidth: Infinity, displayHeight: 9 },
  "a blob": new Blob(["x"]),
  "a blob that lies": Object.defineProperty(new Blob(["x"]), "size", { get: thrower }),
};

function detached(array) {
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

function outOfBounds() {
  const buffer = new ArrayBuffer(4 * 784, { maxByteLength: 8 * 784 });
  const array = new Float32Array(buffer, 0, 784);
  buffer.resize(16);
  return array;
}

for (const worker of [false, true]) {
  test(`every call refuses values that are not images, and the model stays usable${worker ? " in a worker" : ""}`, async () => {
    const vit = await load({ weights: digits }, { worker });
    const want = (await vit.classify(stroke)).logits;
    const images = [...Object.entries(NO_IMAGES), ...ODD.map((odd, index) => [`odd value ${index}`, odd])];
    for (const [what, hostile] of images) {
      const codes = ["bad_image", "unsupported", "no_memory"];
      await refused(what, () => vit.classify(hostile), codes, /^image: /);
      await refused(what, () => vit.embed(hostile), codes);
      await refused(what, () => vit.classifyAll([stroke, hostile]), codes, /^image 1: /);
    }
    assert.deepEqual((await vit.classify(stroke)).logits, want);
  });
}

test("a stroke with a hole does not read old contents of the heap", async () => {
  const vit = await load(digits);
  await vit.classify({ strokes: [Array(500).fill({ x: 9, y: 9, width: 5 })], ...pad });
  await refused("holes", () => vit.classify({ strokes: [[point, , , , point], line], ...pad }), "bad_image", /undefined/);
  let reads = 0;
  const growing = new Proxy([point], { get: (list, key) => (key === "length" ? ++reads : key in list ? list[key] : point) });
  assert.ok(await vit.classify({ strokes: [growing, line], ...pad }), "a length that changes is asked once a stroke");
});

test("a drawing of few points cannot paint for minutes, and a drawing of many points may be large", async () => {
  const vit = await load(digits);
  const zigzag = (count, side, width) => ({
    strokes: [Array.from({ length: count }, (_, i) => ({ x: (i % 2) * side, y: (i * 13) % side, width }))], width: side, height: side,
  });
  await soon("wide strokes", async () => {
    for (const hostile of [zigzag(3, 16384, 1e6), zigzag(100, 4096, 3e38), zigzag(5000, 2048, 5000)]) {
      await refused("wide strokes", () => vit.classify(hostile), "bad_image", /pen thinner/);
    }
  });
  const spiral = Array.from({ length: 5000 }, (_, i) => ({ x: 1000 + i / 6 * Math.cos(i / 50), y: 1000 + i / 6 * Math.sin(i / 50), width: 40 }));
  assert.ok(await vit.classify({ strokes: [spiral], width: 2000, height: 2000 }));
});

test("arrays with a species, length or iterator of their own are read as the engine knows them", async () => {
  const vit = await load(name === "per_head" ? modelPath(name) : name);
  const want = (await vit.classify(image)).logits;
  class Floats extends Float32Array {
    static get [Symbol.species]() { return thrower(); }
    get length() { return 3; }
    slice() { return new Float32Array(5); }
    [Symbol.iterator]() { return thrower(); }
  }
  const mine = new Floats(784);
  Float32Array.prototype.set.call(mine, image);
  assert.deepEqual((await vit.classify(mine)).logits, want);
  assert.deepEqual((await vit.classify({ data: mine, width: 28, height: 28 })).logits, want);
  const shared = new Float32Array(new SharedArrayBuffer(4 * 784));
  shared.set(image);
  assert.deepEqual((await vit.classify(shared)).logits, want);
  const growing = new Float32Array(new ArrayBuffer(4 * 784, { maxByteLength: 8 * 784 }));
  growing.set(image);
  assert.deepEqual((await vit.classify(growing)).logits, want);
  class Bytes extends Uint8Array {
    static get [Symbol.species]() { return thrower(); }
    get byteLength() { return 8; }
    get length() { return 8; }
    slice() { return thrower(); }
    subarray() { return thrower(); }
  }
  const bytes = new Bytes(weights.length);
  Uint8Array.prototype.set.call(bytes, weights);
  assert.deepEqual((await (await load(bytes)).classify(image)).logits, want);
});

test("each member of an image is read once, so that it cannot change between check and use", async () => {
  const vit = await load(digits);
  const counted = (object) => {
    const reads = {};
    const proxy = new Proxy(object, { get: (target, key) => ((reads[key] = (reads[key] ?? 0) + 1), target[key]) });
    return [proxy, reads];
  };
  for (const object of [{ ...stroke, channels: 4 }, { strokes: [line], ...pad }]) {
    const [proxy, reads] = counted(object);
    await vit.classify(proxy);
    for (const key of Object.keys(object)) assert.equal(reads[key], 1, key);
  }
  const [options, reads] = counted({ topK: 3, attention: [0] });
  await vit.classify(stroke, options);
  assert.deepEqual([reads.topK, reads.attention], [1, 1]);
  let indexReads = 0;
  const layers = new Proxy([0], { get: (list, key) => (key === "0" ? (indexReads++ ? 999 : 0) : list[key]) });
  const { attention } = await vit.classify(stroke, { attention: layers });
  assert.deepEqual(attention.kept, [0]);
});

test("an image may change, shrink or be detached while its call waits", async () => {
  for (const worker of [false, true]) {
    const vit = await load(modelPath(name), { worker });
    const want = (await vit.classify(image)).logits;
    const buffer = new ArrayBuffer(4 * 784, { maxByteLength: 8 * 784 });
    new Float32Array(buffer).set(image);
    const first = vit.classify(new Float32Array(buffer));
    buffer.resize(4);
    assert.deepEqual((await first).logits, want);
    const mine = image.slice();
    const second = vit.classify(mine);
    assert.equal(mine.length, image.length, "the array is still the caller's");
    structuredClone(mine.buffer, { transfer: [mine.buffer] });
    assert.deepEqual((await second).logits, want);
    const list = Array.from({ length: 65 }, () => image.slice());
    const all = vit.classifyAll(list);
    for (const one of list) structuredClone(one.buffer, { transfer: [one.buffer] });
    await refused("one of a later batch", () => all, "bad_image", /^image 64: .*got 0/);
  }
});

test("the arguments of load may change while it waits", async () => {
  const config = { ...(await load(weights)).config };
  const prepare = { kind: "digit" };
  const file = new File([weights], "model.safetensors");
  const list = [file];
  const loading = load({ weights: list, config, prepare });
  list[0] = null;
  list.length = 0;
  config.depth = "none";
  prepare.kind = "none";
  const vit = await loading;
  assert.equal(vit.config.prepare.kind, "digit");
  const wasm = new Uint8Array((await import("./support.mjs")).wasmBytes("scalar"));
  const other = load(weights, { wasm });
  wasm.fill(0);
  assert.equal((await other).variant, "scalar");
});

test("every call refuses options that lie, throw or are not an object", async () => {
  const vit = await load(modelPath(name));
  const calls = {
    load: (options) => Vit.load(weights, options),
    classify: (options) => vit.classify(image, options),
    classifyAll: (options) => vit.classifyAll([image], options),
    embed: (options) => vit.embed(image, options),
  };
  const shapes = [...UNPRINTABLE, 5, "x", 1n, true, () => {}, null];
  const names = ["signal", "threads", "variant", "topK", "attention", "onProgress"];
  for (const [call, run] of Object.entries(calls)) {
    for (const [index, odd] of shapes.entries()) {
      const plain = odd !== null && typeof odd === "object" && Object.getPrototypeOf(Object(odd === SHY || odd === REVOKED ? {} : odd)) === null;
      if (!plain) await refused(`${call} with odd options ${index}`, () => run(odd), "bad_option");
    }
    for (const option of names) {
      const optionNames = { load: ["signal", "threads", "variant", "onProgress"], embed: ["signal", "attention"] }[call] ?? ["signal", "topK", "attention"];
      if (!optionNames.includes(option)) continue;
      await refused(`${call}: ${option} throws`, () => run({ get [option]() { return thrower(); } }), "bad_option");
      for (const [index, odd] of ODD.entries()) {
        await harmless(`${call}: ${option} of odd value ${index}`, async () => (await run({ [option]: odd }))?.dispose?.());
      }
    }
  }
  for (const odd of ODD.filter((value) => value != null)) {
    await refused("a signal that is none", () => vit.classify(image, { signal: odd }), "bad_option", /AbortSignal/);
  }
  await refused("a signal by its method alone", () => Vit.load(weights, { signal: { throwIfAborted() {} } }), "bad_option", /AbortSignal/);
});

test("classifyAll refuses images that are not an array or have no end", async () => {
  const vit = await load(modelPath(name));
  for (const [index, odd] of ODD.entries()) {
    await harmless(`odd list ${index}`, async () => assert.deepEqual(await vit.classifyAll(odd), []));
  }
  await refused("holes", () => vit.classifyAll(new Array(2 ** 32 - 1)), "bad_image", /image 0: .*Undefined/);
  await refused("revoked", () => vit.classifyAll(REVOKED), "bad_argument");
});

test("load reads every source, config, prepare and module or refuses it with a VitError", async () => {
  for (const [index, odd] of ODD.entries()) {
    const what = `odd value ${index}`;
    await refused(`${what} as weights`, () => Vit.load(odd));
    await refused(`${what} as weights apart`, () => Vit.load({ weights: odd }));
    await refused(`${what} in a list`, () => Vit.load([odd]), "bad_argument");
    const dispose = (vit) => vit.dispose();
    await harmless(`${what} as config`, () => Vit.load({ weights, config: odd }).then(dispose));
    await harmless(`${what} as prepare`, () => Vit.load({ weights, prepare: odd }).then(dispose));
    await harmless(`${what} as wasm`, () => Vit.load(weights, { wasm: odd }).then(dispose));
  }
  for (const forged of [{ open: () => 5 }, { open: async () => ({ size: 1, body: new Blob(["x"]).stream(), lost: thrower }) }]) {
    await refused("what opens itself", () => Vit.load(forged), "bad_argument", /source: expected/);
    await refused("files that open themselves", () => Vit.load(weights, { wasm: forged }), "bad_option", /got "open"/);
    const wasm = { scalar: forged, simd128: forged, relaxed: forged };
    await refused("a module that opens itself", () => Vit.load(weights, { wasm }), "bad_argument", /source: expected/);
  }
});

test("a prepare or config that JSON cannot hold is refused, without an unhandled rejection", async () => {
  const cycle = {};
  cycle.cycle = cycle;
  const deep = (levels) => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  const unserializable = {
    "a cycle": cycle,
    "a BigInt": { kind: 1n },
    "a toJSON that throws": { toJSON: thrower },
    "a toJSON that says nothing": { toJSON: () => undefined },
    "a getter that throws": { get kind() { return thrower(); } },
    "many levels": { kind: "digit", deep: deep(500) },
  };
  for (const [what, value] of Object.entries(unserializable)) {
    await refused(`${what} as prepare`, () => Vit.load({ weights, prepare: value }), "bad_config");
    await refused(`${what} as config`, () => Vit.load({ weights, config: value }), "bad_config");
    // Of several failures at once only one is told, and the others are handled too.
    const failing = "http://127.0.0.1:9/none";
    for (const worker of [false, true]) {
      await refused("both", () => Vit.load({ weights: failing, config: failing, prepare: value }, { worker, threads: 2, wasm: failing }));
    }
  }
  await refused("a function as prepare", () => Vit.load({ weights, prepare: () => {} }), "bad_config", /got Function/);
  const failing = "http://127.0.0.1:9/none";
  await refused("all at once", () => Vit.load({ weights: failing, config: failing }, { worker: true, threads: 3, wasm: failing }), "network");
});

test("an Attention refuses wrong arguments with a VitError", async () => {
  const vit = await load(modelPath(name));
  const { attention } = await vit.classify(image, { attention: true });
  for (const [index, odd] of ODD.entries()) {
    const what = `odd value ${index}`;
    const calls = [
      () => attention.at(odd, 0), () => attention.at(0, odd), () => attention.fromClass(odd), () => attention.fromClass(0, odd),
      () => attention.fromPatch(odd, 0), () => attention.fromPatch(0, odd), () => attention.fromPatch(0, 0, odd),
      () => attention.rollout(odd), () => attention.rollout({ discard: odd }), () => attention.rollout({ fuse: odd }),
    ];
    for (const call of calls) await harmless(what, call);
    for (const call of calls.slice(0, 7).filter(() => odd !== 0)) await refused(what, call, "bad_argument");
  }
  for (const change of [() => attention.kept.push(99), () => (attention.kept[0] = 1e9), () => (attention.grid[0] = 1e9), () => (attention.layers = 1e9), () => (attention.heads = -5), () => (attention.tokens = 1e9)]) {
    assert.throws(change, TypeError);
  }
  assert.ok(attention instanceof Attention);
  await refused("kept none", async () => (await vit.classify(image, { attention: [] })).attention?.fromClass() ?? attention.at(-1, 0));
});

test("an abort or a dispose at any moment gives only its own error", async () => {
  const reason = { why: "enough" };
  for (let delay = 0; delay < 12; delay++) {
    for (const options of [{}, { worker: true }, { threads: 2 }, { worker: true, threads: 3 }]) {
      const controller = new AbortController();
      const loading = Vit.load(modelPath(name), { ...options, signal: controller.signal });
      setTimeout(() => controller.abort(reason), delay);
      const vit = await loading.catch((error) => assert.equal(error, reason));
      if (!vit) continue;
      const calls = [vit.classify(image), vit.classifyAll(Array(9).fill(image)), vit.embed(image, { attention: true })];
      setTimeout(() => vit.dispose(), delay / 4);
      for (const { status, reason: error } of await Promise.allSettled(calls)) {
        if (status === "rejected") assert.equal(error.code, "disposed", error.stack);
      }
    }
  }
});

test("a worker that dies at any moment gives a VitError and leaves no thread behind", () =>
  workersOf(async (workers) => {
    for (let delay = 0; delay < 10; delay++) {
      const loading = Vit.load(modelPath(name), { worker: true, threads: 2 });
      setTimeout(() => workers.forEach((one) => one.terminate()), delay * 3);
      await harmless(`killed after ${delay * 3} ms`, async () => {
        const vit = await loading;
        await harmless("a call", () => vit.classify(image));
        vit.dispose();
      });
    }
    for (const one of workers) one.terminate();
  }, (Worker) => Worker));

test("the module checks its memory reservations too, and their products do not wrap", async () => {
  const [[core], vit] = await instancesOf(() => load({ weights, prepare: { kind: "digit" } }));
  await vit.classify(image);
  assert.equal(core.vitw_ink(2 ** 16, 2 ** 16), 0);
  assert.equal(core.vitw_ink(2 ** 31, 2), 0);
  assert.equal(core.vitw_points(Math.ceil(2 ** 32 / 12) + 1), 0);
  assert.notEqual(core.vitw_reserve(2 ** 31, 2, 0), 0);
  assert.notEqual(core.vitw_run(1, 0, 0), 0, "no room is left of before");
  assert.equal(core.vitw_reserve(1, 0, 0), 0);
  assert.notEqual(core.vitw_run(2, 0, 0), 0);
  assert.notEqual(core.vitw_run(1, 0, 1), 0);
  assert.ok(core.vitw_pixels(100));
  assert.notEqual(core.vitw_prepare(1, 10, 10, 1), 0, "an image that was not reserved");
  assert.notEqual(core.vitw_prepare(0, 2 ** 16, 2 ** 16, 1), 0);
  assert.notEqual(core.vitw_prepare(0, 30000, 30000, 1), 0);
  assert.ok(core.vitw_ink(10, 10));
  assert.ok(core.vitw_points(2));
  assert.notEqual(core.vitw_stroke(10, 10, 1e6), 0);
  assert.notEqual(core.vitw_stroke(30000, 30000, 2), 0);
  assert.equal(core.vitw_stroke(10, 10, 2), 0);
  assert.notEqual(core.vitw_feed(0, 8), 0, "a file that has ended");
  assert.notEqual(core.vitw_end(), 0);
  assert.ok((await vit.classify(image)).logits.every(Number.isFinite));
});

test("pieces on their way to a worker do no harm when the file is refused", async () => {
  for (const worker of [false, true]) {
    const bytes = new Uint8Array(9e6); // bytes without a header, in hundreds of pieces
    bytes.set([1, 2, 3]);
    await soon("refusal", () => refused("zeros", () => Vit.load(bytes, { worker }), "bad_file"));
  }
});
