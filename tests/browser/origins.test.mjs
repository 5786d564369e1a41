// The package's files from other origins, and the messages when the files cannot be loaded.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { typeOf } from "../../web/scripts/serve.mjs";
import { golden } from "../node/golden.mjs";
import { openServer } from "../node/server.mjs";
import { launch, skip } from "./browsers.mjs";
import { visit } from "./harness.mjs";

const root = new URL("../../", import.meta.url);
const MODEL = "/tests/golden/per_head.safetensors";
const [{ image, logits: want }] = golden("per_head");

/** The headers of all pages and files here. */
const OPEN = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*",
};
const policy = (value) => ({ "content-security-policy": value });
const HTML = "<!doctype html><title>No such page</title>";
/** The pages by path. Each of them is isolated. */
const PAGES = {
  "/": {},
  "/trusted": policy("require-trusted-types-for 'script'; trusted-types vitrine"),
  "/any-policy": policy("require-trusted-types-for 'script'"),
  "/default-policy": policy("require-trusted-types-for 'script'; trusted-types default"),
  "/no-policy": policy("require-trusted-types-for 'script'; trusted-types 'none'"),
  "/no-workers": policy("worker-src 'none'"),
  "/no-blobs": policy("worker-src 'self'"),
};
/** Files that are not in the repository, by path. */
const extraFiles = new Map();
/** The path of code without other files beside it. */
const BARE = "/bare/vit.js";

let home;
let cdn;
let browser;

async function answer({ url }, response) {
  const { pathname, searchParams } = new URL(url, "http://page");
  if (PAGES[pathname]) {
    return response.writeHead(200, { "content-type": "text/html", ...OPEN, ...PAGES[pathname] }).end(HTML);
  }
  // A server of a single-page app answers unknown paths with its page; another server says 404.
  const missing = pathname.startsWith("/page/") ? 200 : 404;
  const body = extraFiles.get(pathname) ?? (await readFile(new URL(`.${pathname}`, root)).catch(() => undefined));
  const type = body ? typeOf(pathname) : "text/html";
  if (body && searchParams.has("packed")) {
    const packed = gzipSync(body);
    const headers = { "content-type": type, "content-encoding": "gzip", "content-length": packed.length };
    return response.writeHead(200, { ...headers, ...OPEN }).end(packed);
  }
  response.writeHead(body ? 200 : missing, { "content-type": type, ...OPEN }).end(body ?? HTML);
}

before(async () => {
  if (skip) return;
  home = await openServer(answer);
  cdn = await openServer(answer);
  extraFiles.set(BARE, await readFile(new URL("dist/vit.js", root)));
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await Promise.all([home, cdn].map((server) => server?.close()));
});

/**
 * Loads the model in a page of its own and classifies an image. Returns
 * `{ logits, threads, variant, warned }` or `{ error, warned }`.
 *
 * @param code the address of vit.js, by default on the page's own server.
 * @param lacks names that are removed from the page's global object.
 */
async function attempt(options, { path = "/", code = `${home.address}/dist/vit.js`, model = MODEL, lacks = [], prepare } = {}) {
  const before = async (page) => {
    await prepare?.(page);
    await page.addInitScript((names) => names.forEach((name) => delete globalThis[name]), lacks);
  };
  const { page, close } = await visit(browser, { address: home.address + path, ready: false, before });
  try {
    return await page.evaluate(run, { code, options, model, image: [...image] });
  } finally {
    await close();
  }
}

async function run({ code, options, model, image }) {
  const warned = [];
  console.warn = (text) => warned.push(text);
  try {
    const { Vit } = code ? await import(code) : globalThis.vitrine;
    const vit = await Vit.load(model, options);
    const { logits } = await vit.classify(Float32Array.from(image));
    const { threads, variant } = vit;
    vit.dispose();
    return { logits: [...logits], threads, variant, warned, cores: navigator.hardwareConcurrency };
  } catch ({ code, message }) {
    return { error: `${code}: ${message}`, warned };
  }
}

