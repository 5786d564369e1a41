// The wasm modules with shared memory, without the API: a leader, and helpers in workers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { rounds } from "./full.mjs";

const dist = new URL("../../dist/", import.meta.url);
const digits = readFileSync(new URL("../../weights/digits.safetensors", import.meta.url));
const bytes = (name) => readFileSync(new URL(`vit.${name}.wasm`, dist));

const { SESSION_WORDS } = await importTypescript("web/generated/words.ts");
const PAGE = 2 ** 16;

const helper = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { module, memory, stack, index } = workerData;
  const env = { memory, emscripten_notify_memory_growth() {} };
  const { exports } = new WebAssembly.Instance(module, { env });
  exports.__stack_pointer.value = stack;
  parentPort.postMessage("ready");
  exports.vitw_help(index);
`;

/** A worker that can be several helpers in turn. */
const helpers = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { module, started } = workerData;
  parentPort.on("message", ({ memory, stack }) => {
    const env = { memory, emscripten_notify_memory_growth() {} };
    const { exports } = new WebAssembly.Instance(module, { env });
    exports.__stack_pointer.value = stack;
    Atomics.add(started, 0, 1);
    exports.vitw_help(1);
    parentPort.postMessage("left");
  });
`;

/** A long limit that only a hang can reach. */
const late = (milliseconds) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds, "still there").unref());

/** Opens the digits model in a module, with `pages` of memory at first. */
class Leader {
  constructor(module, pages = 16) {
    const shared = WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
    const memory = shared && new WebAssembly.Memory({ initial: pages, maximum: 4096, shared });
    const env = { memory, emscripten_notify_memory_growth() {} };
    this.module = module;
    this.exports = new WebAssembly.Instance(module, { env }).exports;
    this.memory = memory || this.exports.memory;
    this.exports._initialize();
    this.session = this.exports.vitw_session();
    this.helpers = [];
    const file = this.exports.vitw_alloc(digits.length);
    new Uint8Array(this.memory.buffer, file).set(digits);
    assert.equal(this.exports.vitw_begin(digits.length, 0, 0, 0, 0), 0);
    assert.equal(this.exports.vitw_feed(file, digits.length), 0);
    assert.equal(this.exports.vitw_end(), 0);
    this.exports.vitw_free(file);
  }

  word(name) {
    return new Uint32Array(this.memory.buffer, this.session)[SESSION_WORDS.indexOf(name)];
  }

  copy(word, count) {
    return new Float32Array(this.memory.buffer, this.word(word), count).slice();
  }

  team(threads, maySleep) {
    assert.equal(this.exports.vitw_team(threads, Number(maySleep)), 0);
  }

  async help(index) {
    const { module, memory, exports } = this;
    const workerData = { module, memory, index, stack: exports.vitw_stack(index) };
    const worker = new Worker(helper, { eval: true, workerData });
    this.helpers.push(worker);
    await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    return worker;
  }

  async dismiss() {
    const ended = this.helpers.map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
    this.exports.vitw_dismiss();
    return Promise.all(ended);
  }

  /** Logits, maps and tokens of `batch` images. The images are always the same. */
  run(batch) {
    const depth = this.word("depth");
    assert.equal(this.exports.vitw_reserve(batch, depth, 1), 0);
    const pixels = this.word("channels") * this.word("rows") * this.word("columns");
    const images = new Float32Array(this.memory.buffer, this.word("images"), batch * pixels);
    images.forEach((_, i) => (images[i] = ((i * 7919) % 1000) / 1000));
    new Uint8Array(this.memory.buffer, this.word("layers"), depth).fill(1);
    assert.equal(this.exports.vitw_run(batch, 1, 1), 0);
    const T = 1 + pixels / 16;
    return {
      logits: this.copy("logits", batch * this.word("classes")),
      attention: this.copy("attention", batch * depth * 4 * T * T),
      tokens: this.copy("tokens", batch * T * this.word("width")),
    };
  }
}

const batches = [1, 2, 3, 64];

