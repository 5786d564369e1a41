// Wrong calls, many calls at once, aborted calls, and calls whose worker or module dies.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { promisify } from "node:util";
import { Vit } from "../../dist/vit.js";
import { golden, modelBytes, modelPath } from "./golden.mjs";
import { file, serve } from "./server.mjs";
import { during, instancesOf, load, rejects, stroke, workersOf as startedBy } from "./support.mjs";

const name = "per_head";
const images = golden(name).map(({ image }) => image);
const [image] = images;

/** Collects the workers that `work` starts. Each can be told to die on its next run. */
function workersOf(work) {
  return startedBy(work, (Worker) => class extends Worker {
    doomed = false;
    postMessage(message, transfer) {
      if (this.doomed && message.method === "run") this.terminate();
      else super.postMessage(message, transfer);
    }
  });
}

for (const worker of [false, true]) {
  const where = worker ? " in a worker" : "";

  test(`wrong images are refused and the model stays usable${where}`, async () => {
    const vit = await load({ weights: modelPath(name), prepare: { kind: "digit" } }, { worker });
    const want = (await vit.classify(stroke)).logits;
    const holed = image.slice();
    holed[17] = NaN;
    const pixels = (length, width, height, channels) => ({ data: new Uint8Array(length), width, height, channels });
    const wrong = [
      [new Float32Array(783), "bad_image", /expected a Float32Array of 784 values \(1×28×28\), got 783/],
      [{ data: image, width: 14, height: 56 }, "bad_image", /1×28×28 values, got \?×56×14/],
      [holed, "bad_image", /finite values, got NaN at 17/],
      [pixels(100, 10, 11), "bad_image", /got 100 bytes for 10×11×\?/],
      [pixels(500, 10, 10), "bad_image", /1 to 4 channels/],
      [pixels(100, 10, 10, 3), "bad_image", /got 100 bytes for 10×10×3/],
      [pixels(0, 0, 0), "bad_image", /0×0/],
      [{ data: [1, 2], width: 1, height: 2 }, "bad_image", /data of bytes or a Float32Array, got Array/],
      [null, "bad_image", /expected ImageData.*got Null/],
      ["image.png", "bad_image", /got String/],
      [new Blob(["GIF89a"]), "unsupported", /cannot decode image files; pass pixels/],
      [{ ...stroke, data: stroke.data.slice().fill(255) }, "blank_image", /blank/],
    ];
    for (const [input, code, message] of wrong) {
      await rejects(() => vit.classify(input), code, message);
      await rejects(() => vit.classifyAll([stroke, input]), code, /^image 1: /);
      await rejects(() => vit.embed(input), code, message);
    }
    await rejects(() => vit.classifyAll([new Blob([]), null]), "bad_image", /^image 1: /);
    assert.deepEqual((await vit.classify(stroke)).logits, want);
  });

  test(`pixels and prepared values give the same answer in every form${where}`, async () => {
    const vit = await load({ weights: modelPath(name), prepare: { kind: "digit" } }, { worker });
    const want = (await vit.classify(image)).logits;
    for (const more of [{}, { channels: 1 }]) {
      const { logits } = await vit.classify({ data: image, width: 28, height: 28, ...more });
      assert.deepEqual(logits, want);
    }
    const { data, width, height } = stroke;
    const grey = Uint8Array.from({ length: width * height }, (_, index) => data[index * 4]);
    const reference = (await vit.classify(stroke)).logits;
    for (const same of [
      { data: grey, width, height },
      { data: Buffer.from(data), width, height, channels: 4 },
    ]) {
      assert.deepEqual((await vit.classify(same)).logits, reference);
    }
  });

  test(`simultaneous calls queue and each gets its own answer${where}`, async () => {
    const vit = await load(modelPath(name), { worker });
    const want = [];
    for (const one of images) want.push((await vit.classify(one)).logits);
    const order = [];
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const { logits } = await vit.classify(images[index % images.length]);
        assert.deepEqual(logits, want[index % images.length]);
        order.push(index);
      }),
    );
    assert.deepEqual(order, [...order].sort((a, b) => a - b));
  });

  test(`an aborted call rejects with the signal's reason, and other calls go on${where}`, async () => {
    const vit = await load(modelPath(name), { worker });
    const reason = new Error("enough");
    const isReason = (error) => error === reason;
    const signal = AbortSignal.abort(reason);
    await assert.rejects(vit.classify(image, { signal }), isReason);
    const controller = new AbortController();
    const calls = [
      vit.classify(image),
      vit.classifyAll(Array(500).fill(image), { signal: controller.signal }),
      vit.embed(image, { signal: controller.signal }),
      vit.classify(image),
    ];
    controller.abort(reason);
    const [first, second, third, fourth] = await Promise.allSettled(calls);
    assert.equal(second.reason, reason);
    assert.equal(third.reason, reason);
    assert.deepEqual(first.value.logits, fourth.value.logits);
  });

  test(`dispose may be called twice, and running calls finish, later ones reject${where}`, async () => {
    const vit = await load(modelPath(name), { worker });
    const { logits } = await vit.classify(image);
    const under = [vit.classify(image), vit.embed(image), vit.classifyAll([image, image])];
    vit.dispose();
    vit[Symbol.dispose]();
    const late = vit.classify(image);
    await rejects(() => late, "disposed", /load another/);
    const [one, { patches }, both] = await Promise.all(under);
    assert.deepEqual([one.logits, ...both.map((answer) => answer.logits)], [logits, logits, logits]);
    assert.ok(patches.length > 0);
    await rejects(() => vit.classify(image), "disposed", /load another/);
    await rejects(() => vit.embed(image), "disposed", /load another/);
    assert.equal(vit.config.classes, 10, "a disposed model keeps its config");
  });

  test(`wrong options are refused by their names${where}`, async () => {
    const vit = await load(modelPath(name), { worker });
    const wrong = [
      [{ topk: 1 }, /classify: .*got "topk"/],
      [{ topK: 0 }, /topK: expected a whole number from 1, got 0/],
      [{ topK: 1.5 }, /topK/],
      [{ attention: [2] }, /attention: expected true or an array of layers from 0 to 1, got 2/],
      [{ attention: "all" }, /attention.*got all/],
    ];
    for (const [options, message] of wrong) {
      await rejects(() => vit.classify(image, options), "bad_option", message);
    }
    await rejects(() => vit.embed(image, { topK: 1 }), "bad_option", /embed: .*got "topK"/);
    assert.equal((await vit.classify(image, { topK: 99 })).classes.length, 10);
  });
}

