// Loading from all kinds of sources, with progress, abort and a second try.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { getEventListeners } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { Vit, VitError } from "../../dist/vit.js";
import { folderOf } from "./folder.mjs";
import { golden, modelBytes, modelPath } from "./golden.mjs";
import { withHeader } from "./hostile.mjs";
import { splitFile } from "../../web/base/safetensors.mjs";
import { file, serve } from "./server.mjs";
import { during, fresh, instancesOf, load, rejects, variants, wasmBytes, wasmPath } from "./support.mjs";

const name = "per_head";
const weights = modelBytes(name);
const [{ image }] = golden(name);

test("load takes weights as a path, a URL, a Response, a Blob, a Request or bytes", async (t) => {
  const url = await serve(t, { "/model": file(weights) });
  const want = (await (await load(weights)).classify(image)).logits;
  const sources = [
    modelPath(name),
    pathToFileURL(modelPath(name)),
    pathToFileURL(modelPath(name)).href,
    url("/model"),
    new URL(url("/model")),
    new Request(url("/model")),
    await fetch(url("/model")),
    new Response(weights),
    new Blob([weights]),
    new Uint8Array(weights).buffer,
    new DataView(new Uint8Array(weights).buffer),
    { weights },
  ];
  for (const source of sources) {
    const vit = await load(source);
    assert.deepEqual((await vit.classify(image)).logits, want);
  }
});

test("a bundler's URL that is only a path is resolved against the page", async (t) => {
  const url = await serve(t, { "/static/model": file(weights) });
  const relative = new Proxy(new URL("/static/model", "x:/"), {
    get: (target, key) => (key === "toString" ? () => "/static/model" : Reflect.get(target, key, target)),
  });
  assert.equal(String(relative), "/static/model");
  const vit = await during(globalThis, "location", { href: url("/index.html") }, () => load(relative));
  assert.equal((await vit.classify(image)).logits.length, vit.config.classes);
});

test("bytes given to load stay the caller's and may change afterwards", async () => {
  for (const worker of [false, true]) {
    const mine = new Uint8Array(weights);
    const loading = load(mine, { worker });
    const vit = await loading;
    const want = (await vit.classify(image)).logits;
    assert.equal(mine.length, weights.length);
    mine.fill(0);
    assert.deepEqual((await vit.classify(image)).logits, want);
  }
});

test("the progress of a load rises to the whole size", async (t) => {
  const url = await serve(t, { "/model": file(weights) });
  for (const source of [url("/model"), modelPath(name), weights]) {
    const reports = [];
    await load(source, { onProgress: (loaded, total) => reports.push([loaded, total]) });
    assert.deepEqual(reports.at(-1), [weights.length, weights.length]);
    assert.deepEqual(reports, [...reports].sort(([a], [b]) => a - b));
    if (source === url("/model")) assert.ok(reports.length > 1);
  }
});

test("the progress of a compressed answer has no total", async (t) => {
  const packed = gzipSync(weights);
  const url = await serve(t, {
    "/model": (response) =>
      response
        .writeHead(200, { "content-encoding": "gzip", "content-length": packed.length })
        .end(packed),
  });
  const reports = [];
  await load(url("/model"), { onProgress: (loaded, total) => reports.push([loaded, total]) });
  assert.deepEqual(reports.at(-1), [weights.length, 0]);
});

test("load rejects with the error that onProgress throws", async (t) => {
  const url = await serve(t, { "/model": file(weights) });
  const mine = new Error("mine");
  const onProgress = () => {
    throw mine;
  };
  await assert.rejects(Vit.load(url("/model"), { onProgress }), (error) => error === mine);
});

test("load rejects with the signal's reason when it is aborted before, during or in a worker", async (t) => {
  const url = await serve(t, {
    "/model": (response) =>
      response.writeHead(200, { "content-length": weights.length }).write(weights.subarray(0, 999)),
  });
  const reason = { why: "changed my mind" };
  const isReason = (error) => error === reason;
  await assert.rejects(Vit.load(weights, { signal: AbortSignal.abort(reason) }), isReason);
  for (const source of [url("/model"), await fetch(url("/model"))]) {
    const controller = new AbortController();
    const onProgress = () => setImmediate(() => controller.abort(reason));
    await assert.rejects(Vit.load(source, { signal: controller.signal, onProgress }), isReason);
  }
  const controller = new AbortController();
  const loading = Vit.load(weights, { signal: controller.signal, worker: true });
  setTimeout(() => controller.abort(reason));
  await assert.rejects(loading, isReason);
});

