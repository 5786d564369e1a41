// Attention maps that are read late: after other runs, after dispose, or never.
import assert from "node:assert/strict";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Attention } from "../../dist/vit.js";
import { golden, modelPath } from "./golden.mjs";
import { during, instancesOf, load, rejects, stroke, variants, workersOf as startedBy } from "./support.mjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const weights = (name) => new URL(`../../weights/${name}.safetensors`, import.meta.url);
const [f32, int8] = [weights("digits"), weights("digits-int8")];
const noThreads = availableParallelism() > 1 ? false : "one core here";

/** Images of noise, all different. */
const noise = (count) =>
  Array.from({ length: count }, (_, seed) =>
    Float32Array.from({ length: 784 }, (_, at) => Math.sin(at * (seed + 1)) ** 2),
  );
const images = noise(5);
const other = stroke;

/** Every map of every kept layer. */
const all = ({ kept, heads }) =>
  kept.flatMap((layer) => Array.from({ length: heads }, (_, head) => [layer, head]));
const read = (attention) => all(attention).map(([layer, head]) => attention.at(layer, head));

/** A model without a worker, its wasm instance `core`, and a count of its runs. */
async function counted(source, options) {
  const runs = { count: 0 };
  const counting = (exports) => ({ ...exports, vitw_run: (...args) => (runs.count++, exports.vitw_run(...args)) });
  const [instances, vit] = await instancesOf(() => load(source, options), counting);
  return { vit, runs, core: instances.at(-1) };
}

for (const variant of variants) {
  for (const [name, source] of Object.entries({ f32, int8 })) {
    for (const threads of [1, 2]) {
      const skip = threads > 1 && (variant === "scalar" ? "scalar has no threads" : noThreads);
      const where = `${variant}, ${name}, ${threads} thread${threads > 1 ? "s" : ""}`;
      const options = { variant, threads };

      test(`${where}: a later run does not change the maps of a batch`, { skip }, async () => {
        const { vit, runs } = await counted(source, options);
        assert.equal(vit.threads, threads);
        const results = await vit.classifyAll(images, { attention: true });
        const want = results.map(({ attention }) => read(attention));
        assert.equal(want.flat().length, images.length * vit.config.depth * vit.config.heads);
        assert.equal(runs.count, 1, "what is still there is not run again");
        await vit.classify(other, { attention: [2] });
        for (const [index, { attention }] of results.entries()) {
          assert.deepEqual(read(attention), want[index]);
        }
        assert.equal(runs.count, 2 + images.length, "each once");
      });

      test(`${where}: maps that are read late equal a worker's, which are copied at once`, { skip }, async () => {
        const vit = await load(source, options);
        const remote = await load(source, { ...options, worker: true });
        const many = noise(variant === "scalar" || name === "int8" ? 0 : 66); // a batch of 64 and two more
        for (const attention of [true, [1, vit.config.depth - 1]]) {
          const late = [];
          for (const image of images) late.push(await vit.classify(image, { attention }));
          late.push(...(await vit.classifyAll(many, { attention })));
          const want = await remote.classifyAll([...images, ...many], { attention });
          for (const [index, one] of late.entries()) {
            assert.deepEqual(read(one.attention), read(want[index].attention));
            assert.deepEqual(one.logits, want[index].logits);
          }
          if (attention !== true) continue;
          for (const [index, one] of late.entries()) {
            assert.deepEqual(one.attention.rollout(), want[index].attention.rollout());
          }
        }
      });
    }
  }
}

test("a run without maps leaves the last run's maps in the model's memory", async () => {
  const { vit, runs } = await counted(f32);
  const { attention } = await vit.classify(images[0], { attention: true });
  const want = read(attention);
  await vit.classify(images[1]);
  await vit.classifyAll(images);
  await vit.embed(images[2]);
  assert.equal(runs.count, 4);
  assert.deepEqual(read(attention), want);
  assert.equal(runs.count, 4);
});

