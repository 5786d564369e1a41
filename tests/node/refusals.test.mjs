// A checkpoint that cannot run is refused by name as early as possible. The header shows a file
// that is too large, of another kind or against its config. A NaN is refused when it arrives. These
// files are made while they are read, so that the tests can count the bytes that were read.
import assert from "node:assert/strict";
import { once } from "node:events";
import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { headerBytes, headerOf } from "../../web/base/safetensors.mjs";
import { folderOf } from "./folder.mjs";
import { modelBytes, rewritten } from "./golden.mjs";
import { file, serve } from "./server.mjs";
import { load, rejects } from "./support.mjs";

const MiB = 2 ** 20;
const PIECE = 2 ** 16;
/** The most bytes read before a refusal: the read-ahead of web/load/source.ts, and some more. */
const FEW = 6 * MiB;
const BYTES = { F32: 4, F16: 2, BF16: 2, I8: 1, I64: 8 };

/** The first bytes and the size of a file with these tensors: [name, dtype, shape]. */
function startOf(tensors, config) {
  const all = tensors.map(([name, dtype, shape]) => [name, { dtype, shape, size: shape.reduce((a, b) => a * b, BYTES[dtype]) }]);
  const header = headerOf(all, config && { vitrine: JSON.stringify(config) });
  const start = headerBytes(header);
  return { start, size: all.reduce((sum, [, { size }]) => sum + size, start.length), header };
}

/** A ViT's tensors in timm's form. */
function vitOf({ width: D, depth, mlp_width: M = 4 * D, classes: K = 1000 }, dtype = "F32") {
  const linear = (name, rows, columns) => [
    ...(dtype === "I8" && name.startsWith("blocks.") ? [[`${name}.weight.scale`, "F32", [rows]]] : []),
    [`${name}.weight`, dtype === "I8" && !name.startsWith("blocks.") ? "F32" : dtype, [rows, columns].flat()],
    [`${name}.bias`, dtype === "I8" ? "F32" : dtype, [rows]],
  ];
  const floats = dtype === "I8" ? "F32" : dtype;
  const norm = (name) => [[`${name}.weight`, floats, [D]], [`${name}.bias`, floats, [D]]];
  return [
    ["cls_token", floats, [1, 1, D]], ["pos_embed", floats, [1, 197, D]],
    ...linear("patch_embed.proj", D, [3, 16, 16]),
    ...Array.from({ length: depth }, (_, block) => [
      ...norm(`blocks.${block}.norm1`), ...linear(`blocks.${block}.attn.qkv`, 3 * D, D),
      ...linear(`blocks.${block}.attn.proj`, D, D), ...norm(`blocks.${block}.norm2`),
      ...linear(`blocks.${block}.mlp.fc1`, M, D), ...linear(`blocks.${block}.mlp.fc2`, D, M),
    ]).flat(),
    ...norm("norm"), ...linear("head", K, D),
  ];
}
const BASE = { width: 768, depth: 12 }; // 346 MB

/** A file as a stream: its start, then zeros. `pulled` counts the bytes that were read. */
class Lazy {
  pulled = 0;
  constructor({ start, size }, spots = []) {
    this.start = start;
    this.size = size;
    this.spots = spots; // [place in the file, bytes]
  }
  #piece(at) {
    const piece = new Uint8Array(Math.min(PIECE, this.size - at));
    for (const [place, bytes] of [[0, this.start], ...this.spots]) {
      for (let i = Math.max(0, at - place); i < bytes.length && place + i < at + piece.length; i++) {
        piece[place + i - at] = bytes[i];
      }
    }
    return piece;
  }
  stream() {
    let at = 0;
    return new ReadableStream({
      pull: (controller) => {
        if (at >= this.size) return controller.close();
        const piece = this.#piece(at);
        this.pulled += piece.length;
        at += piece.length;
        controller.enqueue(piece);
      },
    }, { highWaterMark: 0 });
  }
  response(headers = { "content-length": this.size }) {
    return new Response(this.stream(), { headers });
  }
  blob(name = "model.safetensors") {
    const blob = new File([], name);
    Object.defineProperties(blob, { size: { value: this.size }, stream: { value: () => this.stream() } });
    return blob;
  }
}