test("an image that never arrives delays no other call, and an abort ends the wait", async () => {
  const vit = await load(modelPath(name));
  const never = new (class extends Blob {
    arrayBuffer = () => new Promise(() => {});
  })();
  const bitmap = () => new Promise(() => {});
  await during(globalThis, "createImageBitmap", bitmap, async () => {
    const controller = new AbortController();
    const aborted = vit.classify(never, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await assert.rejects(aborted, /enough/);
    const second = new AbortController();
    const waiting = vit.classify(never, { signal: second.signal });
    assert.equal((await vit.classify(image)).classes.length, vit.config.classes);
    vit.dispose();
    second.abort(new Error("gone"));
    await assert.rejects(waiting, /gone/);
  });
});

test("a call without a worker lets timers and aborts run between batches", async () => {
  const vit = await load(modelPath(name));
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("enough")));
  const many = Array(100_000).fill(image);
  await assert.rejects(vit.classifyAll(many, { signal: controller.signal }), /enough/);
});

test("classifyAll refuses all but an array of images, and the array may change after the call", async () => {
  const vit = await load(modelPath(name));
  for (const wrong of [undefined, null, "images", new Set([image]), new Uint8Array(3), image, stroke])
    await rejects(() => vit.classifyAll(wrong), "bad_argument", /images: expected an array, got/);
  await rejects(() => vit.classifyAll([image, , image]), "bad_image", /image 1: .*Undefined|undefined/);
  const list = Array(130).fill(image);
  const answers = vit.classifyAll(list);
  list.length = 3;
  assert.equal((await answers).length, 130);
});

