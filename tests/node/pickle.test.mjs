// PyTorch's own files, in the forms of torch.save today and years ago.
import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { crc32 } from "node:zlib";
import { folderOf } from "./folder.mjs";
import { golden, modelBytes } from "./golden.mjs";
import { file as answer, serve } from "./server.mjs";
import { load, rejects } from "./support.mjs";
import {
  call, checkpoint, dict, hooks, int, legacy, list, named, no, none, number, op, pickle, raw, SIX, storage, tensor,
  tensorsOf, text, translated, tuple, zip,
} from "./torch.mjs";

const folder = fileURLToPath(new URL("../golden/pickle/", import.meta.url));
const saved = (name) => readFileSync(join(folder, name));
const SMALL = "one_block_one_head";
const small = tensorsOf(modelBytes(SMALL));
const config = small.metadata.vitrine;
const NAMES = readdirSync(folder).filter((name) => /\.(pt|pth|bin)$/.test(name));

/** The tensor of 6 numbers in two rows of three. */
const plain = { dtype: "F32", shape: [2, 3], bytes: Buffer.from(SIX).toString("hex") };

/** The result of a state dict whose only tensor is "t". */
const one = async (value, storages, options) => (await translated(checkpoint(dict(["t", value]), storages, options))).t;
const floats = ({ bytes }) => [...new Float32Array(new Uint8Array(Buffer.from(bytes, "hex")).buffer)];

// ---- By torch.save itself --------------------------------------------------------

for (const [name, of = SMALL] of [
  ["zip.pt"], ["legacy.pt"], ["protocol4.pth"], ["protocol5.pth"], ["double.pt"], ["views.pt"], ["nested.pt"], ["extras.pt"],
  ["half.bin", "half"], ["bfloat.bin", "bfloat"],
]) {
  test(`${name} holds the tensors of ${of}.safetensors, bit for bit`, async () => {
    for (const sliced of [true, false]) {
      const tensors = await translated(saved(name), { sliced });
      const bare = Object.fromEntries(Object.entries(tensors).map(([key, value]) => [key.replace(/^module\./, ""), value]));
      assert.deepEqual(bare, tensorsOf(modelBytes(of)).tensors);
    }
  });
}

test("a model from a PyTorch file gives the results of the safetensors file, from every source", async (t) => {
  const [{ image }] = golden(SMALL);
  const expected = (await (await load(modelBytes(SMALL))).classify(image)).logits;
  const served = Object.fromEntries(NAMES.map((name) => [`/${name}`, answer(saved(name))]));
  const at = await serve(t, served);
  for (const name of ["zip.pt", "legacy.pt", "views.pt", "nested.pt"]) {
    const bytes = saved(name);
    const sources = {
      path: join(folder, name), url: pathToFileURL(join(folder, name)), bytes, view: new DataView(new Uint8Array(bytes).buffer),
      blob: new Blob([bytes]), response: new Response(bytes), address: at(`/${name}`),
    };
    for (const [way, weights] of Object.entries(sources)) {
      for (const worker of way === "path" ? [true, false] : [false]) {
        const { logits } = await (await load({ weights, config }, { worker })).classify(image);
        assert.deepEqual(logits, expected, `${name} by ${way}`);
      }
    }
  }
});

test("a model of half floats gives the same results from safetensors and from PyTorch", async () => {
  for (const name of ["half", "bfloat"]) {
    const { metadata } = tensorsOf(modelBytes(name));
    const model = await load({ weights: saved(`${name}.bin`), config: metadata.vitrine });
    const [{ image }] = golden(name);
    assert.deepEqual((await model.classify(image)).logits, (await (await load(modelBytes(name))).classify(image)).logits);
  }
});

