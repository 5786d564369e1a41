// Hostile PyTorch files: each is refused soon with a VitError, and none of its code is run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Vit } from "../../dist/vit.js";
import { rounds } from "./full.mjs";
import { harmless, refused, soon } from "./hostile.mjs";
import {
  call, checkpoint, dict, hooks, int, legacy, list, MAGIC, named, no, none, number, op, pickle, raw, SIX, storage, tensor, text,
  tuple, zip,
} from "./torch.mjs";

const state = (value = tensor()) => dict(["t", value]);
const rebuilt = (...args) => call("torch._utils", "_rebuild_tensor_v2", ...args, no, hooks);
const where = (offset, shape, strides) => [offset, tuple(...shape), tuple(...strides)];
const minus = raw("\x8a\x01\xff");
const huge = raw("\x8a\x08", number(8, 2n ** 62n));
const most = raw("\x8a\x08", number(8, 2n ** 53n - 1n));
const many = (count, part) => raw(Array.from({ length: count }, () => part));

const memory = (bytes) => bytes;
const SOURCES = [memory, (bytes) => new Blob([bytes]), (bytes) => new Response(bytes)];

/** Checks that files are refused with `bad_file` and this message, from memory, Blob and stream. */
async function all(cases, sources = SOURCES) {
  for (const [what, bytes, message] of cases) {
    for (const source of sources) {
      await soon(what, () => refused(what, () => Vit.load(source(bytes)), "bad_file", message), 3);
    }
  }
}

test("a pickle that would attack Python is refused by the function's name, also beside weights", () =>
  all([
    ...[["os", "system"], ["posix", "popen"], ["nt", "execv"], ["subprocess", "Popen"], ["builtins", "eval"], ["__builtin__", "exec"], ["builtins", "__import__"]]
      .map(([module, name]) => [name, checkpoint(dict(["extra", call(module, name, text("touch /tmp/pwned"))], ["t", tensor()])), new RegExp(`would call ${module}\\.${name} .*attack`)]),
    ["stack global", checkpoint(raw(text("posix"), text("system"), "\x93", tuple(text("id")), "R")), /would call posix\.system/],
    ["legacy", legacy(call("builtins", "eval", text("1"))), /would call builtins\.eval/],
  ]));

test("what a pickle calls in place of weights, or in their place among them, is refused by its name", () =>
  all([
    ["a class", checkpoint(raw(named("timm.models", "VisionTransformer"), ")\x81", dict(["_modules", dict()]), "b")), /a whole model of the class "timm\.models\.VisionTransformer"/],
    ["a class under a key", legacy(dict(["net", raw(tuple(text("module"), named("m", "ViT"), none, none), "Q)\x81", dict(["_modules", dict()]), "b")]), []), /the class "m\.ViT".*\["net"\]/],
    ["a name of controls", checkpoint(raw(named("a\x1b[2J\r", "b"), ")\x81", dict(["_modules", dict()]), "b")), /"a\\u001b\[2J\\r\.b"/],
    ["a loader of bytes", checkpoint(call("torch.storage", "_load_from_bytes", text(""))), /expected a dict of tensors/],
    ["quantized", checkpoint(state(call("torch._utils", "_rebuild_qtensor", storage()))), /tensor "t".*_rebuild_qtensor/],
    ["constructor", checkpoint(call("__proto__", "constructor")), /expected a dict of tensors/],
    ["a type called", checkpoint(call("torch", "FloatStorage", int(3))), /expected a dict of tensors/],
    ["a text called", checkpoint(raw(text("os"), ")R")), /a call of something that is no function/],
    ["no arguments", checkpoint(raw(named("collections", "OrderedDict"), none, "R")), /without arguments/],
    ["a wrapped call", checkpoint(state(call("torch._tensor", "_rebuild_from_type_v2", named("collections", "OrderedDict"), none, none))), /a tensor without arguments/],
    ["a wrapped call of itself", checkpoint(raw(named("torch._tensor", "_rebuild_from_type_v2"), "q\x00](h\x00Ne", "\x85R")), /pickle: expected/],
    ["a named global that is no text", checkpoint(raw(int(1), int(2), "\x93")), /a global without a name/],
  ]));