/** Waits until a server's answer takes more bytes or is closed. */
async function drained(response) {
  const over = new AbortController();
  const events = ["drain", "close"].map((event) => once(response, event, { signal: over.signal }));
  await Promise.race(events);
  over.abort();
  await Promise.allSettled(events);
}

/** Each way to give such a file to load, with and without a worker. */
const WAYS = {
  "a response": (lazy) => lazy.response(),
  "one of unknown size": (lazy) => lazy.response({}),
  "a blob": (lazy) => lazy.blob(),
  "a list of files": (lazy) => [lazy.blob()],
};
const ALL = Object.keys(WAYS).flatMap((way) => [false, true].map((worker) => [way, worker]));
const ONE = [["a response", false]];
const TWO = [["one of unknown size", false], ["a blob", true]];

/** Checks that a file is refused after a few of its bytes. */
async function early(header, code, message, { config, spots, few = FEW, ways = ONE } = {}) {
  for (const [way, worker] of ways) {
    const lazy = new Lazy(header, spots);
    const weights = WAYS[way](lazy);
    await rejects(() => Vit.load(config ? { weights, config } : weights, { worker }), code, message);
    const most = few + (worker ? 4 * MiB : 0); // bytes on their way to the worker
    assert.ok(lazy.pulled <= most, `${way}, worker: ${worker}: ${lazy.pulled} bytes of ${lazy.size}`);
  }
}

// ---- Too large ----------------------------------------------------------------

const HUGE = startOf([["blocks.0.attn.qkv.weight", "F32", [36864, 30720]]]);
const TOO_LARGE = /expected 4320\.0 MiB of WebAssembly memory for the weights, got none; use something smaller/;

test("a file of more than 4 GB is refused before it is read, from every source", async (t) => {
  assert.ok(HUGE.size > 4.5e9);
  await early(HUGE, "no_memory", TOO_LARGE, { ways: ALL });
  let written = 0;
  const piece = new Uint8Array(PIECE);
  const url = await serve(t, {
    "/model.safetensors": async (response) => {
      response.writeHead(200, { "content-length": HUGE.size }).write(HUGE.start);
      while (!response.destroyed) {
        written += PIECE;
        if (!response.write(piece)) await drained(response);
      }
    },
  });
  for (const source of [url("/model.safetensors"), url("/")]) {
    written = 0;
    await rejects(() => Vit.load(source), "no_memory", TOO_LARGE);
    assert.ok(written < 32 * MiB, `the server wrote ${written} bytes`); // sockets buffer some of them
  }
});

test("a file of more than 4 GB on disk, and several files that together are larger, are refused before they are read", async (t) => {
  const folder = folderOf(t);
  const path = join(folder, "model.safetensors");
  const sparse = openSync(path, "w");
  writeSync(sparse, HUGE.start);
  ftruncateSync(sparse, HUGE.size);
  closeSync(sparse);
  for (const source of [path, folder, `${folder}/`]) {
    const reports = [];
    const onProgress = (loaded) => reports.push(loaded);
    await rejects(() => Vit.load(source, { onProgress }), "no_memory", TOO_LARGE);
    assert.ok((reports.at(-1) ?? 0) <= FEW, `${reports.at(-1)} bytes were read`);
  }
  const parts = ["qkv", "proj"].map((name) => new Lazy(startOf([[`blocks.0.attn.${name}.weight`, "F32", [24576, 30720]]])));
  const weight_map = { "blocks.0.attn.qkv.weight": "a.safetensors", "blocks.0.attn.proj.weight": "b.safetensors" };
  const index = new File([JSON.stringify({ weight_map })], "model.safetensors.index.json");
  const files = [index, parts[0].blob("a.safetensors"), parts[1].blob("b.safetensors")];
  await rejects(() => Vit.load(files), "no_memory", /expected 5760\.0 MiB/);
  for (const { pulled } of parts) assert.ok(pulled <= 2 * FEW, `${pulled} bytes were read`);
});