test("a checkpoint's folder may hold pytorch_model.bin, or an index and its files", async (t) => {
  const [{ image }] = golden(SMALL);
  const expected = (await (await load(modelBytes(SMALL))).classify(image)).logits;
  const gives = async (weights) =>
    assert.deepEqual((await (await load({ weights, config })).classify(image)).logits, expected);
  await gives(folder); // the index and two files
  const shards = NAMES.filter((name) => name.startsWith("pytorch_model")).concat("pytorch_model.bin.index.json");
  await gives(shards.map((name) => new File([saved(name)], name)));
  await gives([new File([saved("zip.pt")], "whatever.pth"), new File(["{}"], "config.json")]);
  await gives([new File([modelBytes(SMALL)], "a.safetensors"), new File(["no"], "pytorch_model.bin")]);
  const at = await serve(t, { "/m/pytorch_model.bin": answer(saved("legacy.pt")) });
  await gives(at("/m/"));
  await rejects(() => load(at("/none/")), "network", /model\.safetensors, got 404/);
});

test("the progress of a PyTorch file rises to its size, and no file stays open", async () => {
  const open = () => readdirSync("/proc/self/fd").length;
  const before = process.platform === "linux" ? open() : 0;
  for (const name of ["zip.pt", "legacy.pt"]) {
    for (const weights of [join(folder, name), new Response(saved(name))]) {
      const shares = [];
      await load({ weights, config }, { onProgress: (loaded, total) => shares.push(loaded / (total || Infinity)) });
      assert.ok(shares.length > 0 && shares.every((share, index) => index === 0 || share >= shares[index - 1]), shares.join());
      if (typeof weights === "string") assert.equal(shares.at(-1), 1);
    }
  }
  if (process.platform === "linux") assert.ok(open() <= before);
});

test("the reader of PyTorch files is loaded only for a PyTorch file", async (t) => {
  const copy = folderOf(t);
  cpSync(new URL("../../dist", import.meta.url), copy, { recursive: true, filter: (path) => !path.endsWith("pickle.js") });
  const { Vit } = await import(pathToFileURL(join(copy, "vit.js")));
  (await Vit.load(modelBytes(SMALL))).dispose();
  await rejects(() => Vit.load({ weights: saved("zip.pt"), config }), "network", /pickle\.js/);
});

// ---- By hand: the opcodes ---------------------------------------------------------