test("a model whose answer is not finite gives an error, not NaN", async () => {
  const vit = await load(modelPath(name));
  const huge = image.map(() => 3e38);
  await rejects(() => vit.classify(huge), "bad_image", /got an answer that is not finite/);
  await rejects(() => vit.classifyAll([image, huge]), "bad_image", /^image 1: /);
});

test("an image that is too large is refused before the wasm heap grows", async () => {
  const [[core], vit] = await instancesOf(() => load(modelPath(name)));
  const before = core.memory.buffer.byteLength;
  const data = new Uint8Array(40_000);
  await rejects(() => vit.classify({ data, width: 40_000, height: 1, channels: 1 }), "bad_image", /32768/);
  assert.equal(core.memory.buffer.byteLength, before);
});

test("a trap in the module is an error with code internal, and the next call starts a new module", async () => {
  let healthy = false;
  const vitw_run = () => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  const trapping = (exports) => (healthy ? exports : { ...exports, vitw_run });
  const [instances] = await instancesOf(async () => {
    const vit = await load(modelPath(name));
    await rejects(() => vit.classify(image), "internal", /unreachable.*starts it anew/);
    healthy = true;
    await vit.classify(image);
    await vit.classify(image);
  }, trapping);
  assert.equal(instances.length, 2);
});

test("when a worker dies its running calls reject, and the next call starts another worker", () =>
  workersOf(async (workers) => {
    const vit = await load(modelBytes(name), { worker: true });
    const want = (await vit.classify(image)).logits;
    workers[0].doomed = true;
    const under = [vit.classify(image), vit.classify(image, { attention: true })];
    await rejects(() => under[0], "worker_lost", /worker ended.*next call starts a new one/);
    const { logits } = await under[1];
    assert.deepEqual(logits, want);
    assert.equal(workers.length, 2);
  }));

for (const [how, source, times] of [
  ["is read again from its path", () => modelPath(name), 0],
  ["from a Response is fetched again from its address", (at) => fetch(at("/model")), 2],
  ["from a Response without an address is kept", () => new Response(modelBytes(name)), 0],
]) {
  test(`a model ${how} when its worker dies while idle`, (t) =>
    workersOf(async (workers) => {
      let requests = 0;
      const send = file(modelBytes(name));
      const at = await serve(t, { "/model": (...call) => (requests++, send(...call)) });
      const vit = await load(await source(at), { worker: true });
      const want = (await vit.classify(image)).logits;
      workers[0].terminate();
      await once(workers[0], "exit");
      assert.deepEqual((await vit.classify(image)).logits, want);
      assert.deepEqual([requests, workers.length], [times, 2]);
    }));
}

test("dispose ends the worker, and a failed load ends its worker too", () =>
  workersOf(async (workers) => {
    await rejects(() => Vit.load(new Blob(["no weights"]), { worker: true }), "bad_file", /./);
    const vit = await load(modelPath(name), { worker: true });
    vit.dispose();
    for (const worker of workers) if (worker.threadId !== -1) await once(worker, "exit");
    assert.equal(workers.length, 2);
  }));

test("an idle worker does not keep the process alive", async () => {
  const script = `
    import { Vit } from "./dist/vit.js";
    const vit = await Vit.load(${JSON.stringify(modelPath(name))}, { worker: true });
    console.log((await vit.classify(new Float32Array(784))).classes.length);`;
  const options = { cwd: new URL("../..", import.meta.url), timeout: 20_000 };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options);
  assert.equal(stdout.trim(), "10");
});