test("a pickle's opcodes that load objects, and unknown opcodes, are refused", () =>
  all(
    [..."ioPIFLSVgpR"].map((code) => [`opcode ${code}`, checkpoint(raw("((", code, "1\n1\n")), /pickle: /])
      .concat([0x82, 0x83, 0x84, 0x97, 0x98, 0xff, 0].map((code) =>
        [`opcode ${code}`, checkpoint(raw(op(code), "12345678")), /the opcode 0x[0-9a-f]{2} at byte 2/])),
  ));

test("a pickle whose stack, memo or marks hold too little is refused", () =>
  all([
    ["nothing", checkpoint(""), /holds too little/],
    ["append to nothing", checkpoint("a"), /holds too little/],
    ["below a mark", checkpoint(raw("](", int(1), "0a")), /holds too little/],
    ["no mark", checkpoint(raw("]e")), /without a mark/],
    ["odd keys", checkpoint(raw("}(", int(1), "u")), /a key without a value/],
    ["keys of a list", checkpoint(raw("]", int(1), int(1), "s")), /keys for something that is no dict/],
    ["items of a dict", checkpoint(raw("}", int(1), "a")), /items for something that is no list/],
    ["a state of a list", checkpoint(raw("]Nb")), /a state for something that has none/],
    ["no memory", checkpoint("h\x05"), /memory of 5/],
    ["two values", checkpoint(raw(none, none)), /more than one value/],
    ["a mark left", checkpoint(raw(state(), "(")), /holds too little|more than one/],
    ["bytes behind", zip([["a/data.pkl", raw(pickle(state()), "x")], ["a/data/0", SIX]]), /nothing after it, got 1 bytes/],
    ["protocol 1", zip([["a/data.pkl", raw("}.")]]), /protocols 2 to 5/],
    ["protocol 6", zip([["a/data.pkl", raw("\x80\x06}.")]]), /protocols 2 to 5/],
    ["a text that is no UTF-8", checkpoint(raw("X", number(4, 2), "\xff\xfe")), /not UTF-8/],
  ]));

test("lengths beyond the pickle's end, and a pickle cut anywhere, are refused", async () => {
  const long = ["X", "T", "B"].map((code) => [code, checkpoint(raw(code, number(4, 0xffffffff))), /ends too early/]);
  const longer = ["\x8d", "\x8e", "\x95", "\x96"].map((code) => ["8 bytes", checkpoint(raw(code, number(8, -1))), /ends too early/]);
  const numbers = [["a long number", checkpoint(raw("\x8b", number(4, 2 ** 24), "1")), /a number of 16777216 bytes/]];
  await all([...long, ...longer, ...numbers]);
  const whole = pickle(state());
  for (let size = 0; size < whole.length; size++) {
    const bytes = zip([["a/data.pkl", whole.subarray(0, size)], ["a/data/0", SIX]]);
    await refused(`cut at ${size}`, () => Vit.load(bytes), "bad_file", /pickle/);
  }
});

/** Each step counts 16 bytes, so 2.1 million are too many. */
const MILLIONS = 3_000_000;