test("the reader of pickles understands numbers, texts and containers of every opcode", async () => {
  const values = {
    none, true: op(0x88), false: no, float: raw("G", op(0x3f, 0xf0, 0, 0, 0, 0, 0, 0)), long: raw("\x8a\x09", number(9, 1n << 64n)),
    long4: raw("\x8b", number(4, 2), number(2, 7)), "long of 0": raw("\x8a\x00"), binstring: raw("T", number(4, 3), "abc"),
    "short binstring": raw("U", number(1, 1), "\xff"), short: raw("\x8c", number(1, 2), "ab"), long8: raw("\x8d", number(8, 1), "a"),
    bytes: raw("B", number(4, 2), "\0\xff"), "short bytes": raw("C", number(1, 1), "\xff"), bytes8: raw("\x8e", number(8, 0)),
    "empty list": op(0x5d), list: raw("(", int(1), int(2), "l"), appended: raw("]", int(1), "a"), "empty tuple": op(0x29),
    one: raw(int(1), "\x85"), two: raw(int(1), int(2), "\x86"), three: raw(int(1), int(2), int(3), "\x87"),
    "dict of a mark": raw("(", int(1), int(2), "d"), "one key": raw("}", int(1), int(2), "s"), set: raw("\x8f(", int(1), "\x90"),
    "frozen set": raw("(", int(1), "\x91"), popped: raw(int(1), int(2), "0"), "mark popped": raw(int(1), "(", int(2), int(3), "1"),
    duplicated: raw(int(1), "20"), "mark alone popped": raw(int(1), "(0"), frame: raw("\x95", number(8, 1), none),
    memoized: raw(int(1), "\x94"), remembered: raw(none, "q\x070h\x07"), "remembered far": raw(none, "r", number(4, 2 ** 31), "0j", number(4, 2 ** 31)),
    size: call("torch", "Size", tuple(int(2))), dtype: named("torch", "float32"), device: call("torch", "device", text("cuda"), int(0)),
    namespace: raw(named("argparse", "Namespace"), ")\x81", dict(["lr", none]), "b"),
    scalar: call("numpy.core.multiarray", "scalar", raw(call("numpy", "dtype", text("f8"), no, no), tuple(int(3), text("<")), "b"), call("_codecs", "encode", text("ÿ"), text("latin1"))),
    counter: call("collections", "Counter", dict(["a", none])), path: call("pathlib", "PosixPath", text("/data")),
    "set by name": call("__builtin__", "set", list(text("a"))), "dict with a default": raw(call("collections", "defaultdict", named("__builtin__", "list")), text("a"), none, "s"),
    enum: call("__builtin__", "getattr", named("project", "Mode"), text("FIT")), "what a call gave, called": raw(call("a", "b"), ")R"),
    function: named("torch.nn.functional", "gelu"), partial: raw(call("functools", "partial", named("builtins", "max")), tuple(none, none), "b"),
    array: raw(call("numpy.core.multiarray", "_reconstruct", named("numpy", "ndarray"), tuple(int(0)), text("b")), tuple(int(1), tuple(int(1)), none, no, text("x")), "b"),
    "keyword arguments": raw(named("a", "B"), ")", dict(["k", none]), "\x92"), bytearray: raw("\x96", number(8, 1), "a"),
    "list of a class": raw(named("a", "MyList"), ")\x81(", int(1), "e"),
    "stack global": raw(text("collections"), text("OrderedDict"), "\x93)R"),
    "dict with a state": raw(hooks, dict(["_metadata", none]), "b"),
  };
  for (const [what, value] of Object.entries(values)) {
    assert.deepEqual(await translated(checkpoint(dict([what, value], ["t", tensor()]))), { t: plain }, what);
    assert.deepEqual(await translated(checkpoint(raw(value, "0", dict(["t", tensor()])))), { t: plain }, `${what}, one value`);
  }
  for (const two of [int(2), raw("M", number(2, 2)), raw("J", number(4, 2)), raw("\x8a\x01\x02"), raw("\x8b", number(4, 1), op(2))]) {
    const value = call("torch._utils", "_rebuild_tensor_v2", storage(), int(0), tuple(two, int(3)), tuple(int(3), int(1)), no, hooks);
    assert.deepEqual(await one(value), plain);
  }
});

test("a PyTorch tensor's name may be text of every kind, also __proto__", async () => {
  const keys = { a: text("a"), b: raw("U", number(1, 1), "b"), c: raw("T", number(4, 1), "c"), d: raw("\x8c", number(1, 1), "d"), "ü": text("ü") };
  const tensors = await translated(checkpoint(dict(...Object.values(keys).map((key) => [key, tensor()]))));
  assert.deepEqual(Object.keys(tensors).sort(), Object.keys(keys).sort());
  const proto = await translated(checkpoint(dict(["__proto__", tensor()], ["constructor", tensor()], ["7", tensor()])));
  assert.deepEqual(proto.constructor, plain);
  assert.equal({}.dtype, undefined);
});

test("the reader of pickles knows each function of PyTorch that makes a tensor", async () => {
  const three = (name, ...args) => call("torch._utils", name, ...args);
  const places = [int(0), tuple(int(2), int(3)), tuple(int(3), int(1))];
  const made = {
    tensor: three("_rebuild_tensor", storage(), ...places),
    "with a type": three("_rebuild_tensor_v3", storage({ type: "UntypedStorage", module: "torch.storage", count: 24 }), ...places, no, hooks, named("torch", "float32"), none),
    parameter: three("_rebuild_parameter", tensor(), op(0x88), hooks),
    "parameter with a state": three("_rebuild_parameter_with_state", tensor(), op(0x88), hooks, dict()),
    "of a type": call("torch._tensor", "_rebuild_from_type_v2", named("torch._utils", "_rebuild_tensor"), named("torch.nn.parameter", "Parameter"), tuple(storage(), ...places), none),
    "of a Size": three("_rebuild_tensor_v2", storage(), int(0), call("torch", "Size", tuple(int(2), int(3))), places[2], no, hooks),
  };
  for (const [what, value] of Object.entries(made)) assert.deepEqual(await one(value), plain, what);
});

