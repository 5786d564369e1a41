// Threads: several give the same answers; where only one can run, a warning says why.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { promisify } from "node:util";
import { golden, modelBytes, modelPath, names } from "./golden.mjs";
import { during, load, rejects, variants, wasmBytes, workersOf as startedBy } from "./support.mjs";

const name = "per_head";
const weights = modelBytes(name);
const [{ image }] = golden(name);
const cores = availableParallelism();
const skip = cores > 1 ? false : "one core here";
const fast = variants.filter((variant) => variant !== "scalar");

/** Collects the warnings of `work`. */
async function warnings(work) {
  const warned = [];
  await during(console, "warn", (text) => warned.push(text), work);
  return warned;
}

/** Collects the workers that `work` starts. They record the messages `sent` to them. */
function workersOf(work, make = (Worker) => Worker) {
  return startedBy(work, (Worker) => class extends make(Worker) {
    sent = [];
    postMessage(message, transfer) {
      this.sent.push(message);
      super.postMessage(message, transfer);
    }
  });
}

for (const variant of fast) {
  for (const worker of [false, true]) {
    const where = `${variant}${worker ? " in a worker" : ""}`;

    test(`${where}: several threads give one thread's answers to the bit`, { skip }, async () => {
      for (const model of worker ? names.slice(0, 5) : names) {
        const one = await load(modelPath(model), { variant, worker });
        const many = await load(modelPath(model), { variant, worker, threads: 3 });
        assert.equal(one.threads, 1);
        assert.equal(many.threads, Math.min(3, cores));
        assert.equal(many.variant, variant);
        const images = golden(model).map((one) => one.image);
        const batch = Array.from({ length: 67 }, (_, index) => images[index % images.length]);
        for (const inputs of [images.slice(0, 1), images, batch]) {
          const want = await one.classifyAll(inputs, { attention: true });
          const got = await many.classifyAll(inputs, { attention: true });
          for (const [index, { logits, attention }] of got.entries()) {
            assert.deepEqual(logits, want[index].logits, model);
            assert.deepEqual(attention.rollout(), want[index].attention.rollout(), model);
          }
        }
        assert.deepEqual(await many.embed(images[0]), await one.embed(images[0]));
      }
    });
  }
}

test("helper threads take part in a run, because their stacks are used", { skip }, async () => {
  const { Memory } = WebAssembly;
  let memory;
  const watching = new Proxy(Memory, { construct: (_, [limits]) => (memory = new Memory(limits)) });
  await workersOf(async (workers) => {
    const vit = await during(WebAssembly, "Memory", watching, () => load(weights, { threads: 2 }));
    const [index, stack] = workers[0].sent.find(({ method }) => method === "help").args;
    assert.equal(index, 1);
    const used = () => new Uint8Array(memory.buffer, stack - 4096, 4096).some((byte) => byte > 0);
    const end = performance.now() + 20_000;
    while (!used() && performance.now() < end) await vit.classifyAll(Array(64).fill(image));
    assert.ok(used());
  });
});

test("at most as many threads run as there are cores, and one thread needs no helpers", async () => {
  const warned = await warnings(async () => {
    assert.equal((await load(weights, { threads: 1000 })).threads, Math.min(cores, 64));
    assert.equal((await load(weights)).threads, 1);
    await during(globalThis, "SharedArrayBuffer", undefined, async () =>
      assert.equal((await load(weights)).threads, 1),
    );
  });
  assert.deepEqual(warned, []);
});

/** Loads with `threads: 2` and checks that one thread runs and answers, and the warning. */
async function alone(message, options = {}) {
  const want = (await (await load(weights, { variant: options.variant ?? "auto" })).classify(image)).logits;
  const warned = await warnings(async () => {
    const vit = await load(weights, { threads: 2, ...options });
    assert.equal(vit.threads, 1);
    if (!options.wasm) assert.deepEqual((await vit.classify(image)).logits, want);
  });
  assert.equal(warned.length, 1);
  assert.match(warned[0], /^vitrine: one thread in place of 2: /);
  assert.match(warned[0], message);
}

test("a page that is not isolated gets one thread, and a warning says why", { skip }, async () => {
  await during(globalThis, "SharedArrayBuffer", undefined, () => alone(/not cross-origin isolated/));
  await during(globalThis, "crossOriginIsolated", false, () => alone(/Embedder-Policy/));
});