for (const variant of ["simd128", "relaxed"]) {
  const skip = !WebAssembly.validate(bytes(variant)) && "this engine has no such instructions";
  describe(`${variant}-threads`, { skip }, () => {
    if (skip) return;
    const module = new WebAssembly.Module(bytes(`${variant}-threads`));
    const alone = new Leader(new WebAssembly.Module(bytes(variant)));
    const expected = batches.map((batch) => alone.run(batch));
    const check = (leader, most = batches.length) =>
      batches.slice(0, most).forEach((batch, i) => assert.deepEqual(leader.run(batch), expected[i]));
    const leaders = [];
    const lead = (...args) => (leaders.push(new Leader(module, ...args)), leaders.at(-1));
    after(() => leaders.forEach(({ helpers }) => helpers.forEach((worker) => worker.terminate())));

    test(`${variant}: the module for threads gives the bits of the one without, on one thread`, () => check(lead()));

    for (const threads of [2, 3, 5]) {
      for (const maySleep of [true, false]) {
        const leader = maySleep ? "sleeps" : "spins";
        test(`${variant}: ${threads} threads give the same bits, while the leader ${leader}`, async () => {
          const leader = lead();
          leader.team(threads, maySleep);
          for (let i = 1; i < threads; i++) await leader.help(i);
          check(leader);
          for (let round = 0; round < 10; round++) check(leader, 3);
          assert.deepEqual(await leader.dismiss(), Array(threads - 1).fill(0));
        });
      }
    }

    test(`${variant}: sleeping helpers wake up for a run`, async () => {
      const leader = lead();
      leader.team(2, true);
      await leader.help(1);
      for (let i = 0; i < 5; i++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        check(leader, 3);
      }
      await leader.dismiss();
    });

    test(`${variant}: a run ends without helpers that never start, start late or die`, async () => {
      const leader = lead();
      leader.team(4, false);
      check(leader);
      const worker = await leader.help(2);
      check(leader);
      await worker.terminate();
      check(leader);
      await leader.help(3);
      check(leader);
      leader.exports.vitw_dismiss();
      check(leader);
    });

    test(`${variant}: a dismissed helper leaves at work, while spinning, about to sleep and asleep`, async () => {
      const started = new Int32Array(new SharedArrayBuffer(4));
      const worker = new Worker(helpers, { eval: true, workerData: { module, started } });
      after(() => worker.terminate());
      for (let round = 1; round <= rounds(2000); round++) {
        const memory = new WebAssembly.Memory({ initial: 16, maximum: 32, shared: true });
        const { exports } = new WebAssembly.Instance(module, { env: { memory, emscripten_notify_memory_growth() {} } });
        exports._initialize();
        assert.equal(exports.vitw_team(2, 1), 0);
        const exit = new Promise((resolve) => worker.once("message", resolve));
        worker.postMessage({ memory, stack: exports.vitw_stack(1) });
        while (Atomics.load(started, 0) < round); // the helper spins for about 50 µs, then sleeps
        const until = performance.now() + (round % 100) / 1000;
        while (performance.now() < until);
        exports.vitw_dismiss();
        assert.equal(await Promise.race([exit, late(20000)]), "left", `round ${round}`);
      }
    });

    test(`${variant}: a team that is formed after a run takes part in the next run`, async () => {
      const leader = lead();
      check(leader);
      leader.team(3, false);
      await leader.help(1);
      check(leader);
      await leader.dismiss();
    });

    test(`${variant}: helpers see memory that has grown`, async () => {
      const leader = lead();
      leader.team(2, false);
      await leader.help(1);
      const before = leader.memory.buffer.byteLength;
      assert.deepEqual(leader.run(64), expected[3]);
      assert.ok(leader.memory.buffer.byteLength > before + 10 * PAGE);
      check(leader);
      await leader.dismiss();
    });

    test(`${variant}: a second team, and a team of no or too many threads, is refused`, () => {
      const leader = lead();
      for (const threads of [0, 1, 65]) assert.notEqual(leader.exports.vitw_team(threads, 0), 0);
      leader.team(2, false);
      assert.notEqual(leader.exports.vitw_team(2, 0), 0);
    });
  });
}