test("a wrong status, an early end and a missing answer are network errors", async (t) => {
  const url = await serve(t, {
    "/error": (response) => response.writeHead(503, "Service Unavailable").end("later"),
    "/short": (response) => {
      response.writeHead(200, { "content-length": weights.length });
      response.write(weights.subarray(0, 500), () => response.destroy());
    },
  });
  await rejects(() => Vit.load(url("/none")), "network", /expected 200 OK from http.*got 404/);
  await rejects(() => Vit.load(url("/error")), "network", /got 503 Service Unavailable; check/);
  await rejects(
    () => Vit.load(url("/short")),
    "network",
    new RegExp(`expected ${weights.length} bytes from http.*, got \\d+ .*; try again`),
  );
  await rejects(() => Vit.load("http://127.0.0.1:9/"), "network", /got none .*check the address/);
  const silent = new Response(weights.subarray(0, 500), { headers: { "content-length": weights.length } });
  await rejects(() => Vit.load(silent), "network", /got 500 \(the download ended early\); try again/);
});

test("a failed load can be tried again", async (t) => {
  let tries = 0;
  const url = await serve(t, {
    "/model": (response) => (++tries > 1 ? file(weights)(response) : response.destroy()),
    "/module": (response) =>
      tries++ > 2
        ? file(wasmBytes("scalar"), "application/wasm")(response)
        : response.writeHead(500).end(),
  });
  await rejects(() => Vit.load(url("/model")), "network", /./);
  await load(url("/model"));
  await rejects(() => Vit.load(weights, { wasm: url("/module") }), "network", /got 500/);
  await load(weights, { wasm: url("/module") });
});

test("each kind of file that holds no weights has an error of its own", async (t) => {
  const page = "<!doctype html><title>app</title>";
  const url = await serve(t, { "/model": (response) => response.end(page) });
  const wrong = [
    [url("/model"), "bad_file", /binary file from http.*, got an HTML page; check the address/],
    [new Blob([page]), "bad_file", /got an HTML page/],
    [new Blob(["version https://git-lfs.github.com/spec/v1\noid"]), "bad_file", /Git LFS pointer/],
    [new Blob(["PK\x03\x04archive/data.pkl"]), "bad_file", /zip archive.*is the file whole/],
    [new Blob([]), "bad_file", /./],
    [new Blob(["short"]), "bad_file", /./],
    ["tests/node/there is no such file", "bad_file", /ENOENT/],
    [weights.subarray(0, 300), "bad_file", /./],
    [weights.subarray(0, weights.length - 4), "bad_tensor", /head\.bias.*truncated/],
  ];
  for (const [source, code, message] of wrong) {
    for (const worker of [false, true]) {
      await rejects(() => Vit.load(source, { worker }), code, message);
    }
  }
  await rejects(() => Vit.load(42), "bad_argument", /expected a string, URL.*got 42/);
  const used = new Response(weights);
  await used.arrayBuffer();
  await rejects(() => Vit.load(used), "bad_argument", /used up/);
});

test("the error of a senseless config names the key", async () => {
  await rejects(() => Vit.load({ weights, config: "{" }), "bad_config", /JSON/);
  await rejects(() => Vit.load({ weights, config: { heads: 3 } }), "bad_config", /image_size/);
  const prepare = { kind: "sketch" };
  await rejects(() => Vit.load({ weights, prepare }), "bad_config", /digit or photo/);
  await rejects(() => Vit.load({ weights, config: new Blob(["<html>"]) }), "bad_file", /HTML/);
});