test("old and new attention maps can be read in any order", async () => {
  const { vit } = await counted(f32);
  const want = [];
  for (const image of images) {
    want.push(read((await vit.classify(image, { attention: true })).attention));
  }
  for (const order of [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 4, 2, 1, 3]]) {
    const results = [];
    for (const image of images) results.push(await vit.classify(image, { attention: true }));
    for (const index of order) {
      const { attention } = results[index];
      assert.deepEqual(attention.at(3, 2), want[index][3 * vit.config.heads + 2]);
      assert.deepEqual(read(attention), want[index]);
    }
  }
});

test("a map that is read twice gives two equal and independent copies", async () => {
  const { vit } = await counted(f32);
  const { attention } = await vit.classify(images[0], { attention: true });
  const want = attention.at(1, 1);
  for (const round of ["on the heap", "overwritten", "made again"]) {
    if (round === "overwritten") await vit.classify(images[1], { attention: true });
    const [one, two] = [attention.at(1, 1), attention.at(1, 1)];
    assert.equal(one.buffer.byteLength, one.byteLength, round);
    one.fill(7);
    assert.deepEqual(two, want, round);
    assert.deepEqual(attention.at(1, 1), want, round);
  }
});

test("a caller's changes of a result or of the options do not change its maps", async () => {
  const vit = await load(f32);
  const layers = [0, vit.config.depth - 1];
  const result = await vit.classify(images[0], { attention: layers });
  const { attention, input } = result;
  const want = read(attention);
  await vit.classify(images[1], { attention: true });
  structuredClone(result.logits, { transfer: [result.logits.buffer] });
  input.fill(0);
  layers.pop();
  assert.deepEqual(read(attention), want);
});

test("maps can be read after dispose, also maps that must be computed again", async () => {
  const vit = await load(f32);
  const [first] = await vit.classifyAll(images, { attention: true });
  const wantFirst = read(first.attention);
  const last = await vit.classify(other, { attention: true });
  const wantLast = read(last.attention);
  vit.dispose();
  assert.deepEqual(read(last.attention), wantLast);
  assert.deepEqual(read(first.attention), wantFirst);
  assert.deepEqual(read(last.attention), wantLast);
  await rejects(() => vit.classify(other), "disposed", /./);
});

const limits = { skip: noThreads, timeout: 60_000 };
test("dispose ends the helper threads, and one thread then computes maps again", limits, () =>
  startedBy(async (workers) => {
    const ask = async (vit) => (await vit.classify(images[0], { attention: true })).attention;
    const want = read(await ask(await load(f32)));
    for (let round = 0; round < 5; round++) {
      const vit = await load(f32, { threads: 2 });
      assert.equal(vit.threads, 2);
      const late = [];
      for (let run = 0; run < 5; run++) late.push(await ask(vit));
      const [helper] = workers.splice(0);
      helper.ref(); // because nobody else waits for the helper
      const home = once(helper, "message"); // the helper answers only now
      vit.dispose();
      assert.deepEqual(read(late[0]), want);
      await home;
      assert.deepEqual(read(late[1]), want);
      await helper.end();
      for (const attention of late) assert.deepEqual(read(attention), want);
    }
  }, (Worker) => class extends Worker {
    terminate() {} // the worker ends late
    end = () => super.terminate();
  }));

test("a disposed model's memory is freed with its last Attention", async () => {
  const gone = async (ref) => {
    for (let round = 0; round < 10 && ref.deref(); round++) {
      await setImmediate();
      collect();
    }
    return ref.deref() === undefined;
  };
  const open = async () => {
    const { vit, core } = await counted(f32);
    const results = [];
    for (const image of images) results.push(await vit.classify(image, { attention: true }));
    vit.dispose();
    return { memory: new WeakRef(core.memory), results };
  };
  const { memory, results } = await open();
  assert.ok(!(await gone(memory)), "maps can still be read");
  const last = results.pop();
  for (const { attention } of results) attention.at(0, 0);
  assert.ok(!(await gone(memory)));
  assert.equal(last.attention.at(0, 0).length, 2500); // computed again and kept
  assert.ok(await gone(memory));
  assert.equal(results[0].attention.rollout().length, 49);
  assert.equal((await open()).results.length, 5); // none of them is read
  assert.ok(await gone((await open()).memory));
});