/** Runs `work` in a new page of its own, after the classic `script`. */
async function inPage(work, argument, script) {
  const page = await browser.newPage();
  try {
    await page.goto(home.address);
    if (script) await page.addScriptTag({ url: home.address + script });
    return await page.evaluate(work, argument);
  } finally {
    await page.close();
  }
}

/** Checks that the logits are PyTorch's and that `wanted` threads ran, or all cores if fewer. */
function right({ error, logits, threads, warned, cores }, expectedThreads = 1) {
  assert.equal(error, undefined);
  assert.deepEqual(warned, []);
  assert.equal(threads, Math.min(expectedThreads, cores));
  const most = Math.max(...want.map(Math.abs));
  logits.forEach((value, at) => assert.ok(Math.abs(value - want[at]) < 1e-4 * most, `${at}: ${value}`));
}

const WAYS = [{ worker: true }, { threads: 2 }, { worker: true, threads: 2 }];

test("code of another origin runs in a worker and by several threads", { skip }, async () => {
  for (const way of WAYS) right(await attempt(way, { code: `${cdn.address}/dist/vit.js` }), way.threads);
});

test("the option wasm can name a folder of another origin with the modules and the worker", { skip }, async () => {
  const code = home.address + BARE;
  for (const way of WAYS) right(await attempt({ ...way, wasm: `${cdn.address}/dist/` }, { code }), way.threads);
  right(await attempt({ worker: true, wasm: "dist/" }, { code }));
});

test("the option wasm can name single files, and auto chooses among the named builds", { skip }, async () => {
  const code = home.address + BARE;
  const at = (name) => `${cdn.address}/dist/${name}`;
  const worker = at("worker.js");
  const one = { wasm: { simd128: at("vit.simd128.wasm"), worker } };
  const plain = await attempt({ ...one, worker: true }, { code });
  right(plain);
  assert.equal(plain.variant, "simd128");
  const slow = await attempt({ wasm: { scalar: at("vit.scalar.wasm") } }, { code });
  right(slow);
  assert.equal(slow.variant, "scalar");
  const both = { wasm: { "simd128-threads": at("vit.simd128-threads.wasm"), worker }, threads: 2 };
  right(await attempt(both, { code }), 2);
  const { warned } = await attempt({ ...one, threads: 2 }, { code });
  assert.match(warned.join(), /one thread in place of 2: the module given is a build for one/);
});

test("under Trusted Types workers start by the policy vitrine or by the page's default policy", { skip }, async () => {
  for (const path of ["/trusted", "/any-policy"]) {
    for (const server of [home, cdn]) {
      right(await attempt({ worker: true, threads: 2 }, { path, code: `${server.address}/dist/vit.js` }), 2);
    }
  }
  const prepare = (page) =>
    page.addInitScript(() => trustedTypes.createPolicy("default", { createScriptURL: (address) => address }));
  right(await attempt({ worker: true }, { path: "/default-policy", prepare }));
});

test("if Trusted Types forbid the policy vitrine, the error names it and one thread runs", { skip }, async () => {
  const { error } = await attempt({ worker: true }, { path: "/no-policy" });
  assert.match(error, /^worker_lost: .*trusted-types must allow vitrine; or load without worker/);
  const { threads, warned } = await attempt({ threads: 2 }, { path: "/no-policy" });
  assert.equal(threads, 1);
  assert.match(warned.join(), /one thread in place of 2: .*trusted-types must allow vitrine/);
});