test("a source that cannot be read is an error with a code", async (t) => {
  const url = await serve(t, { "/model": file(weights) });
  const broken = new Blob([weights]);
  broken.stream = () =>
    new ReadableStream({ pull: (controller) => controller.error(new DOMException("it changed", "NotReadableError")) });
  await rejects(() => load(broken), "bad_file", /readable bytes: .*choose the file again/);
  await rejects(() => load({ weights, config: broken }), "bad_file", /choose the file again/);
  await rejects(() => load("http://"), "network", /./);
  const locked = await fetch(url("/model"));
  locked.body.getReader();
  await rejects(() => load(locked), "bad_argument", /locked or used up/);
  const detachedBuffer = new Uint8Array(weights).buffer;
  structuredClone(detachedBuffer, { transfer: [detachedBuffer] });
  await rejects(() => load(detachedBuffer), "bad_argument", /memory that cannot be read/);
  const growing = new ArrayBuffer(weights.length, { maxByteLength: 2 * weights.length });
  new Uint8Array(growing).set(weights);
  assert.ok(await load(growing));
});

test("the last of a config's repeated keys counts, as in JSON.parse", async () => {
  const { config } = await load(weights);
  const twice = JSON.stringify({ ...config, depth: config.depth + 1 });
  const json = `${twice.slice(0, -1)},"depth":${config.depth}}`;
  const vit = await load({ weights, config: json });
  assert.equal(vit.config.depth, config.depth);
  assert.equal((await vit.classify(image, { attention: true })).attention.layers, config.depth);
});

test("load takes a module of one's own as an address, bytes, a Response or compiled", async (t) => {
  const bytes = wasmBytes("scalar");
  const url = await serve(t, { "/streamed.wasm": file(bytes, "application/wasm"), "/untyped.wasm": file(bytes, "text/plain") });
  const compiled = await WebAssembly.compile(bytes);
  const sources = [
    wasmPath("scalar"),
    bytes,
    new Blob([bytes]),
    compiled,
    url("/streamed.wasm"),
    new URL(url("/untyped.wasm")),
    await fetch(url("/streamed.wasm")),
  ];
  for (const wasm of sources) {
    const vit = await load(weights, { wasm });
    assert.equal(vit.variant, "scalar");
    assert.equal((await vit.classify(image)).classes.length, 10);
  }
  await load(weights, { wasm: compiled, worker: true });
});

test("the option wasm is a folder with the modules and the worker, or names single files", async (t) => {
  const dist = new URL("../../dist/", import.meta.url);
  const path = fileURLToPath(dist);
  const [variant] = variants;
  const names = { [variant]: wasmPath(variant), [`${variant}-threads`]: wasmBytes(`${variant}-threads`) };
  const { Vit } = await fresh();
  for (const wasm of [dist, path, dist.href, names, { ...names, worker: `${path}worker.js` }]) {
    for (const way of [{}, { worker: true }, { threads: 2 }]) {
      const vit = await Vit.load(weights, { wasm, variant, ...way });
      t.after(() => vit.dispose());
      assert.equal(vit.variant, variant);
      assert.equal((await vit.classify(image)).classes.length, 10);
    }
  }
  const folder = folderOf(t, { "worker.js": 'throw new Error("this very worker")', "vit.scalar.wasm": wasmBytes("scalar") });
  const worker = join(folder, "worker.js");
  for (const wasm of [`${folder}/`, { worker }, { worker: pathToFileURL(worker) }]) {
    await rejects(() => Vit.load(weights, { wasm, worker: true }), "worker_lost", /this very worker/);
  }
});

test("unknown files in the option wasm, and builds that it lacks, are refused by name", async () => {
  const scalar = wasmBytes("scalar");
  const attempt = (wasm, options) => () => Vit.load(weights, { wasm, ...options });
  await rejects(attempt({ simd: scalar }), "bad_option", /wasm: expected .*relaxed.*worker.* got "simd"/);
  await rejects(attempt({ scalar, worker: 5 }), "bad_option", /wasm\.worker: expected an address, got 5/);
  await rejects(attempt({ scalar }, { variant: "simd128" }), "bad_option", /wasm: expected the build simd128/);
  await rejects(attempt({ scalar: 5 }), "bad_argument", /expected a string, URL.* got 5/);
});