test("weights in a dict of the training code's own class are read, beside tensors of unknown types", async () => {
  const own = (...pairs) => raw(named("lightning.fabric", "AttributeDict"), ")\x81", "(", pairs.map(([key, value]) => [text(key), value]), "u");
  const untyped = storage({ type: "UntypedStorage", module: "torch.storage", count: 24 });
  const odd = call("torch._utils", "_rebuild_tensor_v3", untyped, int(0), tuple(int(3)), tuple(int(1)), no, hooks, named("torch", "uint16"), none);
  assert.deepEqual(await translated(checkpoint(own(["state_dict", own(["t", tensor()])], ["epoch", int(3)], ["rng", odd]))), { t: plain });
});

test("an OrderedDict of Python 2 is read as a list of pairs", async () => {
  const pairs = list(raw("](", text("t"), tensor(), "e"));
  assert.deepEqual(await translated(legacy(call("collections", "OrderedDict", pairs))), { t: plain });
});

// ---- By hand: tensors ---------------------------------------------------------------

test("each number type of PyTorch stays as it is, except that doubles become floats", async () => {
  for (const [type, dtype, bytes] of [
    ["FloatStorage", "F32", 4], ["HalfStorage", "F16", 2], ["BFloat16Storage", "BF16", 2], ["LongStorage", "I64", 8],
    ["IntStorage", "I32", 4], ["CharStorage", "I8", 1], ["ByteStorage", "U8", 1], ["BoolStorage", "BOOL", 1],
  ]) {
    const data = Buffer.from(Array.from({ length: 6 * bytes }, (_, at) => at + 1));
    assert.deepEqual(await one(tensor({ type }), { 0: data }), { dtype, shape: [2, 3], bytes: data.toString("hex") });
  }
  const doubles = Buffer.from(new Float64Array([0.1, -0, 1e300, NaN, 1e-310, 2]).buffer);
  const got = await one(tensor({ type: "DoubleStorage" }), { 0: doubles });
  assert.equal(got.dtype, "F32");
  assert.deepEqual(floats(got), [Math.fround(0.1), -0, Infinity, NaN, 0, 2]);
});

