// Files that are no safetensors files are recognised by their first bytes, with advice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { headerLength } from "../../web/base/safetensors.mjs";
import { golden, modelBytes } from "./golden.mjs";
import { load, rejects } from "./support.mjs";

const bytes = (hex, ...rest) => [Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex")), ...rest];
/** The start of a zip archive as Python's zipfile writes it, with an entry of this name. */
const zip = (name) => bytes(`504b0304 1400 0000 0000 00002100 00000000 00000000 00000000 ${name.length.toString(16).padStart(2, "0")}00 0000`, name, "{}");
/** The first twenty or so bytes of each format, by its specification or its own library. */
const STARTS = {
  "an ONNX model": [
    bytes("0807 1207", "pytorch", ...bytes("1a05"), "2.1.0:"), // ir_version, producer_name
    bytes("0808 3a90 d4ad 0312"), // ir_version, graph
    bytes("0803 4202 1009 3a10"), // ir_version, opset_import
  ],
  "a GGUF file": [["GGUF", ...bytes("03000000 c500000000000000 1800000000000000")]],
  "an HDF5 file.*from_tf=True": [bytes("894844460d0a1a0a 00000000 00080800")],
  "a Keras model": ["metadata.json", "config.json", "model.weights.h5"].map(zip),
  "an NPZ archive.*timm": ["cls.npy", "Transformer/encoderblock_0/LayerNorm_0/bias.npy"].map(zip),
  "msgpack, as Flax.*from_flax=True": [
    bytes("82a6", "params", ...bytes("83a8"), "backbone"),
    bytes("81a3", "vit", ...bytes("82")),
    bytes("de0010d920", "a-name-of-thirty-two-characters!"),
  ],
  "a TensorFlow Lite model": [bytes("1c000000", "TFL3", ...bytes("1400200004000800"))],
  "a tar archive.*tarfile": [["model.safetensors".padEnd(257, "\0"), "ustar\x0000"]],
  "a gzip file": [bytes("1f8b0808 00000000 0003")],
  "a PNG image": [bytes("89504e470d0a1a0a 0000000d49484452")],
  "a JPEG image": [bytes("ffd8ffe0 00104a464946"), bytes("ffd8ffdb 0043")],
  "an HTML page": [["<!DOCTYPE html><html>"], ["\ufeff\n<html lang=en>"]],
  "an XML page": [["<?xml version='1.0'?><Error>"]],
  "a Git LFS pointer.*snapshot_download": [["version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"]],
};

for (const [description, starts] of Object.entries(STARTS)) {
  test(`a file that is ${description.split(/[.,]/)[0]} is refused by name, with advice`, async () => {
    for (const start of starts) {
      const long = [...start, new Uint8Array(4000)];
      for (const file of [new Blob(long), new File(long, "model.safetensors")]) {
        await rejects(() => Vit.load(file), "bad_file", new RegExp(`^expected a binary file, got ${description}`));
      }
      const pieces = new ReadableStream({
        start(controller) {
          for (const byte of Buffer.concat(start.map((part) => Buffer.from(part)))) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      });
      await rejects(() => Vit.load(new Response(pieces)), "bad_file", new RegExp(`got ${description}`));
    }
  });
}

test("a safetensors file is recognised, whatever the first bytes of its header's length are", async () => {
  const model = modelBytes("families/vit");
  const size = headerLength(model);
  const [{ image }] = golden("families/vit");
  const config = { heads: 2 };
  const want = (await (await load({ weights: model, config })).classify(image)).logits;
  for (const first of [0x0708, 0x8b1f, 0xd8ff, 0x4b50, 0xa681, 0x4747]) {
    let long = first;
    while (long < size) long += 0x10000;
    const padded = Buffer.concat([Buffer.alloc(8), model.subarray(8, 8 + size), Buffer.alloc(long - size, " "), model.subarray(8 + size)]);
    padded.writeBigUInt64LE(BigInt(long));
    assert.deepEqual((await (await load({ weights: padded, config })).classify(image)).logits, want);
  }
});