test("auto takes the only build that a folder holds", async (t) => {
  for (const variant of variants) {
    const folder = folderOf(t, { [`vit.${variant}.wasm`]: wasmBytes(variant) });
    assert.equal((await load(weights, { wasm: `${folder}/` })).variant, variant);
  }
});

test("a module with the right MIME type is compiled while it arrives, once for all loads", async (t) => {
  let served = 0;
  const url = await serve(t, {
    "/vit.wasm": (response) => {
      served++;
      return file(wasmBytes("scalar"), "application/wasm")(response);
    },
  });
  let streamed = 0;
  const compileStreaming = WebAssembly.compileStreaming;
  await during(
    WebAssembly,
    "compileStreaming",
    (source) => {
      streamed++;
      return compileStreaming(source);
    },
    () => Promise.all([1, 2, 3].map(() => load(weights, { wasm: url("/vit.wasm") }))),
  );
  assert.deepEqual([served, streamed], [1, 1]);
});

test("each kind of wrong wasm module has an error of its own", async (t) => {
  const url = await serve(t, {
    "/page.wasm": (response) => response.end("<!doctype html><title>app</title>"),
    "/typed.wasm": (response) =>
      response.writeHead(200, { "content-type": "application/wasm" }).end("<!doctype html>"),
  });
  const empty = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
  const importing = Uint8Array.of(...empty, 1, 4, 1, 96, 0, 0, 2, 7, 1, 1, 97, 1, 98, 0, 0);
  await rejects(() => Vit.load(weights, { wasm: empty }), "bad_wasm", /does not export vitw_alloc/);
  await rejects(() => Vit.load(weights, { wasm: importing }), "bad_wasm", /it imports a\.b/);
  await rejects(() => Vit.load(weights, { wasm: weights }), "bad_wasm", /expected a module/);
  await rejects(() => Vit.load(weights, { wasm: url("/page.wasm") }), "bad_file", /HTML page/);
  await rejects(() => Vit.load(weights, { wasm: url("/typed.wasm") }), "bad_wasm", /expected a module/);
  const options = { wasm: wasmBytes("scalar"), variant: "simd128" };
  await rejects(() => Vit.load(weights, options), "bad_option", /expected a simd128 module, got a scalar/);
});

test("auto takes SIMD if the engine has it, otherwise scalar", async () => {
  assert.ok(["relaxed", "simd128"].includes((await load(weights)).variant));
  const { Vit } = await fresh();
  await during(WebAssembly, "validate", () => false, async () => {
    const vit = await Vit.load(weights);
    assert.equal(vit.variant, "scalar");
    vit.dispose();
    const simd = () => Vit.load(weights, { variant: "simd128" });
    await rejects(simd, "no_simd", /no WebAssembly SIMD; use variant "auto"/);
  });
  for (const variant of variants) assert.equal((await load(weights, { variant })).variant, variant);
});

test("a missing WebAssembly, a policy against it and an unknown variant have errors of their own", async () => {
  const { Vit } = await fresh();
  const attempt = () => Vit.load(weights);
  await during(globalThis, "WebAssembly", undefined, () =>
    rejects(attempt, "no_wasm", /no WebAssembly/),
  );
  const forbidden = function () {
    throw new WebAssembly.CompileError("blocked by CSP");
  };
  await during(WebAssembly, "Module", forbidden, () =>
    rejects(attempt, "no_wasm", /blocked by CSP.*wasm-unsafe-eval.*compiled module as the option wasm/),
  );
  await rejects(() => Vit.load(weights, { variant: "fast" }), "bad_option", /variant.*"fast"/);
});

test("too little memory for the module or the weights is an error with code no_memory", async () => {
  const full = async () => {
    throw new RangeError("could not allocate memory");
  };
  await during(WebAssembly, "instantiate", full, () =>
    rejects(() => Vit.load(weights), "no_memory", /WebAssembly memory for the module/),
  );
  const greedy = (exports) => ({ ...exports, vitw_alloc: () => 0 });
  await rejects(() => instancesOf(() => Vit.load(weights), greedy), "no_memory", /for the weights/);
});