test("a pickle that would take too much memory or time is refused", () =>
  all([
    ["memo bomb", checkpoint(raw(none, "\x85q\x00", Array.from({ length: 200 }, (_, at) => ["0", many(10, `h${String.fromCharCode(at)}`), "(", many(10, `h${String.fromCharCode(at)}`), "tq", String.fromCharCode(at + 1)]), "0N")), /pickle: expected/],
    ["millions of lists", checkpoint(Buffer.alloc(MILLIONS, "]")), /at most 32 MB of names and numbers/],
    ["millions of dicts", checkpoint(Buffer.alloc(MILLIONS, "}")), /at most 32 MB/],
    ["millions of marks", checkpoint(Buffer.alloc(MILLIONS, "(")), /at most 32 MB/],
    ["millions of copies", checkpoint(raw("N", Buffer.alloc(MILLIONS, "2"))), /at most 32 MB/],
    ["millions of memories", checkpoint(raw("N", Buffer.alloc(MILLIONS, 0x94))), /at most 32 MB/],
    ["nested millions deep", checkpoint(raw("N", Buffer.alloc(MILLIONS, 0x85))), /at most 32 MB/],
    ["a large pickle", checkpoint(Buffer.alloc(17_000_000, "N")), /of at most 16777216 bytes/],
    ["a list of pairs again and again", checkpoint(raw(list(...Array.from({ length: 5000 }, () => raw("NN\x86"))), "q\x000", many(20_000, raw(named("collections", "OrderedDict"), "h\x00\x85R0")))), /at most 32 MB/],
    ["a dict in itself", checkpoint(raw("}q\x00(", text("model"), "h\x00", text("state_dict"), "h\x00u")), /expected a dict of tensors/],
    ["a list in itself", checkpoint(raw("]q\x00h\x00a")), /expected a dict of tensors/],
    ["nests in nests", checkpoint(many(1, Array.from({ length: 3000 }, () => raw("}", text("model"))).concat(none, Array.from({ length: 3000 }, () => "s")))), /expected a dict of tensors/],
  ], [memory]));

test("a PyTorch tensor outside its storage or without sizes is refused", () =>
  all([
    ["a negative offset", checkpoint(state(rebuilt(storage(), ...where(minus, [int(2)], [int(1)])))), /whole numbers from 0.*offset -1/],
    ["a negative stride", checkpoint(state(rebuilt(storage(), ...where(int(5), [int(2)], [minus])))), /strides \[-1\]/],
    ["a negative size", checkpoint(state(rebuilt(storage(), ...where(int(0), [minus], [int(1)])))), /sizes \[-1\]/],
    ["a fraction", checkpoint(state(rebuilt(storage(), raw("G", Buffer.from("3ff8000000000000", "hex")), tuple(int(1)), tuple(int(1))))), /whole numbers from 0/],
    ["a huge size", checkpoint(state(rebuilt(storage(), ...where(int(0), [huge], [int(1)])))), /whole numbers from 0/],
    ["sizes that wrap", checkpoint(state(rebuilt(storage(), ...where(int(0), [most, most], [most, most])))), /does not lie in its storage/],
    ["one behind the end", checkpoint(state(tensor({ offset: 1 }))), /does not lie in its storage of 6/],
    ["an offset behind the end", checkpoint(state(tensor({ offset: 6, shape: [], strides: [] }))), /does not lie/],
    ["fewer strides", checkpoint(state(tensor({ strides: [1] }))), /a stride for each/],
    ["65 axes", checkpoint(state(tensor({ shape: Array(65).fill(1), strides: Array(65).fill(1) }))), /at most 64 sizes/],
    ["repeated for ever", checkpoint(state(rebuilt(storage(), ...where(int(0), [most], [int(0)])))), /ask for many times/],
    ["repeated on 64 axes", checkpoint(state(rebuilt(storage(), ...where(int(0), Array(64).fill(most), Array(64).fill(int(0)))))), /ask for many times/],
    ["one storage a thousand times", checkpoint(dict(...Array.from({ length: 100 }, (_, at) => [`t${at}`, tensor({ count: 65536, shape: [65536], strides: [1] })])), { 0: Buffer.alloc(4 * 65536) }), /ask for many times/],
    ["a storage of fewer bytes", checkpoint(state(), { 0: SIX.subarray(4) }), /to hold 24 bytes, got 20/],
    ["a storage of more", checkpoint(state(tensor({ count: 5, shape: [5], strides: [1] }))), /to hold 20 bytes, got 24/],
    ["no storage", checkpoint(state(), {}), /expected the entry "archive\/data\/0", got none/],
    ["a key that climbs", checkpoint(state(tensor({ key: "../data.pkl" }))), /expected the entry/],
    ["a type without a name", checkpoint(state(tensor({ type: "ShortStorage" })), { 0: new Uint8Array(12) }), /got another type/],
    ["no type at all", checkpoint(state(tensor({ type: "UntypedStorage", module: "torch.storage", count: 24 })), { 0: SIX }), /expected float32/],
    ["a module in place of a storage", checkpoint(raw(tuple(text("module"), none), "Q")), /something other than a storage/],
    ["a text in place of a storage", checkpoint(raw(text("0"), "Q")), /something other than a storage/],
    ["a name for metadata", checkpoint(dict(["__metadata__", tensor()])), /other than __metadata__/],
    ["a number for a name", checkpoint(dict([int(3), tensor()])), /to be a text/],
    ["no tensors", checkpoint(dict(["epoch", int(3)])), /got one of "epoch"/],
    ["a tensor alone", checkpoint(tensor()), /expected a dict of tensors/],
  ]));

