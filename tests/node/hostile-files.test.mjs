// Hostile files, folders and streams: they are refused soon, take little memory, reach no other
// address and leave no file open.
import assert from "node:assert/strict";
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readlinkSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn, setTimeout as after } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Vit } from "../../dist/vit.js";
import { folderOf } from "./folder.mjs";
import { golden, modelBytes } from "./golden.mjs";
import { harmless, refused, soon, thrower, withHeader } from "./hostile.mjs";
import { headerBytes, splitFile } from "../../web/base/safetensors.mjs";
import { file, openServer, serve } from "./server.mjs";
import { load } from "./support.mjs";

const MiB = 2 ** 20;
const name = "per_head";
const weights = modelBytes(name);
const [{ image }] = golden(name);
const json = (value) => Buffer.from(JSON.stringify(value));
const INDEX = "model.safetensors.index.json";
const FILE_CODES = ["bad_file", "bad_config", "bad_tensor", "no_memory"];

// ---- Time and memory ------------------------------------------------------------

/** Large enough that a number of steps by the square of it takes a minute. */
const SIZE = 3e5;

/** A text of about `size` bytes. */
const filled = (size, start, part, end = "") => start + part.repeat(size / part.length) + end;
const HEADERS = {
  "places without a comma": (size) => filled(size, "{", '"data_offsets":[0 '),
  "places of blanks": (size) => filled(size, '{"data_offsets":[0,', " "),
  "names of places": (size) => filled(size, "{", '"data_offsets"'),
  "one long number": (size) => filled(size, '{"data_offsets":[', "1"),
  "a long number of places": (size) => filled(size, '{"data_offsets":[0,', "9"),
  "types": (size) => filled(size, "{", '"dtype" : '),
  "a type of blanks": (size) => filled(size, '{"dtype"', "\n"),
  "opened lists": (size) => filled(size, "", "["),
  "opened objects": (size) => filled(size, "", '{"":'),
  "closed lists": (size) => filled(size, '{"a":[', "[],", "[]]}"),
  "closed objects": (size) => filled(size, '{"a":[', "{},", "{}]}"),
  "members without a tensor": (size) => filled(size, "{", '"a":1,', '"a":1}'),
  "more values than tensors have": (size) => filled(size, '{"a":[', "0,", "0]}"),
  "quotes": (size) => filled(size, "{", '"'),
  "backslashes": (size) => filled(size, '{"', "\\\\"),
  "commas": (size) => filled(size, "{", ","),
  "a name of dots": (size) => filled(size, '{"', ".", '":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'),
  "a BOM and zeros": (size) => filled(size, "\ufeff", "\0"),
};

for (const [what, text] of Object.entries(HEADERS)) {
  test(`a header of ${what} is refused early, however it is read`, async () => {
    const bytes = withHeader(text(SIZE));
    const index = new File([json({ weight_map: { "norm.weight": "a.safetensors" } })], INDEX);
    const prepare = { kind: "digit" };
    await soon(what, async () => {
      await refused("of known size", () => Vit.load(bytes), FILE_CODES);
      await refused("of unknown size", () => Vit.load(new Response(bytes)), FILE_CODES);
      await refused("with a prepare", () => Vit.load({ weights: bytes, prepare }), FILE_CODES);
      await refused("as one of several", () => Vit.load([index, new File([bytes], "a.safetensors")]), FILE_CODES);
      await refused("as a config", () => Vit.load({ weights, config: text(SIZE) }));
      await refused("as a folder's config", () => Vit.load([new File([weights], "m.safetensors"), new File([text(SIZE)], "config.json")]), FILE_CODES);
      await refused("as an index", () => Vit.load([new File([text(SIZE)], INDEX)]), FILE_CODES);
    }, 1.2);
  });
}

/** A stream that never ends and counts the bytes that were read. `onPiece` is called for each piece. */
function endless(piece, start = new Uint8Array(0), onPiece = () => {}) {
  const stream = new ReadableStream({
    start: (controller) => start.length > 0 && controller.enqueue(start),
    pull: async (controller) => {
      await turn();
      endless.bytes += piece.length;
      controller.enqueue(piece.slice());
      onPiece();
    },
  }, { highWaterMark: 0 });
  endless.bytes = 0;
  return stream;
}