test("a model loads once another's addresses come free", async () => {
  const { instantiate } = WebAssembly;
  let refusals = 0;
  const crowded = async (...args) => {
    if (refusals++ < 2) throw new RangeError("could not allocate memory");
    return instantiate(...args);
  };
  const vit = await during(WebAssembly, "instantiate", crowded, () => Vit.load(weights));
  assert.ok(refusals > 2);
  assert.equal((await vit.classify(image)).classes.length, 10);
});

test("a trap in any call that load makes of the module is internal", async () => {
  const trap = () => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  for (const name of ["_initialize", "vitw_session", "vitw_alloc", "vitw_begin", "vitw_feed", "vitw_end", "vitw_variant"]) {
    const trapping = (exports) => ({ ...exports, [name]: trap });
    const failed = /^the WebAssembly module failed \(RuntimeError: unreachable\); the next call/;
    await rejects(() => instancesOf(() => Vit.load(weights), trapping), "internal", failed);
  }
  const unlinked = async () => {
    throw new WebAssembly.LinkError("no such import");
  };
  await during(WebAssembly, "instantiate", unlinked, () =>
    rejects(() => Vit.load(weights), "internal", /^the WebAssembly module failed \(LinkError: no such import\)/),
  );
});

test("a header is read as JSON, however it is written: spread over lines or with escapes", async () => {
  const { header, data } = splitFile(weights);
  const escape = (text) => [...text].map((letter) => `\\u${letter.charCodeAt().toString(16).padStart(4, "0")}`).join("");
  const spread = JSON.stringify(header, null, 2).replace(/"(dtype|data_offsets|F32)"/g, (_, word) => `"${escape(word)}"`);
  assert.doesNotMatch(spread, /dtype/);
  const withEscapes = withHeader(spread, data);
  const want = (await (await load(weights)).classify(image)).logits;
  // Nobody says the size of a Response, so the tensors' offsets do.
  for (const source of [withEscapes, new Response(withEscapes), { weights: new Response(withEscapes), prepare: { kind: "digit" } }]) {
    assert.deepEqual((await (await load(source)).classify(image)).logits, want);
  }
});

test("load refuses unknown options by name", async () => {
  await rejects(() => Vit.load(weights, { thread: 2 }), "bad_option", /load: .*got "thread"/);
  await rejects(() => Vit.load({ weights, confg: {} }), "bad_option", /load: .*got "confg"/);
  await rejects(() => Vit.load(weights, "fast"), "bad_option", /load: .*got fast/);
  await rejects(() => Vit.load(weights, { threads: 0 }), "bad_option", /threads: .*got 0/);
  await assert.rejects(Vit.load(weights, { threads: "2" }), VitError);
  await load(weights, { threads: 2 });
});

test("a size that a header claims of a packed body is not believed, whether smaller or larger", async () => {
  const { config } = await load(weights);
  const want = (await (await load(weights)).classify(image)).logits;
  const claiming = (length, bytes = weights) => new Response(bytes, { headers: { "content-length": length } });
  for (const length of [1, weights.length - 1, weights.length, weights.length + 9, 2 * weights.length]) {
    const totals = new Set();
    const vit = await load(claiming(length), { onProgress: (_, total) => totals.add(total) });
    assert.deepEqual((await vit.classify(image)).logits, want);
    assert.ok([...totals].every((total) => [0, weights.length].includes(total)), `${[...totals]}`);
    await load({ weights, config: claiming(length, JSON.stringify(config)) });
  }
  const cut = weights.subarray(0, -999);
  await rejects(() => Vit.load(claiming(weights.length, cut)), "network", /the download ended early/);
  await rejects(() => Vit.load(claiming(999, cut)), "bad_file", /truncated/);
});