/** A model whose module traps or has no memory while `ill` is set. */
async function patient() {
  const state = { ill: undefined };
  const change = (exports) => ({
    ...exports,
    vitw_reserve: (...args) => (state.ill === "full" ? 2 : exports.vitw_reserve(...args)),
    vitw_run: (...args) => {
      if (state.ill === "trap") throw new WebAssembly.RuntimeError("unreachable");
      return exports.vitw_run(...args);
    },
  });
  return instancesOf(async () => {
    const vit = await load(f32);
    const old = (await vit.classify(images[0], { attention: true })).attention;
    const want = read(old);
    const last = (await vit.classify(images[1], { attention: true })).attention;
    return { vit, old, want, last, state };
  }, change);
}

test("after a trap, maps in memory can be read and other maps are an internal error", async () => {
  const [, { vit, old, last, state }] = await patient();
  const want = read(last);
  state.ill = "trap";
  await rejects(() => vit.classify(other), "internal", /starts it anew/);
  state.ill = undefined;
  await vit.classify(other);
  assert.deepEqual(read(last), want);
  await rejects(() => old.at(0, 0), "internal", /classify the image again/);
  await rejects(() => old.rollout(), "internal", /classify the image again/);
});

test("a trap while maps are computed again is an internal error, and the next call starts a new module", async () => {
  const [before, { vit, old, state }] = await patient();
  state.ill = "trap";
  await rejects(() => old.at(0, 0), "internal", /unreachable/);
  state.ill = undefined;
  await rejects(() => old.at(0, 0), "internal", /classify the image again/);
  const [after, { logits }] = await instancesOf(() => vit.classify(images[0]));
  assert.deepEqual([before.length, after.length], [1, 1]);
  assert.deepEqual(logits, (await vit.classify(images[0])).logits);
});

test("maps that could not be computed again because memory was short can be read later", async () => {
  const [, { old, want, state }] = await patient();
  state.ill = "full";
  await rejects(() => old.at(0, 0), "no_memory", /^/);
  state.ill = undefined;
  assert.deepEqual(read(old), want);
});

test("only maps that are read are copied, and nothing more", async () => {
  const vit = await load(f32);
  const { depth, heads } = vit.config;
  const Typed = Object.getPrototypeOf(Float32Array.prototype);
  const { slice } = Typed;
  let largest = 0;
  const watched = function (...range) {
    const copy = slice.apply(this, range);
    largest = Math.max(largest, copy.length);
    return copy;
  };
  const arrayBufferBytes = async () => {
    await setImmediate();
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  await during(Typed, "slice", watched, async () => {
    const results = [];
    const before = await arrayBufferBytes();
    for (let index = 0; index < 200; index++) {
      results.push(await vit.classify(images[index % 5], { attention: true }));
    }
    const each = ((await arrayBufferBytes()) - before) / results.length;
    assert.equal(largest, 784);
    assert.ok(each < 2.5 * 784 * 4, `a result holds ${each} bytes, a map alone 10,000`);
    const { attention } = results.at(-1);
    attention.fromClass();
    attention.fromPatch(1, 2);
    assert.equal(largest, 784, "a row of each head");
    attention.at(depth - 1, 3);
    assert.equal(largest, 2500, "one map");
    attention.rollout();
    assert.equal(largest, heads * 2500, "the heads of one layer");
    results[0].attention.at(depth - 1, 3);
    assert.equal(largest, depth * heads * 2500, "made again, all are kept");
  });
});

test("a program can make an Attention from its own values", async () => {
  for (const name of ["pre_gelu_learned", "post_relu_sincos1d_mean"]) {
    const vit = await load(modelPath(name));
    const [{ image, attention: values }] = golden(name);
    const { attention } = await vit.classify(image, { attention: true });
    const { layers, heads, prefix, grid, kept } = attention;
    const same = Float32Array.from(read(attention).flatMap((map) => [...map]));
    assert.equal(same.length, values.length);
    const built = new Attention(same, kept, { layers, heads, prefix, grid });
    assert.deepEqual(read(built), read(attention));
    assert.deepEqual(built.at(1, "mean"), attention.at(1, "mean"));
    assert.deepEqual(built.rollout(), attention.rollout());
    built.at(0, 0).fill(7);
    assert.deepEqual(built.at(0, 0), attention.at(0, 0));
  }
});