test("a file without end is refused where its model should end", async () => {
  const zeros = new Uint8Array(2 ** 16);
  await refused("zeros", () => Vit.load(new Response(endless(zeros))), "bad_file");
  assert.ok(endless.bytes < 8 * MiB, `${endless.bytes} bytes were read`);
  await refused("a config", () => Vit.load({ weights, config: new Response(endless(zeros.map(() => 32))) }), "bad_file", /at most 8388608 bytes/);
  assert.ok(endless.bytes < 10 * MiB, `${endless.bytes} bytes were read`);
  await refused("a module", () => Vit.load(weights, { wasm: new Response(endless(new Uint8Array(2 ** 20))) }), "bad_file", /at most/);
  assert.ok(endless.bytes < 72 * MiB, `${endless.bytes} bytes were read`);
});

test("a header's announced length takes no memory before the bytes arrive", async () => {
  const start = Buffer.alloc(20, " ");
  start.writeBigUInt64LE(99_000_000n);
  const controller = new AbortController();
  const before = process.memoryUsage().arrayBuffers;
  let pieces = 0, more;
  const loading = Vit.load(new Response(endless(new Uint8Array(16), start, () => {
    if (++pieces < 300) return;
    more = process.memoryUsage().arrayBuffers - before;
    controller.abort(new Error("enough"));
  })), { signal: controller.signal });
  await assert.rejects(loading, /enough/);
  assert.ok(more < 20 * MiB, `${more} bytes more`);
  for (const length of [2n ** 53n, 2n ** 63n, 2n ** 64n - 1n, 100_000_001n]) {
    start.writeBigUInt64LE(length);
    await refused(`a length of ${length}`, () => Vit.load(start), "bad_file");
    await refused(`a length of ${length}`, () => Vit.load(new Response(start)), "bad_file");
  }
});

test("reading ahead in pieces of one byte is limited", async () => {
  let pulled = 0;
  const pull = (controller) => (++pulled < 4000 ? controller.enqueue(Uint8Array.of(1)) : new Promise(() => {}));
  const slow = new ReadableStream({ pull }, { highWaterMark: 0 });
  const never = new Response(new ReadableStream({}));
  const controller = new AbortController();
  const loading = Vit.load({ weights: new Response(slow), config: never }, { signal: controller.signal });
  for (let before = -1; pulled > before; ) {
    before = pulled;
    for (let turns = 0; turns < 200; turns++) await turn();
  }
  controller.abort(new Error("enough"));
  await assert.rejects(loading, /enough/);
  assert.ok(pulled > 10 && pulled < 4000, `${pulled} pieces`);
});