test("a file of half floats that is too large once they are floats is refused before it is read", async () => {
  const header = startOf(vitOf({ width: 4096, depth: 8 }, "F16"));
  assert.ok(header.size < 4e9);
  await early(header, "no_memory", /width 4096 and depth 8 does not fit in memory/, { ways: TWO });
});

test("a header that claims more data than the file has is refused", async () => {
  const short = { ...HUGE, size: 50 * MiB };
  const lazy = new Lazy(short);
  await rejects(() => Vit.load(lazy.blob("model.safetensors")), "bad_tensor", /blocks\.0\.attn\.qkv\.weight/);
  assert.ok(lazy.pulled <= FEW);
});

// ---- Of another kind ----------------------------------------------------------

const RESNET = [
  ["conv1.weight", "F32", [64, 3, 7, 7]], ["bn1.weight", "F32", [64]], ["bn1.num_batches_tracked", "I64", []],
  ["layer1.0.conv1.weight", "F32", [64, 64, 1, 1]], ["layer1.0.bn1.running_mean", "F32", [64]],
  ["layer4.2.conv2.weight", "F32", [2048, 2048, 3, 3]], ["fc.weight", "F32", [1000, 2048]],
];
const BERT = [
  ["bert.embeddings.position_ids", "I64", [1, 512]],
  ["bert.embeddings.word_embeddings.weight", "F32", [30522, 768]],
  ["bert.encoder.layer.0.attention.self.query.weight", "F32", [768, 768]],
  ["bert.encoder.layer.0.attention.output.dense.weight", "F32", [768, 768]],
  ["bert.encoder.layer.0.intermediate.dense.weight", "F32", [3072, 768]],
  ["bert.encoder.layer.0.output.dense.weight", "F32", [768, 3072]],
];