const BROKEN = {
  "a policy without workers": [{}, { path: "/no-workers" }, /does worker-src allow/],
  "a policy without blobs": [{ cdn: true }, { path: "/no-blobs" }, /does worker-src allow .*as blob: where/],
  "no file": [{ wasm: { worker: "/none/worker.js" } }, {}, /none\/worker\.js.*is it a script\?.*copy them along.*optimizeDeps/],
  "an HTML page": [{ wasm: { worker: "/page/worker.js" } }, {}, /page\/worker\.js.*is it a script\?.*copy them along/],
  "no file of another origin": [{ elsewhere: "/none/worker.js" }, {}, /none\/worker\.js.*is it a script\?/],
};
for (const [what, [change, where, pattern]] of Object.entries(BROKEN)) {
  test(`${what} in place of a worker is an error that says what to do, and one thread runs`, { skip }, async () => {
    const { cdn: fromCdn, elsewhere, ...options } = change;
    if (elsewhere) options.wasm = { worker: cdn.address + elsewhere };
    const at = { ...where, ...(fromCdn && { code: `${cdn.address}/dist/vit.js` }) };
    const { error } = await attempt({ ...options, worker: true }, at);
    assert.match(error, /^worker_lost: /);
    assert.match(error, pattern);
    const alone = await attempt({ ...options, threads: 2 }, at);
    assert.equal(alone.threads, 1);
    assert.match(alone.warned.join(), pattern);
  });
}

const LACKING = {
  Worker: [/one thread in place of 2: this engine has no Worker$/, {}],
  SharedArrayBuffer: [/isolated, yet this engine has no SharedArrayBuffer$/, {}],
  SIMD: [
    /one thread in place of 2: this engine has no WebAssembly SIMD/,
    { prepare: (page) => page.addInitScript(() => (WebAssembly.validate = () => false)) },
  ],
};
for (const [name, [pattern, where]] of Object.entries(LACKING)) {
  test(`an isolated page without ${name} has one thread, and a warning says why`, { skip }, async () => {
    const { error, threads, warned, variant } = await attempt({ threads: 2 }, { lacks: [name], ...where });
    assert.equal(error, undefined);
    assert.equal(threads, 1);
    assert.match(warned.join("\n"), pattern);
    if (name === "SIMD") assert.equal(variant, "scalar");
  });
}

test("in a page without Worker the error says to load without a worker", { skip }, async () => {
  const { error } = await attempt({ worker: true }, { lacks: ["Worker"] });
  assert.equal(error, "worker_lost: this engine has no Worker; load without worker: true");
});

/** An engine whose clock gives a fused multiply-add `share` of a plain one's time. */
const engine = (share) => (page) =>
  page.addInitScript((share) => {
    let time = 0;
    performance.now = () => time;
    const { Instance } = WebAssembly;
    WebAssembly.Instance = new Proxy(Instance, {
      construct(_, args) {
        const { exports } = new Instance(...args);
        if (!exports.tile) return { exports };
        const tile = (fused) => (time += fused ? 0.01 * share : 0.01);
        return { exports: { check: () => 2, tile, tile_int8: () => (time += 0.01) } };
      },
    });
  }, share);

test("in the same engine later loads take the build that auto has measured", { skip }, async () => {
  const variant = async (share) => (await attempt({}, { prepare: engine(share) })).variant;
  const opened = () => visit(browser, { address: home.address, ready: false }); // while it is open, what is stored stays
  const first = await opened();
  assert.equal(await variant(3), "simd128");
  assert.equal(await variant(0.5), "simd128");
  await first.close();
  const second = await opened();
  assert.equal(await variant(0.5), "relaxed");
  assert.equal(await variant(3), "relaxed");
  await second.page.evaluate(() => {
    for (const key of Object.keys(localStorage)) localStorage[key] = `${localStorage[key]} and newer`;
  });
  assert.equal(await variant(3), "simd128"); // another engine's note is not used
  await second.close();
});

test("a build that does not load is replaced by another build", { skip }, async () => {
  const without = (share, ...names) => async (page) => {
    await engine(share)(page);
    for (const name of names) await page.route(`**/vit.${name}.wasm`, (route) => route.abort());
  };
  for (const [share, missingBuild, variant] of [[0.5, "relaxed", "simd128"], [3, "simd128", "relaxed"]]) {
    const got = await attempt({}, { prepare: without(share, missingBuild) });
    right(got);
    assert.equal(got.variant, variant);
  }
  const { error } = await attempt({}, { prepare: without(0.5, "relaxed", "simd128", "scalar") });
  assert.match(error, /^network: .*vit\.relaxed\.wasm.*; its files .*copy them along/);
});