test("PyTorch tensors that are views of a storage are written row by row", async () => {
  const of = async (view) => floats(await one(tensor(view)));
  assert.deepEqual(await of({ shape: [3, 2], strides: [1, 3] }), [0, 3, 1, 4, 2, 5]);
  assert.deepEqual(await of({ offset: 4, shape: [2], strides: [1] }), [4, 5]);
  assert.deepEqual(await of({ offset: 1, shape: [2, 2], strides: [3, 1] }), [1, 2, 4, 5]);
  assert.deepEqual(await of({ shape: [2, 2], strides: [0, 5] }), [0, 5, 0, 5]);
  assert.deepEqual(await of({ offset: 5, shape: [], strides: [] }), [5]);
  assert.deepEqual(await of({ shape: [3, 0], strides: [7, 7] }), []);
  assert.deepEqual(await of({ shape: [1, 6, 1], strides: [99, 1, 0] }), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(await of({ shape: [2, 3, 1, 2], strides: [1, 2, 0, 0] }), [0, 0, 2, 2, 4, 4, 1, 1, 3, 3, 5, 5]);
});

test("each of several PyTorch tensors that share a storage is written", async () => {
  const both = await translated(checkpoint(dict(["a", tensor()], ["b", tensor()], ["c", tensor({ offset: 3, shape: [3], strides: [1] })])));
  assert.deepEqual(both.a, plain);
  assert.deepEqual(both.b, plain);
  assert.deepEqual(floats(both.c), [3, 4, 5]);
});

test("PyTorch tensors of more than a megabyte are whole, in order or not", async () => {
  const numbers = Float32Array.from({ length: 700 * 601 }, (_, at) => at);
  const bytes = Buffer.from(numbers.buffer);
  const storages = { 0: bytes };
  const of = { count: 700 * 601 };
  const rows = await one(tensor({ ...of, shape: [700, 601], strides: [601, 1] }), storages);
  assert.equal(rows.bytes, bytes.toString("hex"));
  const columns = floats(await one(tensor({ ...of, shape: [601, 700], strides: [1, 601] }), storages));
  assert.ok(columns.every((value, at) => value === (at % 700) * 601 + Math.floor(at / 700)));
  const doubles = Buffer.from(Float64Array.from(numbers).buffer);
  const single = await one(tensor({ ...of, type: "DoubleStorage", shape: [700, 601], strides: [601, 1] }), { 0: doubles });
  assert.equal(single.bytes, bytes.toString("hex"));
});

test("the weights are found under the keys that training scripts use, averages first", async () => {
  const order = ["state_dict_ema", "model_ema", "ema", "state_dict", "model", "model_state_dict", "teacher"];
  const state = (name) => dict([name, tensor()]);
  for (const [index, name] of order.entries()) {
    const nests = order.slice(index).reverse().map((key) => [key, state(`of ${key}`)]);
    const got = await translated(checkpoint(dict(["epoch", int(3)], ["loss", tensor()], ...nests)));
    assert.deepEqual(Object.keys(got), [`of ${name}`]);
  }
  const other = dict(["model", text("vit_tiny")], ["ema", dict()], ["state_dict", dict(["model", state("deep")])]);
  assert.deepEqual(Object.keys(await translated(checkpoint(other))), ["deep"]);
  assert.deepEqual(Object.keys(await translated(checkpoint(dict(["model", tensor()])))), ["model"]);
});

test("values of a state dict that are no tensors are ignored", async () => {
  const got = await translated(checkpoint(dict(["t", tensor()], ["count", int(3)], ["_extra_state", none], [int(1), none])));
  assert.deepEqual(got, { t: plain });
});

// ---- By hand: the files ---------------------------------------------------------------

test("a PyTorch archive may have any folder name, zip64 fields, a comment and a byte order file", async () => {
  const state = dict(["t", tensor()]);
  const order = [["m/byteorder", Buffer.from("little")], ["m/version", Buffer.from("3\n")], ["m/.data/serialization_id", Buffer.from("1")]];
  assert.deepEqual(await translated(checkpoint(state, undefined, { folder: "m", more: order })), { t: plain });
  assert.deepEqual(await translated(checkpoint(state, undefined, { large: true })), { t: plain });
  assert.deepEqual(await translated(checkpoint(state, undefined, { comment: "PK\x05\x06 of somebody" })), { t: plain });
});

test("a zip entry's sizes and checksum may follow its data", async () => {
  const bytes = pickle(dict(["t", tensor()]));
  const later = { flags: 0x808, localSize: 0, localCrc: 0 };
  const behind = (data) => raw(data, "PK\x07\x08", number(4, crc32(data)), number(4, data.length), number(4, data.length));
  const entries = [["a/data.pkl", bytes], ["a/data/0", SIX]].map(([name, data]) =>
    [name, behind(data), { ...later, size: data.length, crc: crc32(data) }]);
  assert.deepEqual(await translated(zip(entries)), { t: plain });
});

test("in a PyTorch file of the old form the storages follow the pickles and may have views", async () => {
  const state = dict(["t", tensor()], ["v", tensor({ more: tuple(text("9"), int(2), int(3)), shape: [3], strides: [1] })]);
  const { t, v } = await translated(legacy(raw(dict(["t", tensor({ more: none })]))));
  assert.deepEqual([t, v], [plain, undefined]);
  const got = await translated(legacy(state));
  assert.deepEqual(floats(got.v), [2, 3, 4]);
});