const good = [["a/data.pkl", pickle(state())], ["a/data/0", SIX]];
const changed = (index, change) => zip(good.map((entry, at) => (at === index ? [...entry, change] : entry)));

test("a zip archive that contradicts itself or points outside itself is refused", () =>
  all([
    ["a wrong sum of the pickle", changed(0, { crc: 7 }), /sum \(CRC\)/],
    ["a wrong sum of a storage", changed(1, { crc: 7 }), /sum \(CRC\)/],
    ["a wrong sum of a storage that is a view", zip([["a/data.pkl", pickle(state(tensor({ shape: [3], strides: [1] })))], ["a/data/0", SIX, { crc: 7 }]]), /sum \(CRC\)/],
    ["compressed", changed(1, { method: 8 }), /compressed \(deflate\)/],
    ["a zip bomb", changed(1, { packed: 3, size: 2 ** 31 }), /compressed|does not lie/],
    ["another method", changed(1, { method: 12 }), /compressed \(method 12\)/],
    ["encrypted", changed(1, { flags: 1 }), /encrypted/],
    ["two of a name", zip([...good, good[1]]), /is there twice/],
    ["overlapping", zip([good[0], [...good[1], { at: 10 }]]), /does not lie before|is not where/],
    ["at the same place", zip([good[0], [...good[1], { at: 0 }]]), /does not lie before/],
    ["behind the end", changed(1, { at: 2 ** 31 }), /does not lie before/],
    ["larger than the file", changed(1, { size: 5000, localSize: 5000 }), /does not lie before/],
    ["another name", changed(1, { localName: "a/data/1" }), /differs between its own header and the directory/],
    ["another size", changed(1, { localSize: 23 }), /differs between its own header and the directory/],
    ["another sum", changed(1, { localCrc: 23 }), /differs between its own header and the directory/],
    ["a name that is no UTF-8", Buffer.from(zip([["a/data.pkl", pickle(state())], ["a/data/~", SIX]]).toString("latin1").replaceAll("~", "\xff"), "latin1"), /not UTF-8/],
    ["too many entries", zip(good, { end: { count: 3 } }), /expected 3 entries/],
    ["a directory elsewhere", zip(good, { end: { begin: 3 } }), /to end where its end record begins/],
    ["several disks", zip(good, { end: { disk: 1 } }), /several parts/],
    ["zip64 that points on", zip(good, { large: true, end: { end64: 2 ** 40 } }), /zip64 end record does not lie/],
    ["zip64 that points back", zip(good, { large: true, end: { end64: 0 } }), /not where its locator says/],
    ["zip64 of 2^64 entries", zip(good, { large: true, end: { count: 2n ** 64n - 1n } }), /larger than any file/],
    ["zip64 of a long record", zip(good, { large: true, end: { record: 45 } }), /do not agree/],
    ["no pickle", zip([["word/document.xml", SIX]]), /zip archive that holds "word\/document.xml"/],
    ["no entries", zip([]), /directory|zip archive that holds nothing/],
    ["two pickles", zip([...good, ["b/data.pkl", pickle(state())]]), /zip archive that holds/],
    ["TorchScript", zip([...good, ["a/constants.pkl", pickle(none)]]), /TorchScript/],
    ["big-endian", zip([...good, ["a/byteorder", Buffer.from("big")]]), /byteorder: expected little, got "big"/],
  ].map(([what, bytes, message]) => [what, bytes[0] === 0x50 && bytes[3] === 4 ? bytes : raw("PK\x03\x04", bytes), message])));