test("the error of a missing module, or of HTML in its place, says which files belong where", { skip }, async () => {
  const none = await attempt({ wasm: "/none/" });
  assert.match(none.error, /^network: expected 200 OK from \S*\/none\/vit\.\w+\.wasm, got 404.*copy them along.*optimizeDeps/);
  const html = await attempt({ wasm: "/page/" });
  assert.match(html.error, /^bad_file: .*page\/vit\.\w+\.wasm, got an HTML page.*copy them along.*optimizeDeps/);
});

test("a bundle as a classic script says that it needs the option wasm, and runs with it", { skip }, async () => {
  const bundle = await rolldown({ input: fileURLToPath(new URL("dist/vit.js", root)), platform: "browser", onLog() {} });
  const { output } = await bundle.generate({ format: "iife", name: "vitrine", codeSplitting: false });
  extraFiles.set("/vitrine.js", Buffer.from(output[0].code));
  const classic = (options) => inPage(run, { options, model: MODEL, image: [...image] }, "/vitrine.js");
  for (const way of [{}, { worker: true }]) {
    assert.match((await classic(way)).error, /^bad_option: wasm: .*without import\.meta\.url.*wasm: "\/vitrine\/"/);
  }
  for (const way of [{}, ...WAYS]) right(await classic({ ...way, wasm: "/dist/" }), way.threads);
});

/** The code as Next builds it: what lies beside it is an object that is only a path. */
function pathOnly(code) {
  const own = function (path) {
    const url = new URL(path, "x:/");
    const only = { href: path, pathname: path, origin: "", protocol: "", toString: () => path, toJSON: () => path };
    for (const [key, value] of Object.entries(only)) Object.defineProperty(url, key, { value });
    return url;
  };
  return `const pathOnly = ${own};\n${code.replace(/new URL\("\.(\/[\w.-]+)", import\.meta\.url\)/g, 'pathOnly("/dist$1")')}`;
}

test("code whose files have addresses without an origin runs and trains, in workers and by several threads", { skip }, async () => {
  for (const name of ["vit", "train"]) {
    const code = pathOnly(String(await readFile(new URL(`dist/${name}.js`, root))));
    assert.ok(code.split('pathOnly("/dist').length > 5);
    extraFiles.set(`/paths/${name}.js`, code);
  }
  const code = `${home.address}/paths/vit.js`;
  for (const way of [{}, ...WAYS]) right(await attempt(way, { code }), way.threads);
  const trained = await inPage(async () => {
    const { Trainer } = await import("/paths/train.js");
    const model = { image_size: [4, 4], patch_size: [4, 4], channels: 1, width: 8, depth: 1, heads: 1, mlp_width: 8, classes: 2, labels: ["a", "b"] };
    const trainer = await Trainer.create({ recipe: { model, training: { batch: 2 } } }, { worker: true, threads: 2 });
    await trainer.add([new Float32Array(16), new Float32Array(16).fill(1)], ["a", "b"]);
    for await (const _ of trainer.run({ epochs: 1 }));
    const { threads } = trainer;
    const [{ label }] = (await (await trainer.vit()).classify(new Float32Array(16))).classes;
    return { threads: threads === Math.min(2, navigator.hardwareConcurrency), label };
  });
  assert.ok(trained.threads && ["a", "b"].includes(trained.label), JSON.stringify(trained));
});

test("a page that has Node's process but not Node's modules loads as a page", { skip }, async () => {
  for (const type of ["renderer", undefined]) {
    const prepare = (page) => page.addInitScript((type) => {
      globalThis.process = { type, versions: { node: "22.0.0", electron: "39.0.0" } };
    }, type);
    for (const way of type ? [{}, ...WAYS] : [{}, WAYS.at(-1)]) right(await attempt(way, { prepare }), way.threads);
  }
});

test("weights of another origin may be packed, though the page sees only the packed size", { skip }, async () => {
  for (const path of [MODEL, "/weights/digits-int8.safetensors"]) {
    const { error } = await attempt({}, { model: `${cdn.address}${path}?packed` });
    assert.equal(error, undefined);
  }
});