test("a ResNet and a BERT are refused by their headers, with the closest family's name", async () => {
  await early(startOf(RESNET), "bad_tensor",
    /expected a Vision Transformer's first block, such as "blocks\.0\.attn\.qkv\.weight" of timm.*got tensors such as "bn1/,
    { ways: ALL });
  await early(startOf(BERT), "bad_tensor",
    /"encoder\.layer\.0\.attention\.attention\.query\.weight" of transformers' ViT.*got tensors such as "bert\./, { ways: TWO });
  const config = { model_type: "bert", hidden_size: 768, num_attention_heads: 12 };
  await early(startOf(BERT), "bad_config",
    /model_type: bert is not known here; known are vit, deit/, { config });
});

test("integer tensors are ignored if their family has them, and refused as weights", async () => {
  const heads = { config: { heads: 2 } };
  const bytes = modelBytes("families/clip");
  const weights = rewritten(bytes, (tensors) => {
    tensors["vision_model.embeddings.position_ids"] = { dtype: "I64", shape: [1, 10], data: Buffer.alloc(80, 7) };
  });
  const [ours, theirs] = [await load({ weights, ...heads }), await load({ weights: bytes, ...heads })];
  const image = Float32Array.from({ length: 3 * 12 * 12 }, (_, index) => Math.sin(index));
  assert.deepEqual((await ours.classify(image)).logits, (await theirs.classify(image)).logits);
  const counted = vitOf(BASE).map(([name, ...rest]) => (name === "norm.bias" ? [name, "I64", [768]] : [name, ...rest]));
  await early(startOf(counted), "bad_tensor", /"norm\.bias": expected dtype F64, F32, F16, BF16 or I8, got I64/);
});

test("numbers of 64 bits are read, and counters that training code stores are skipped", async () => {
  const image = Float32Array.from({ length: 3 * 12 * 12 }, (_, index) => Math.sin(index));
  const plain = await load({ weights: modelBytes("families/vit"), config: { heads: 2 } });
  const counters = { num_updates: "I64", "vit.ema.initted": "BOOL", step: "I32", _steps: "U8" };
  const weights = rewritten(modelBytes("families/vit"), (tensors) => {
    for (const tensor of Object.values(tensors)) {
      const { buffer, byteOffset, length } = new Uint8Array(tensor.data);
      tensor.dtype = "F64";
      tensor.data = Buffer.from(Float64Array.from(new Float32Array(buffer, byteOffset, length / 4)).buffer);
    }
    for (const [name, dtype] of Object.entries(counters)) {
      tensors[name] = { dtype, shape: [], data: Buffer.alloc({ I64: 8, I32: 4, U8: 1, BOOL: 1 }[dtype]) };
    }
  });
  const { skipped, ...wide } = await load({ weights, config: { heads: 2 } }).then(async (model) =>
    ({ skipped: model.skipped, logits: (await model.classify(image)).logits }));
  assert.deepEqual(wide.logits, (await plain.classify(image)).logits);
  assert.deepEqual([...skipped].sort(), [...plain.skipped, ...Object.keys(counters)].sort());
  const one = { dtype: "I64", shape: [1], data: Buffer.alloc(8) };
  await rejects(() => load({ weights: rewritten(weights, (tensors) => (tensors.counts = one)), config: { heads: 2 } }), "bad_tensor", /"counts": is not part/);
});

test("MLX's order of a convolution's numbers is named, with and without a config", async () => {
  const name = "vit.embeddings.patch_embeddings.projection.weight";
  const turned = rewritten(modelBytes("families/vit"), (tensors) => {
    const [D, C, P, Q] = tensors[name].shape;
    tensors[name].shape = [D, P, Q, C];
  });
  for (const config of [{}, { heads: 2 }, { heads: 2, channels: 3, patch_size: [4, 4] }]) {
    await rejects(() => load({ weights: turned, config }), "bad_tensor", /got \(20,4,4,3\), which is MLX's order \(D,P,Q,C\): save its transpose\(0, 3, 1, 2\)/);
  }
});

// ---- Against the config -------------------------------------------------------

test("a shape that contradicts the config is refused by the header, and the error has both", async () => {
  const header = startOf(vitOf(BASE));
  const cases = [
    [{ width: 1024, heads: 16 }, /"patch_embed\.proj\.weight": expected shape \(1024,3,16,16\), got \(768,3,16,16\)/],
    [{ mlp_width: 3000 }, /"blocks\.0\.mlp\.fc1\.weight": expected shape \(3000,768\), got \(3072,768\)/],
    [{ depth: 13 }, /"blocks\.12\.norm1\.weight": is missing; expected shape \(768\)/],
    [{ depth: 11 }, /"blocks\.11\..*": is not part of the model that the config describes/],
    [{ patch_size: [32, 32] }, /"patch_embed\.proj\.weight": expected shape \(768,3,32,32\), got \(768,3,16,16\)/],
    [{ channels: 1 }, /"patch_embed\.proj\.weight": expected shape \(768,1,16,16\), got \(768,3,16,16\)/],
    [{ classes: 10 }, /"head\.weight": expected shape \(10,768\), got \(1000,768\)/],
  ];
  for (const [config, message] of cases) await early(header, "bad_tensor", message, { config });
  const whole = { image_size: [224, 224], patch_size: [16, 16], channels: 3, heads: 12, mlp_width: 3072, classes: 1000, depth: 12 };
  await early(startOf(vitOf(BASE), { ...whole, width: 512, heads: 8 }), "bad_tensor",
    /"patch_embed\.proj\.weight": expected shape \(512,3,16,16\), got \(768,3,16,16\)/);
});

test("a nonsense value in a transformers config is refused by its key", async () => {
  const header = startOf(vitOf(BASE));
  const good = { model_type: "vit", image_size: 224, patch_size: 16, hidden_size: 768, num_hidden_layers: 12, num_attention_heads: 12, intermediate_size: 3072, num_channels: 3 };
  const cases = [
    [{ patch_size: 0 }, /patch_size: expected \[rows, columns\], each from 1 to 16384, got \[0,0\]/],
    [{ patch_size: "16" }, /patch_size: expected \[rows, columns\].*got "16"/],
    [{ patch_size: 15 }, /patch_size: expected rows that divide the image's 224, got 15/],
    [{ patch_size: null }, /patch_size: expected .*got null/],
    [{ image_size: -224 }, /image_size: expected \[rows, columns\].*got \[-224,-224\]/],
    [{ image_size: {} }, /image_size: expected .*got \{\}/],
    [{ hidden_size: "768" }, /width: expected a whole number.*got "768"/],
    [{ hidden_size: 1e99 }, /width: expected a whole number from 1 to 65536, got 1e\+99/],
    [{ num_attention_heads: 7 }, /heads: expected a divisor of 768, got 7/],
    [{ num_attention_heads: 0 }, /heads: expected a whole number from 1.*got 0/],
    [{ num_attention_heads: "12" }, /heads: expected a whole number.*got "12"/],
    [{ num_hidden_layers: 0 }, /depth: expected a whole number from 1.*got 0/],
    [{ num_hidden_layers: 1.5 }, /depth: .*got 1\.5/],
    [{ num_channels: [] }, /channels: expected a whole number.*got \[\]/],
    [{ layer_norm_eps: "small" }, /norm_eps: expected a number.*got "small"/],
    [{ hidden_act: 3 }, /hidden_act: expected one of gelu.*got "3"/],
    [{ model_type: 5 }, /model_type: 5 is not known here; known are vit/],
  ];
  for (const [nonsense, message] of cases) {
    await early(header, "bad_config", message, { config: { ...good, ...nonsense } });
  }
  const picked = (name, value) => [new File([JSON.stringify(value)], name), new Lazy(header).blob()];
  for (const size of ["big", {}, [224], 1.5, -1, { height: "a", width: 1 }]) {
    const files = picked("preprocessor_config.json", { size });
    await rejects(() => Vit.load(files), "bad_config", /^preprocessor: size: expected a number, .*, got /);
  }
  for (const input_size of [5, null, {}]) {
    await load({ weights: modelBytes("families/torchvision"), config: { architecture: "vit", pretrained_cfg: { input_size } } });
  }
});

test("a missing patch size is found from the tensors' shapes, or the error names the key", async () => {
  const tensors = vitOf(BASE);
  const flat = tensors.map(([name, dtype, shape]) => [name, dtype, shape.length === 4 ? [768, 700] : shape]);
  await early(startOf(flat), "bad_config",
    /patch_size: set patch_size to \[rows, columns\]: tensor "patch_embed\.proj\.weight" of shape \(768,700\) does not say/);
  const odd = tensors.map(([name, dtype, shape]) => [name, dtype, name === "pos_embed" ? [1, 198, 768] : shape]);
  await early(startOf(odd), "bad_config", /image_size: set image_size to \[rows, columns\]: 198 positions/);
  const whole = { image_size: [224, 224], channels: 3, width: 768, depth: 12, heads: 12, mlp_width: 3072, classes: 1000 };
  await early(startOf(tensors, whole), "bad_config", /config: patch_size is missing/);
  const { config } = await load(modelBytes("families/torchvision"));
  assert.deepEqual(config.patch_size, [4, 4]);
});

// ---- NaN and infinity ---------------------------------------------------------

const NUMBERS = {
  F32: { NaN: [0, 0, 0xc0, 0x7f], infinity: [0, 0, 0x80, 0xff] },
  F16: { NaN: [1, 0x7e], infinity: [0, 0xfc] },
  BF16: { NaN: [0xc0, 0xff], infinity: [0x80, 0x7f] },
};

test("a NaN or infinity is refused when its tensor arrives, by name and place", async () => {
  for (const [dtype, numbers] of Object.entries(NUMBERS)) {
    const header = startOf(vitOf({ ...BASE, depth: 2 }, dtype));
    for (const [what, bytes] of Object.entries(numbers)) {
      const places = [["cls_token", 5], ["patch_embed.proj.weight", 768 * 299 + 17]];
      for (const [name, index] of what === "NaN" ? places : places.slice(0, 1)) {
        const place = header.start.length + header.header[name].data_offsets[0] + index * bytes.length;
        await early(header, "bad_tensor",
          new RegExp(`"${name}": expected finite numbers, got NaN or infinity at index ${index}$`),
          { spots: [[place, bytes]], few: FEW + 2 * MiB, ways: dtype === "F32" ? TWO : ONE });
      }
    }
  }
});

test("a bad scale of an int8 row is refused when its tensor arrives, by name and place", async () => {
  const whole = { image_size: [224, 224], patch_size: [16, 16], channels: 3, width: 768, depth: 12, heads: 12, mlp_width: 3072, classes: 1000 };
  const header = startOf(vitOf(BASE, "I8"), whole);
  const name = "blocks.0.attn.qkv.weight.scale";
  const at = header.start.length + header.header[name].data_offsets[0] + 4 * 77;
  const numbers = [...Object.entries(NUMBERS.F32), ["a negative one", [0, 0, 0x80, 0xbf]]];
  for (const [what, bytes] of numbers) {
    await early(header, "bad_tensor", new RegExp(`"${name}": expected .*, got .*${what}`),
      { spots: [[at, bytes]], few: FEW + 3 * MiB });
  }
});

// ---- An index against its files -----------------------------------------------

test("an index that contradicts its files is refused by name", { timeout: 60_000 }, async (t) => {
  const one = startOf([["norm.weight", "F32", [20]]]);
  const other = startOf([["norm.bias", "F32", [20]]]);
  const bytes = ({ start, size }) => Buffer.concat([start, Buffer.alloc(size - start.length)]);
  const folder = (weight_map, files = { "a.safetensors": bytes(one), "b.safetensors": bytes(other) }) => [
    new File([JSON.stringify({ weight_map })], "model.safetensors.index.json"),
    ...Object.entries(files).map(([name, data]) => new File([data], name)),
  ];
  const both = { "norm.weight": "a.safetensors", "norm.bias": "b.safetensors" };
  const cases = [
    [folder({ ...both, "head.weight": "c.safetensors" }), "bad_file", /expected the file "c\.safetensors" beside it, got none/],
    [folder({ ...both, "head.weight": "../c.safetensors" }), "bad_file", /expected the file "\.\.\/c\.safetensors"/],
    [folder({ ...both, "head.weight": "b.safetensors" }), "bad_tensor", /"head\.weight": expected in "b\.safetensors", as the index says, got none/],
    [folder({ "norm.weight": "b.safetensors", "norm.bias": "a.safetensors" }), "bad_tensor", /"norm\.bias": expected in "a\.safetensors"/],
    [folder(both, { "a.safetensors": bytes(one), "b.safetensors": bytes(startOf([["norm.bias", "F32", [20]], ["norm.weight", "F32", [20]]])) }),
      "bad_tensor", /"norm\.weight": expected in one file, got it again in "b\.safetensors"/],
    [folder(both, { "a.safetensors": bytes(one), "b.safetensors": Buffer.from("no such file") }), "bad_file", /b\.safetensors: expected a safetensors file/],
    [folder({}), "bad_file", /expected a weight_map that names files, got none/],
    [folder(null), "bad_file", /weight_map/],
    [folder({ "norm.weight": 7 }), "bad_file", /expected the file "7"/],
  ];
  for (const [files, code, message] of cases) await rejects(() => Vit.load(files), code, message);
  const lazy = new Lazy(startOf(vitOf(BASE)));
  let pieces = 0;
  let close;
  const closed = new Promise((resolve) => (close = resolve));
  const url = await serve(t, {
    "/m/model.safetensors.index.json": file(Buffer.from(JSON.stringify({ weight_map: both }))),
    "/m/a.safetensors": async (response) => {
      response.once("close", close);
      response.writeHead(200, { "content-length": lazy.size });
      for await (const piece of lazy.stream()) {
        pieces++;
        if (response.destroyed) return;
        if (!response.write(piece)) await drained(response);
      }
    },
  });
  await rejects(() => Vit.load(url("/m/")), "network", /got 404/);
  await closed;
  assert.ok(pieces * PIECE < 32 * MiB, `the other file went on for ${pieces * PIECE} bytes`);
});