test("a missing canvas and a tainted canvas are errors that say so", async () => {
  const vit = await load({ weights: modelPath(name), prepare: { kind: "digit" } });
  const fake = (kind, fields) => ({ [Symbol.toStringTag]: kind, ...fields });
  let read = () => ({ data: stroke.data.slice() });
  class OffscreenCanvas {
    getContext = () => ({ drawImage() {}, getImageData: (...box) => read(...box) });
  }
  await during(globalThis, "OffscreenCanvas", OffscreenCanvas, async () => {
    const { width, height } = stroke;
    const want = (await vit.classify(stroke)).logits;
    const visible = [
      fake("HTMLCanvasElement", { width, height }),
      fake("ImageBitmap", { width, height }),
      fake("VideoFrame", { displayWidth: width, displayHeight: height }),
      fake("HTMLVideoElement", { readyState: 4, videoWidth: width, videoHeight: height }),
      fake("HTMLImageElement", { complete: true, naturalWidth: width, naturalHeight: height }),
      fake("HTMLImageElement", {
        complete: false,
        naturalWidth: width,
        naturalHeight: height,
        decode: async () => {},
      }),
    ];
    for (const source of visible) assert.deepEqual((await vit.classify(source)).logits, want);
    const hidden = [
      [fake("HTMLVideoElement", { readyState: 1, videoWidth: 9, videoHeight: 9 }), /is empty \(0×9\).*loaded/],
      [fake("ImageBitmap", { width: 0, height: 0 }), /ImageBitmap is empty \(0×0\)/],
      [
        fake("HTMLImageElement", {
          complete: false,
          decode: async () => {
            throw Error("broken");
          },
        }),
        /the HTMLImageElement did not load: broken/,
      ],
    ];
    for (const [source, message] of hidden) {
      await rejects(() => vit.classify(source), "bad_image", message);
    }
    read = () => {
      throw new Error("The canvas has been tainted");
    };
    await rejects(() => vit.classify(visible[0]), "bad_image", /tainted.*CORS/);
  });
});

/** Proxies round an object and all that it gives, as frameworks put them. */
const deep = (value) =>
  typeof value !== "object" || value === null || ArrayBuffer.isView(value) || value instanceof Promise
    ? value
    : new Proxy(value, { get: (target, key, self) => deep(Reflect.get(target, key, self)) });

test("a Vit, its attention and its trace work behind a Proxy, also in a worker", async () => {
  for (const worker of [false, true]) {
    const vit = await load(modelPath(name), { worker });
    const proxy = deep(vit);
    const options = { attention: true, trace: true, relevance: true };
    const want = await vit.classify(image, options);
    const answer = deep(await proxy.classify(image, deep({ ...options, attention: [0, 1] })));
    assert.deepEqual(answer.logits, want.logits);
    const { attention, trace } = answer;
    assert.deepEqual(attention.rollout(), want.attention.rollout());
    assert.deepEqual(attention.fromPatch(1, 1), want.attention.fromPatch(1, 1));
    assert.deepEqual(attention.relevance(3), want.attention.relevance(3));
    assert.deepEqual(trace.scores(1, 0), want.trace.scores(1, 0));
    assert.deepEqual(trace.lens(1), want.trace.lens(1));
    assert.deepEqual((await proxy.embed(image)).cls, (await vit.embed(image)).cls);
    assert.equal((await proxy.classifyAll(deep([image, image]))).length, 2);
    assert.equal(proxy.memory, vit.memory);
    proxy[Symbol.dispose ?? "dispose"]();
    await rejects(() => vit.classify(image), "disposed", /./);
  }
});

test("an argument behind a Proxy that hides what it is gives an error that names toRaw", async () => {
  const vit = await load(modelPath(name));
  const { signal } = new AbortController();
  await rejects(() => vit.classify(image, { signal: deep(signal) }), "bad_argument", /toRaw/);
  await rejects(() => Vit.load(deep(new URL("file:///none"))), "bad_argument", /toRaw/);
});

test("keepInput: false leaves the prepared images out of the results", async () => {
  for (const worker of [false, true]) {
    const vit = await load(modelPath(name), { worker });
    const [whole, bare] = [await vit.classify(image), await vit.classify(image, { keepInput: false })];
    assert.ok("input" in whole && !("input" in bare));
    assert.deepEqual(bare.logits, whole.logits);
    for (const result of await vit.classifyAll(Array(99).fill(image), { keepInput: false, attention: true })) {
      assert.ok(!("input" in result));
      assert.equal(result.attention.rollout().length, 49);
    }
    const traced = await vit.classify(image, { keepInput: false, trace: true });
    assert.ok(traced.trace && !("input" in traced));
    assert.ok(!("input" in (await vit.embed(image, { keepInput: false }))));
  }
});