test("an index with very many files is refused before the first request, and one with many tensors is read soon", async (t) => {
  const requests = [];
  const index = (count, files) => json({ weight_map: Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, `s${i % files}.safetensors`])) });
  let body;
  const at = await serve(t, (request, response) => {
    requests.push(request.url);
    if (request.url === `/m/${INDEX}`) response.end(body);
    else response.writeHead(404).end();
  });
  const url = at("/m/");
  body = index(10_000, 10_000);
  await refused("10,000 files", () => Vit.load(url), "bad_file", /at most 256 files, got 10000/);
  const names = ["config.json", INDEX, "preprocessor_config.json", "processor_config.json"];
  assert.deepEqual(requests.sort(), names.map((name) => `/m/${name}`).sort());
  const small = Array.from({ length: 200 }, (_, i) => new File([withHeader(`{"u${i}":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, [0, 0, 0, 0])], `s${i}.safetensors`));
  const files = [new File([index(150_000, 200)], INDEX), ...small];
  await soon("150,000 tensors in 200 files", () => refused("tensors", () => Vit.load(files), "bad_tensor", /as the index says, got none/));
});

test("several files together are read no further ahead than a single file", async () => {
  let pulled = 0;
  const lazy = (name, start) => {
    const blob = new File([], name);
    const size = 40 * MiB;
    const stream = () => {
      let at = 0;
      return new ReadableStream({ pull: (controller) => {
        const piece = new Uint8Array(2 ** 16);
        if (at === 0) piece.set(start);
        at += piece.length;
        pulled += piece.length;
        controller.enqueue(piece);
        if (at >= size) controller.close();
      } }, { highWaterMark: 0 });
    };
    return Object.defineProperties(blob, { size: { value: size }, stream: { value: stream } });
  };
  const names = Array.from({ length: 64 }, (_, i) => `s${i}.safetensors`);
  const shards = names.map((name, i) => lazy(name, withHeader(`{"t${i}":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`)));
  const index = new File([json({ weight_map: Object.fromEntries(names.map((name, i) => [`t${i}`, name])) })], INDEX);
  await refused("64 files of 40 MB", () => Vit.load([index, ...shards]), FILE_CODES);
  assert.ok(pulled <= 24 * MiB, `${pulled} bytes`);
});

// ---- Streams --------------------------------------------------------------------

test("a stream of anything but bytes is refused by every reader", async () => {
  const of = (...pieces) => new ReadableStream({ start: (controller) => (pieces.forEach((piece) => controller.enqueue(piece)), controller.close()) });
  const streams = {
    "strings": () => of("some", "text"),
    "a string after bytes": () => of(weights.subarray(0, 500), "text"),
    "nothing": () => of(undefined, null),
    "objects": () => of({ length: 3 }, { get length() { return thrower(); } }),
    "Symbols": () => of(Symbol()),
    "numbers": () => of(1, 2, 3),
    "other arrays": () => of(new Uint16Array(9), new Float32Array(9)),
    "buffers": () => of(new ArrayBuffer(9)),
    "what calls itself bytes": () => of(Object.setPrototypeOf({ length: 9 }, Uint8Array.prototype)),
    "empty pieces": () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(0)) }),
    "an error that is none": () => new ReadableStream({ start: (controller) => controller.error(Object.create(null)) }),
    "an error of nothing": () => new ReadableStream({ start: (controller) => controller.error(undefined) }),
    "an error later": () => new ReadableStream({ pull: (controller) => { controller.enqueue(weights.slice(0, 99)); controller.error(Symbol()); } }),
  };
  for (const [what, stream] of Object.entries(streams)) {
    const blob = () => Object.defineProperties(new File([], "model.safetensors"), { stream: { value: stream }, size: { value: weights.length } });
    for (const worker of [false, true]) {
      await refused(`a response of ${what}`, () => Vit.load(new Response(stream()), { worker }));
      await refused(`a blob of ${what}`, () => Vit.load(blob(), { worker }));
    }
    await refused(`files of ${what}`, () => Vit.load([blob()]));
    await refused(`a config of ${what}`, () => Vit.load({ weights, config: new Response(stream()) }));
    await refused(`a module of ${what}`, () => Vit.load(weights, { wasm: new Response(stream()) }));
  }
  for (const stream of [() => 5, () => null, thrower, () => ({ getReader: thrower }), () => ({ getReader: () => ({ read: thrower, cancel: thrower }) })]) {
    const blob = Object.defineProperty(new Blob([weights]), "stream", { value: stream });
    await refused("a blob's stream that is none", () => Vit.load(blob));
  }
  for (const size of ["many", NaN, -1, 1.5, 2 ** 60, {}, null]) {
    const blob = Object.defineProperty(new Blob([weights]), "size", { value: size });
    await harmless(`a blob of size ${size}`, async () => (await Vit.load(blob)).dispose());
  }
});

test("a stream may share, grow and reuse the memory of its pieces", async () => {
  const want = (await (await load(weights)).classify(image)).logits;
  const around = (Memory, options) => new ReadableStream({ start: (controller) => {
    const piece = new Uint8Array(new Memory(weights.length, options));
    piece.set(weights);
    controller.enqueue(piece);
    controller.close();
  } });
  for (const worker of [false, true]) {
    for (const stream of [around(SharedArrayBuffer), around(ArrayBuffer, { maxByteLength: 2 * weights.length })]) {
      assert.deepEqual((await (await load(new Response(stream), { worker })).classify(image)).logits, want);
    }
    const mine = new Uint8Array(weights);
    const stream = new ReadableStream({ start: (controller) => (controller.enqueue(mine), controller.close()) });
    await load(new Response(stream), { worker });
    assert.equal(mine.length, weights.length, "the caller's memory is not sent away");
  }
});

test("false headers of a server do no harm", async (t) => {
  const odd = ["-5", "1e3", "0x10", "Infinity", "NaN", "12, 12", "99999999999999999999", "1.5", ""];
  for (const value of odd) {
    const response = () => new Response(weights, { headers: { "content-length": value } });
    assert.ok(await load(response()), value);
  }
  const long = "application/wasm" + " ".repeat(2000) + "x";
  const url = await serve(t, { "/long": (response) => response.writeHead(200, { "content-type": long }).end("x") });
  await refused("a long type", () => Vit.load(weights, { wasm: url("/long") }), "bad_wasm");
});

// ---- Configs --------------------------------------------------------------------

test("every config is read or refused with a VitError", async () => {
  const values = [
    null, true, 0, -1, 1.5, 1e308, "", "x", "x".repeat(1e5), [], {}, [[]], [null], [1, 2, 3], ["a", {}], { toString: 1, valueOf: 1 },
    { length: 1e9 }, JSON.parse('{"__proto__":{"x":1}}'), { 0: {}, 1: null }, { 0: "a", 5: "b" }, { shortest_edge: {} },
  ];
  const theirs = { model_type: "vit", image_size: 28, patch_size: 7, num_channels: 1, num_attention_heads: 2 };
  const transformers = [...Object.keys(theirs), "architectures", "id2label", "hidden_act", "vision_config", "layer_norm_eps", "use_swiglu_ffn", "hidden_size"];
  const timm = ["architecture", "global_pool", "pretrained_cfg", "label_names", "num_classes"];
  const ours = ["labels", "prepare", "stem", "prefix", "image_size", "temperature", "norm", "position", "__proto__", "constructor", "toString"];
  const attempt = (what, config) => harmless(what, async () => (await Vit.load({ weights, config })).dispose());
  for (const value of values) {
    const excerpt = JSON.stringify(value).slice(0, 40);
    for (const key of transformers) {
      const architectures = ["ViTForImageClassification"];
      await attempt(`${key}: ${excerpt}`, JSON.stringify({ ...theirs, architectures, [key]: value }));
    }
    for (const key of timm) await attempt(`${key}: ${excerpt}`, JSON.stringify({ architecture: "vit", [key]: value }));
    for (const key of ours) await attempt(`${key}: ${excerpt}`, `{"heads":2,"${key}":${JSON.stringify(value)}}`);
    for (const key of ["resample", "size", "crop_size", "do_center_crop", "image_mean", "image_std", "do_normalize"]) {
      const files = [new File([weights], "model.safetensors"), new File([JSON.stringify({ [key]: value })], "preprocessor_config.json")];
      await harmless(`${key}: ${excerpt}`, async () => (await Vit.load(files)).dispose());
    }
    for (const key of ["weight_map", "metadata"]) {
      await refused(`${key}: ${excerpt}`, () => Vit.load([new File([json({ [key]: value })], INDEX)]), FILE_CODES);
    }
    const header = JSON.stringify({ __metadata__: value, "norm.weight": value, "norm.bias": { dtype: "F32", shape: [1], data_offsets: value } });
    const index = new File([json({ weight_map: { "norm.weight": "a.safetensors" } })], INDEX);
    await refused(`a header of ${excerpt}`, () => Vit.load(withHeader(header)), FILE_CODES);
    await refused(`with a prepare ${excerpt}`, () => Vit.load({ weights: withHeader(header), prepare: { kind: "digit" } }), FILE_CODES);
    await refused(`one of several with ${excerpt}`, () => Vit.load([index, new File([withHeader(header)], "a.safetensors")]), FILE_CODES);
  }
  for (const label of [{}, [], null, true, { toString: 1 }]) {
    const config = { ...theirs, architectures: ["ViTForImageClassification"], id2label: { 0: label } };
    await refused("labels of no strings", () => Vit.load({ weights, config }), "bad_config", /id2label: expected an object of strings/);
  }
  const symbols = { ...theirs, architectures: ["ViTForImageClassification"], id2label: { 0: Symbol("a") } };
  await refused("labels of Symbols", () => Vit.load({ weights, config: symbols }), ["bad_config", "bad_tensor"]);
});

// ---- Addresses ------------------------------------------------------------------

const ELSEWHERE = (port) => [
  `http:127.0.0.1:${port}/x.safetensors`, `http://127.0.0.1:${port}/x.safetensors`, `//127.0.0.1:${port}/x.safetensors`,
  `\\\\127.0.0.1:${port}\\x.safetensors`, `/\\127.0.0.1:${port}/x.safetensors`, `ht\ntp://127.0.0.1:${port}/x.safetensors`,
  `\thttp:127.0.0.1:${port}/x.safetensors`, ` http:127.0.0.1:${port}/x.safetensors`, `\u0001http:127.0.0.1:${port}/x.safetensors`,
  `h\tttp:127.0.0.1:${port}%2fx.safetensors`, `HTTP:127.0.0.1:${port}`, `http:127.0.0.1:${port}`, `ftp:x.safetensors`, `ws:127.0.0.1:${port}/x.safetensors`,
  "..", ".", "", " ", "../x.safetensors", "..\\x.safetensors", "%2e%2e/x.safetensors", "%2e%2e%2fx.safetensors", "%2E%2E%5Cx.safetensors",
  ".%2e/x.safetensors", "%252e%252e%252fx.safetensors", "a/../../x.safetensors", "model.safetensors/../../x.safetensors", "./x.safetensors", "/x.safetensors", "/etc/passwd",
  "x.safetensors?y", "?x.safetensors", "#x.safetensors", "x#.safetensors", "x?y=.safetensors", "x.safetensors\0", "x\0.safetensors", "x.safetensors\n", "x.safetensors ", "x.safetensors.",
  "data:application/octet-stream,x.safetensors", "blob:null/x.safetensors", "file:///etc/passwd", "file:x.safetensors", "C:x.safetensors", "C:\\x.safetensors", "\\\\?\\C:\\x.safetensors",
  "javascript:x.safetensors", "~/x.safetensors", ".x.safetensors", "x.safetensors:stream", "x:y.safetensors", "\u202ex.safetensors", "x\ud800.safetensors", "config.json", "x", "NUL",
  "\uff0e\uff0e\uff0fx.safetensors", "x\u2028.safetensors", 7, null, {}, ["x.safetensors"], true, { toString: 1 },
];

test("a shard's name in an index reaches no file outside the folder, by address, path or files", async (t) => {
  const elsewhere = [];
  const evil = await openServer((request, response) => (elsewhere.push(request.url), response.end(weights)));
  t.after(evil.close);
  const requests = new Set();
  let index;
  const at = await serve(t, (request, response) => {
    requests.add(request.url);
    if (request.url.startsWith(`/m/${INDEX}`)) response.end(index);
    else if (/\.json|\/\?/.test(request.url)) response.writeHead(404).end();
    else response.end(weights);
  });
  const url = at("/m/");
  const folder = folderOf(t, { "x.safetensors": weights });
  const inner = join(folder, "inner");
  mkdirSync(inner);
  mkdirSync(join(inner, "model.safetensors"));
  for (const name of ELSEWHERE(evil.port)) {
    index = json({ weight_map: { "norm.weight": name } });
    writeFileSync(join(inner, INDEX), index);
    const files = [new File([index], INDEX), new File([weights], "x.safetensors")];
    for (const place of [url, `${url}?key=1`, new URL(url), inner, `${inner}/`, pathToFileURL(inner), files]) {
      const what = `${JSON.stringify(name)} in ${place}`;
      await refused(what, () => Vit.load(place), "bad_file", /index\.json: expected the file ".*" to be beside it/s);
    }
  }
  assert.deepEqual(elsewhere, []);
  for (const path of requests) assert.match(path, /^\/m\/(config|preprocessor_config|processor_config|model\.safetensors\.index)\.json(\?key=1)?$|^\/m\/\?key=1$/);
  index = json({ weight_map: { "norm.weight": "model.safetensors" } });
  writeFileSync(join(inner, INDEX), index);
  await refused("a directory", () => Vit.load(inner), "bad_file");
});

test("a shard with a plain name in any language is found beside the index, also through a link", async (t) => {
  const odd = "Gewichte ä (1)+ñ=2,5 @ 文-00001.safetensors";
  const tensors = Object.keys(splitFile(weights).header).filter((key) => key !== "__metadata__");
  const index = json({ weight_map: Object.fromEntries(tensors.map((tensor) => [tensor, odd])) });
  const config = json((await load(weights)).config);
  const url = await serve(t, {
    [`/m/${INDEX}`]: file(index), "/m/config.json": file(config), [`/m/${encodeURIComponent(odd)}`]: file(weights),
  });
  const elsewhere = folderOf(t, { "real.safetensors": weights });
  const folder = folderOf(t, { [INDEX]: index, "config.json": config });
  symlinkSync(join(elsewhere, "real.safetensors"), join(folder, odd));
  const want = (await (await load(weights)).classify(image)).logits;
  for (const place of [url("/m/"), folder, pathToFileURL(`${folder}/`)]) {
    assert.deepEqual((await (await load(place)).classify(image)).logits, want);
  }
});

test("a folder's address that can have no files beside it is refused", async () => {
  for (const place of ["data:text/plain,x/", "blob:null/", "mailto:a/", "about:blank/", "http:///", new URL("data:,x/"), "a\0b/", "", "/", "http://"]) {
    await refused(String(place), () => Vit.load(place));
  }
});

// ---- Open files -----------------------------------------------------------------

const PROC = "/proc/self/fd";
const openOnes = (path) => readdirSync(PROC).filter((fd) => {
  try {
    return readlinkSync(join(PROC, fd)).startsWith(path);
  } catch {
    return false; // the descriptor that lists the others
  }
});

test("no failed or aborted load leaves a file open", { skip: process.platform !== "linux" && "needs /proc" }, async (t) => {
  const folder = folderOf(t, { "good.safetensors": weights, "bad.safetensors": Buffer.alloc(3e6, 1) });
  const large = join(folder, "large.safetensors");
  const fd = openSync(large, "w");
  writeSync(fd, headerBytes(splitFile(weights).header));
  ftruncateSync(fd, 3e8);
  closeSync(fd);
  const several = join(folder, "several");
  mkdirSync(several);
  for (const name of ["a", "b"]) symlinkSync(large, join(several, `${name}.safetensors`));
  writeFileSync(join(several, INDEX), json({ weight_map: { x: "a.safetensors", y: "b.safetensors" } }));
  const path = join(folder, "good.safetensors");
  const bad = join(folder, "bad.safetensors");
  const onProgress = () => { throw new Error("mine"); };
  const failures = [
    () => Vit.load(bad), () => Vit.load(large), () => Vit.load(several), () => Vit.load(folder), () => Vit.load(large, { wasm: bad }),
    () => Vit.load({ weights: large, config: "{" }), () => Vit.load({ weights: large, config: bad }), () => Vit.load(large, { wasm: Uint8Array.of(1) }),
    () => Vit.load({ weights: large, config: large }), () => Vit.load(path, { variant: "scalar", wasm: large }),
    () => Vit.load(large, { worker: true }), () => Vit.load(path, { onProgress }), () => Vit.load(large, { onProgress, worker: true }),
  ];
  for (const fail of failures) await assert.rejects(fail);
  const never = () => new Response(new ReadableStream({}));
  for (const worker of [false, true]) {
    for (const delay of [undefined, 0, 0, 1, 2, 5, 10, 20]) {
      for (const source of [path, large, several, pathToFileURL(path), { weights: large, config: never() }]) {
        const controller = new AbortController();
        const loading = Vit.load(source, { worker, signal: controller.signal });
        if (delay === undefined) controller.abort(new Error("enough"));
        else setTimeout(() => controller.abort(new Error("enough")), delay);
        await loading.then((vit) => vit.dispose(), () => {});
      }
    }
  }
  for (let waited = 0; openOnes(folder).length > 0 && waited < 600; waited++) await after(50);
  assert.deepEqual(openOnes(folder).map((one) => readlinkSync(join(PROC, one))), []);
});