test("sources and modules of another realm are read as this realm's", async () => {
  const { config } = await load(weights);
  const other = createContext({ weights, config: JSON.stringify(config), wasm: wasmBytes("scalar") });
  const theirs = (code) => runInContext(code, other);
  const want = (await (await load(weights)).classify(image)).logits;
  const sources = [theirs("Uint8Array.from(weights).buffer"), theirs("Uint8Array.from(weights)"), theirs("({ weights, config: JSON.parse(config) })")];
  const whole = new Blob([weights]);
  const realm = { Blob: class Blob { stream = () => whole.stream(); size = weights.length; slice() {} },
    URL: class URL { href = pathToFileURL(modelPath(name)).href; toString() { return this.href; } },
    Response: class Response { ok = true; headers = new Headers(); body = whole.stream(); } };
  for (const Class of Object.values(realm)) sources.push(new Class());
  for (const source of sources) {
    const vit = await load(source);
    assert.deepEqual((await vit.classify(image)).logits, want, String(source?.constructor));
  }
  const module = theirs("new WebAssembly.Module(Uint8Array.from(wasm))");
  assert.ok(!(module instanceof WebAssembly.Module));
  assert.equal((await load(weights, { wasm: module })).variant, "scalar");
  const vit = await load({ weights: modelPath(name), prepare: { kind: "digit" } });
  const mine = (await vit.classify({ strokes: [[{ x: 9, y: 9, width: 4 }, { x: 20, y: 20, width: 4 }]], width: 28, height: 28 })).logits;
  const drawing = theirs("({ strokes: [[{ x: 9, y: 9, width: 4 }, { x: 20, y: 20, width: 4 }]], width: 28, height: 28 })");
  assert.deepEqual((await vit.classify(drawing)).logits, mine);
});

test("a signal that many calls share has one listener, so that Node does not warn", async () => {
  const warned = [];
  const warn = (warning) => warned.push(warning.message);
  process.on("warning", warn);
  const { signal } = new AbortController();
  const vit = await load(weights, { signal });
  await Promise.all(Array.from({ length: 30 }, () => vit.classify(image, { signal })));
  await Promise.all(Array.from({ length: 12 }, () => load(weights, { signal })));
  await new Promise(setImmediate);
  process.off("warning", warn);
  assert.deepEqual(warned, []);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("what an environment lacks is named, and a Blob without methods to read it is read by events", async () => {
  for (const lacking of ["TextDecoder", "ReadableStream"]) {
    const before = Object.getOwnPropertyDescriptor(globalThis, lacking);
    delete globalThis[lacking];
    try {
      await rejects(() => Vit.load(weights), "unsupported", new RegExp(`environment with ${lacking}, .*@jest-environment node`));
    } finally {
      Object.defineProperty(globalThis, lacking, before);
    }
  }
  const { stream, arrayBuffer } = Blob.prototype;
  class FileReader {
    readAsArrayBuffer(blob) {
      arrayBuffer.call(blob).then((result) => (Object.assign(this, { result }), this.onload()));
    }
  }
  Object.assign(Blob.prototype, { stream: undefined, arrayBuffer: undefined });
  try {
    await during(globalThis, "FileReader", FileReader, async () => {
      assert.ok(await load([new File([weights], "model.safetensors")]));
    });
  } finally {
    Object.assign(Blob.prototype, { stream, arrayBuffer });
  }
});

test("a signal of another implementation, such as happy-dom's, works", async () => {
  class AbortSignal extends EventTarget {
    aborted = false;
    throwIfAborted() {}
  }
  const vit = await load(weights, { signal: new AbortSignal() });
  assert.equal((await vit.classify(image, { signal: new AbortSignal() })).classes.length, 10);
});

const linux = process.platform !== "linux" && "only Linux limits a process's addresses so";

test("where addresses are limited the error names Node's flag, with which a model loads", { skip: linux }, async () => {
  const script = `import { Vit } from "./dist/vit.js";
    console.log(await Vit.load(${JSON.stringify(modelPath(name))}).then(({ family }) => family, ({ code, message }) => code + ": " + message));`;
  const run = async (flag) => {
    const limited = `ulimit -v 6000000 && exec "$0" ${flag} --input-type=module -e "$1"`;
    const { stdout } = await promisify(execFile)("sh", ["-c", limited, process.execPath, script], { cwd: new URL("../..", import.meta.url) });
    return stdout.trim();
  };
  assert.match(await run(""), /^no_memory: .*ulimit -v.*--disable-wasm-trap-handler$/);
  if (process.allowedNodeEnvironmentFlags.has("--disable-wasm-trap-handler")) {
    assert.equal(await run("--disable-wasm-trap-handler"), "vitrine");
  }
});