test("a PyTorch file in the old form is refused if its parts do not agree", () =>
  all([
    ["another protocol", legacy(state(), undefined, { protocol: 1000 }), /another pickle/],
    ["big-endian", legacy(state(), undefined, { system: pickle(dict(["little_endian", no])) }), /little-endian/],
    ["no more than its number", raw(MAGIC), /ends too early/],
    ["keys that are no list", legacy(state(), undefined, { keys: none }), /list of storages/],
    ["an unknown key", legacy(state(), undefined, { keys: list(text("1")) }), /not there, or one twice/],
    ["a key twice", legacy(state(), undefined, { keys: list(text("0"), text("0")) }), /ends too early|one twice/],
    ["no key", legacy(state(), []), /expected the storage "0"/],
    ["another count", legacy(state(), [["0", 5, SIX]]), /expected 6 numbers, got 5/],
    ["a negative count", legacy(state(), [["0", -1, SIX]]), /expected 6 numbers, got -1/],
    ["too few bytes", legacy(state(), [["0", 6, SIX.subarray(1)]]), /ends too early/],
    ["bytes behind", raw(legacy(state()), "x"), /expected a file of \d+ bytes/],
    ["a view outside", legacy(state(tensor({ more: tuple(text("9"), int(4), int(3)) }))), /does not lie in its 6/],
  ]));

test("a PyTorch file cut anywhere is refused", async () => {
  for (const whole of [checkpoint(state()), legacy(state())]) {
    for (let size = 4; size < whole.length; size += 3) {
      await refused(`cut at ${size}`, () => Vit.load(whole.subarray(0, size)), ["bad_file", "bad_tensor"]);
    }
  }
});

test("a PyTorch stream that never ends is refused, and an abort ends its load", async () => {
  const start = checkpoint(state());
  const abort = new AbortController();
  let pulled = 0;
  const endless = new Response(new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(start)),
    pull: async (controller) => {
      if (++pulled === 100) abort.abort(new Error("enough"));
      await turn();
      controller.enqueue(new Uint8Array(1000));
    },
  }));
  await assert.rejects(Vit.load(endless, { signal: abort.signal }), /enough/);
  assert.ok(pulled < 200, `${pulled} pieces`);
});

test("a thousand randomly changed PyTorch files give a VitError or a model, each within a second", async () => {
  let seed = 20;
  const random = (below) => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32 * below) | 0;
  const folder = new URL("../golden/pickle/", import.meta.url);
  const files = ["zip.pt", "legacy.pt", "views.pt", "nested.pt", "protocol5.pth"].map((name) => readFileSync(new URL(name, folder)));
  const pickles = files.map((file) => [file.indexOf(0x80), Math.min(file.length, 3000)]);
  for (let round = 0; round < rounds(4000); round++) {
    const index = round % files.length;
    const bytes = Buffer.from(files[index]);
    const [from, to] = pickles[index];
    for (let changes = 1 + random(3); changes-- > 0; ) {
      const at = random(4) ? from + random(to - from) : random(bytes.length);
      if (random(3)) bytes[at] = random(3) ? random(256) : [0, 255, 0x28, 0x2e, 0x68, 0x52, 0x71][random(7)];
      else bytes.copy(bytes, at, random(bytes.length), random(bytes.length));
    }
    await soon(`round ${round}`, () => harmless(`round ${round}`, async () => (await Vit.load(bytes, { variant: "scalar" })).dispose()), 1);
  }
});
