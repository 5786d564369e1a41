// Real photos are prepared to the bytes that Pillow makes. tests/golden/photos.py made the numbers and explains the words of a case.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { writeSafetensors } from "../../web/base/safetensors.mjs";
import { sharp, skip } from "./command.mjs";
import { shared } from "./golden.mjs";
import { load } from "./support.mjs";

const folder = shared("photos");
const cases = readFileSync(new URL("../golden/photos.txt", import.meta.url), "utf8").trim().split("\n").map((line) => {
  const [file, from, to, interpolation, resize, rows, columns, fit, cropRows, cropColumns, crop_at, grey, step, hash, samples] = line.split(" ");
  return {
    file, from: Number(from), to: Number(to), crop: [Number(cropRows), Number(cropColumns)], step: Number(step), hash, samples,
    prepare: {
      kind: "photo", interpolation, crop_at, crop: [Number(cropRows), Number(cropColumns)],
      resize: Number(resize) || (Number(rows) ? [Number(rows), Number(columns)] : null),
      ...(Number(rows) && { fit }), fill: Number(grey) < 0 ? null : Array(Number(to)).fill(Number(grey)),
      mean: Array(Number(to)).fill(0), std: Array(Number(to)).fill(1),
    },
  };
});

/** A model of one patch, which does nothing with its image. */
function model({ crop, to, prepare }) {
  const config = {
    image_size: crop, patch_size: crop, channels: to, width: 1, depth: 0, heads: 1, mlp_width: 1, classes: 0, norm: "pre", norm_eps: 1e-6,
    final_norm: false, activation: "gelu", position: "none", pool: "mean", qkv_bias: true, qk_norm: false, layer_scale: false, prefix: [],
    attention: "standard", prepare,
  };
  const shape = [1, to, ...crop];
  const tensor = (shape) => ({ shape, data: new Float32Array(shape.reduce((a, b) => a * b)) });
  return writeSafetensors({ config, tensors: new Map([["patch_embed.proj.weight", tensor(shape)], ["patch_embed.proj.bias", tensor([1])]]) });
}

/** The pixels with so many channels, made as photos.py makes them. */
function withChannels({ data, width, height }, channels) {
  const out = new Uint8Array(width * height * channels);
  for (let i = 0, at = 0; i < width * height; i++) {
    if (channels < 3) out[at++] = data[3 * i + 1];
    else for (let c = 0; c < 3; c++) out[at++] = data[3 * i + c];
    if (channels % 2 === 0) out[at++] = 3 * (i % width) + 5 * Math.floor(i / width);
  }
  return { data: out, width, height, channels };
}

/** FNV-1a. */
function hashOf(bytes) {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

test("real photos are resized, stretched, cropped and laid on white as Pillow does, to the byte", {
  skip: skip || (!folder && "no photos in the folder that VITRINE_DATA names, nor beside it"),
}, async (t) => {
  const decoded = {};
  for (const file of new Set(cases.map(({ file }) => file))) {
    const { data, info } = await sharp(join(folder, file)).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    assert.equal(info.channels, 3);
    for (const from of new Set(cases.filter((one) => one.file === file).map(({ from }) => from))) {
      decoded[`${file} ${from}`] = withChannels({ data, ...info }, from);
    }
  }
  assert.equal(cases.length, 144);
  let most = 0;
  for (const one of cases) {
    const { file, from, to, crop: [rows, columns], step, hash, samples } = one;
    const vit = await load(model(one));
    const { input } = await vit.embed(decoded[`${file} ${from}`]);
    vit.dispose();
    const plane = rows * columns, bytes = new Uint8Array(plane * to);
    for (let at = 0; at < bytes.length; at++) bytes[at] = Math.round(255 * input[(at % to) * plane + Math.floor(at / to)]);
    const what = `${file}, ${from} to ${to} channels, ${JSON.stringify(one.prepare)}`;
    const expected = Buffer.from(samples, "hex");
    let at = 0;
    for (let y = 0; y < rows; y += step) {
      for (let x = 0; x < columns; x += step) {
        for (let c = 0; c < to; c++) most = Math.max(most, Math.abs(expected[at++] - bytes[(y * columns + x) * to + c]));
      }
    }
    assert.equal(at, expected.length, what);
    assert.ok(most <= 1, `${what}: ${most} levels away`);
    assert.equal(hashOf(bytes).toString(16), hash.replace(/^0+/, ""), what);
  }
  t.diagnostic(`the farthest sample is ${most} levels away`);
});