test("a sandboxed frame, which has no origin, runs a worker", { skip }, async () => {
  const message = await inPage(({ address, model }) => new Promise((resolve) => {
    addEventListener("message", ({ data }) => resolve(data));
    const frame = Object.assign(document.createElement("iframe"), { sandbox: "allow-scripts" });
    frame.srcdoc = `<script type="module">
      import { Vit } from "${address}/dist/vit.js";
      const load = async (code) => {
        const vit = await Vit.load("${address}${model}", { worker: true, ...code });
        return (await vit.classify(new Float32Array(784))).classes.length;
      };
      const none = load({ wasm: { worker: "${address}/none.js" } }).catch(({ code }) => code);
      parent.postMessage([origin, await load({}).catch(String), await none], "*");
    </script>`;
    document.body.append(frame);
  }), { address: home.address, model: MODEL });
  assert.deepEqual(message, ["null", 10, "worker_lost"]);
});

test("a service worker loads everything with vitrine/all, and without it the error says so", { skip }, async () => {
  for (const [name, entry] of [["/sw-all.js", "all"], ["/sw-bare.js", "vit"]]) {
    extraFiles.set(name, `import { Vit } from "/dist/${entry}.js";
      onmessage = async ({ data, ports: [port] }) => port.postMessage(
        await Vit.load(data).then(({ family }) => family, ({ code, message }) => code + ": " + message));`);
  }
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    await page.goto(home.address);
    const ask = (script, sources) => page.evaluate(async ({ script, sources }) => {
      const registration = await navigator.serviceWorker.register(script, { type: "module", scope: script });
      const worker = registration.installing ?? registration.waiting ?? registration.active;
      const replies = [];
      for (const source of sources) {
        const { port1, port2 } = new MessageChannel();
        worker.postMessage(source, [port2]);
        replies.push(await new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data))));
      }
      return replies;
    }, { script, sources });
    const config = { model_type: "vit", num_attention_heads: 2, hidden_act: "gelu", layer_norm_eps: 1e-12 };
    const sources = [
      MODEL, { weights: "/tests/golden/pickle/double.pt", config: { heads: 1 } },
      { weights: "/tests/golden/families/vit.safetensors", config },
    ];
    for (const family of await ask("/sw-all.js", sources)) assert.doesNotMatch(family, /: /);
    const bare = await ask("/sw-bare.js", sources);
    assert.equal(bare[0], "vitrine");
    assert.match(bare[1], /^network: expected pickle\.js .*import "vitrine\/all"/);
    assert.match(bare[2], /^network: expected foreign\.js .*import "vitrine\/all"/);
  } finally {
    await context.close();
  }
});

test("objects of a frame's realm are taken as the page's own", { skip }, async () => {
  const classCounts = await inPage(async (model) => {
    const { Vit } = await import("/dist/vit.js");
    const frame = document.body.appendChild(document.createElement("iframe")).contentWindow;
    const bytes = await (await fetch(model)).arrayBuffer();
    const image = new frame.Float32Array(784);
    const { signal } = new frame.AbortController();
    const module = await frame.WebAssembly.compile(await (await fetch("/dist/vit.simd128.wasm")).arrayBuffer());
    const file = new frame.File([bytes], "model.safetensors");
    const transfer = new frame.DataTransfer();
    transfer.items.add(file);
    const sources = {
      Response: await frame.fetch(model), Blob: new frame.Blob([bytes]), buffer: frame.Uint8Array.from(new Uint8Array(bytes)).buffer,
      URL: new frame.URL(model, location), Request: new frame.Request(model), list: frame.Array.of(file),
      FileList: transfer.files,
    };
    const classCounts = {};
    for (const [name, source] of Object.entries(sources)) {
      classCounts[name] = await Vit.load(source, { wasm: module, signal })
        .then((vit) => vit.classify(image, { signal })).then(({ classes }) => classes.length, String);
    }
    return classCounts;
  }, MODEL);
  for (const [name, classes] of Object.entries(classCounts)) assert.equal(classes, 10, name);
});