test("the scalar build, and a given module without threads, run one thread", { skip }, async () => {
  await alone(/scalar/, { variant: "scalar" });
  await alone(/the module given/, { wasm: wasmBytes("simd128") });
});

test("an engine that refuses shared memory gives one thread, after a smaller memory was tried", { skip }, async () => {
  const sizes = [];
  const { Memory } = WebAssembly;
  const refusing = (bytes) =>
    new Proxy(Memory, {
      construct(_, [limits]) {
        sizes.push(limits.maximum * 65536);
        if (limits.maximum * 65536 > bytes) throw new RangeError("could not allocate memory");
        return new Memory(limits);
      },
    });
  await during(WebAssembly, "Memory", refusing(0), () => alone(/no shared memory/));
  assert.ok(sizes.length > 1 && sizes.every((size, index) => index === 0 || size < sizes[index - 1]));
  await during(WebAssembly, "Memory", refusing(sizes.at(-1)), async () => {
    const vit = await load(weights, { threads: 2 });
    assert.equal(vit.threads, 2);
    await vit.classify(image);
  });
});

test("the limit of a model's shared memory is little more than the model needs", { skip }, async () => {
  const requests = [];
  const { Memory } = WebAssembly;
  const watching = new Proxy(Memory, { construct: (_, [limits]) => (requests.push(limits), new Memory(limits)) });
  await during(WebAssembly, "Memory", watching, () => load(weights, { threads: 2 }));
  assert.equal(requests.length, 1);
  assert.ok(requests[0].shared && requests[0].maximum * 65536 <= 2 ** 28 + 2 * weights.length + 2 ** 16);
});

test("a build for threads in the option wasm runs with one thread and with several", { skip }, async () => {
  const wasm = wasmBytes("simd128-threads");
  const want = (await (await load(weights, { variant: "simd128" })).classify(image)).logits;
  for (const threads of [1, 2]) {
    const vit = await load(weights, { wasm, threads });
    assert.equal(vit.threads, threads);
    assert.deepEqual((await vit.classify(image)).logits, want);
  }
  await during(globalThis, "SharedArrayBuffer", undefined, () =>
    during(WebAssembly, "Memory", function () { throw new TypeError("no shared memory"); }, () =>
      rejects(() => load(weights, { wasm }), "unsupported", /shared memory/)),
  );
});

test("if a helper does not start, one thread runs", { skip }, async () => {
  const broken = (Worker) =>
    class extends Worker {
      constructor(url, options) {
        super(new URL("data:text/javascript,throw new Error('no helper today')"), options);
      }
    };
  await workersOf(async (workers) => {
    await alone(/no helper today/);
    assert.equal(workers.length, 1);
  }, broken);
});

test("dispose ends the helper threads, and a failed load ends them too", { skip }, async () => {
  for (const worker of [false, true]) {
    await workersOf(async (workers) => {
      const cut = weights.subarray(0, weights.length - 4);
      await rejects(() => load(cut, { worker, threads: 2 }), "bad_tensor", /truncated/);
      const vit = await load(weights, { worker, threads: 2 });
      await vit.classify(image);
      vit.dispose();
      const waiting = setInterval(() => {}, 1000); // idle helpers do not keep the process alive
      for (const one of workers) if (one.threadId !== -1) await once(one, "exit");
      clearInterval(waiting);
      assert.equal(workers.length, 2 * (1 + worker));
    });
  }
});

test("a helper thread that dies while idle is replaced without an error", { skip }, async () => {
  await workersOf(async (workers) => {
    const vit = await load(weights, { threads: 2 });
    const want = (await vit.classify(image)).logits;
    await workers[0].terminate();
    assert.deepEqual((await vit.classify(image)).logits, want);
    assert.equal(workers.length, 2);
  });
});

test("idle helper threads do not keep the process alive", { skip }, async () => {
  for (const worker of [false, true]) {
    const script = `
      import { Vit } from "./dist/vit.js";
      const vit = await Vit.load(${JSON.stringify(modelPath(name))}, { worker: ${worker}, threads: 2 });
      console.log(vit.threads, (await vit.classify(new Float32Array(784))).classes.length);`;
    const options = { cwd: new URL("../..", import.meta.url), timeout: 20_000 };
    const args = ["--input-type=module", "-e", script];
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    assert.equal(stdout.trim(), "2 10");
  }
});
