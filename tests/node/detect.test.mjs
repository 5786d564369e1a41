// Models that find objects: classes, boxes and maps are PyTorch's, in files of ours and of transformers.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { joinFile, splitFile } from "../../web/base/safetensors.mjs";
import { folder, picture, printed, refused, sharp, skip, variant } from "./command.mjs";
import { farthest, golden, modelBytes, modelPath, ownConfig, readTensors, shared, slice } from "./golden.mjs";
import { fileOf } from "./stranger.mjs";
import { load, rejects, ways } from "./support.mjs";

const NEAR = 2e-5; // as tests/c/golden.h

/** tests/golden/yolos.py's configs, as transformers writes them. */
const YOLOS = {
  architectures: ["YolosForObjectDetection"], model_type: "yolos", hidden_size: 12, num_hidden_layers: 2, num_attention_heads: 3,
  intermediate_size: 28, hidden_act: "relu", image_size: [8, 12], patch_size: 4, num_channels: 3, qkv_bias: true,
  num_detection_tokens: 3, use_mid_position_embeddings: false, layer_norm_eps: 1e-12,
  id2label: { 0: "N/A", 1: "person", 2: "bicycle", 3: "car", 4: "cat" },
};
const MODELS = {
  own: undefined,
  own_resized: undefined,
  transformers: YOLOS,
  transformers_mid: {
    ...YOLOS, num_hidden_layers: 3, hidden_act: "gelu", image_size: [8, 20], use_mid_position_embeddings: true,
  },
  hustvl: undefined,
};

/** What a caller sets beside the folder's config: another size than the positions'. */
const ANSWERS = { transformers_mid: { image_size: [16, 8] }, hustvl: { image_size: [16, 8], position_size: [8, 20], heads: 3 } };

/** Writes a model as transformers does. Returns the folder's path. */
function yolosFolder({ path, write }, { name = "transformers", processor = PROCESSOR } = {}) {
  mkdirSync(join(path, name), { recursive: true });
  write(`${name}/model.safetensors`, modelBytes(`yolos/${name}`));
  write(`${name}/config.json`, JSON.stringify(MODELS[name]));
  write(`${name}/preprocessor_config.json`, JSON.stringify(processor));
  return join(path, name);
}

const PROCESSOR = {
  image_processor_type: "YolosImageProcessor", format: "coco_detection", do_resize: true, do_rescale: true, do_normalize: true, do_pad: true,
  image_mean: [0.485, 0.456, 0.406], image_std: [0.229, 0.224, 0.225], resample: 2, size: { shortest_edge: 32, longest_edge: 53 },
};

function sourceOf(name, t) {
  const weights = MODELS[name] ? yolosFolder(folder(t), { name }) : modelPath(`yolos/${name}`);
  return ANSWERS[name] || MODELS[name] ? { weights, config: ANSWERS[name] ?? {} } : weights;
}

/** An image's PyTorch answers, apart: scores (n,K+1), boxes (n,4), and the last layer's map (prefix,T), by the mean of the heads. */
function answers({ logits, attention }, { detections: n, classes, depth, heads }, T) {
  const each = classes + 5;
  const part = (first, last) => Array.from({ length: n }, (_, at) => [...logits.subarray(at * each + first, at * each + last)]).flat();
  const last = attention.subarray((depth - 1) * heads * T * T);
  const mean = Array.from({ length: T * T }, (_, i) =>
    Array.from({ length: heads }, (_, head) => last[head * T * T + i]).reduce((a, b) => a + b) / heads);
  return { scores: part(0, classes + 1), boxes: part(classes + 1, each), mean };
}

for (const name of Object.keys(MODELS)) {
  test(`${name}: scores, boxes, maps and attention equal PyTorch's, with every build`, async (t) => {
    for (const way of ways) {
      const vit = await load(sourceOf(name, t), way);
      const { detections: n, depth, heads } = vit.config;
      for (const one of golden(`yolos/${name}`)) {
        const { objects, logits, boxes, grid, attention } = await vit.detect(one.image, { threshold: 0, attention: [0] });
        const T = 1 + n + grid[0] * grid[1];
        const want = answers(one, vit.config, T);
        assert.ok(farthest(logits, want.scores) <= NEAR, "scores");
        assert.ok(farthest(boxes, want.boxes) <= NEAR, "boxes");
        assert.ok(farthest(attention.at(0, 1), one.attention.subarray(T * T, 2 * T * T)) <= NEAR, "attention");
        assert.deepEqual(objects.map(({ token }) => token).sort(), [1, 2, 3]);
        for (const { map, token } of objects) {
          assert.ok(farthest(map, want.mean.slice(token * T + 1 + n, (token + 1) * T)) <= NEAR, "map");
        }
        const whole = await vit.detect(one.image, { threshold: 0, attention: true });
        const maps = Array.from({ length: depth * heads }, (_, i) => [...whole.attention.at(Math.floor(i / heads), i % heads)]);
        assert.ok(farthest(maps.flat(), one.attention) <= NEAR, "all attention");
        for (const [index, { map, token }] of whole.objects.entries()) {
          assert.deepEqual(map, whole.attention.fromPrefix(token));
          assert.ok(farthest(map, objects[index].map) <= 1e-6, "the map without the matrix");
        }
        const { cls, patches, width } = await vit.embed(one.image);
        assert.ok(farthest(cls, one.tokens.subarray(0, width)) <= NEAR, "class token");
        assert.ok(farthest(patches, one.tokens.subarray((1 + n) * width)) <= NEAR, "patches");
      }
    }
  });
}

test("an object has the likeliest class, the share of a softmax over the classes and none, and a box in the photo's pixels", async (t) => {
  const vit = await load(sourceOf("transformers", t), { variant });
  const [{ image }] = golden("yolos/transformers");
  const { objects, logits, boxes, placement, input } = await vit.detect(image, { threshold: 0 });
  assert.deepEqual([placement, input], [{ left: 0, top: 0, width: 12, height: 8 }, image]);
  for (const [rank, { label, index, p, box, token }] of objects.entries()) {
    const scores = [...logits.subarray((token - 1) * 6, token * 6)], [x, y, width, height] = boxes.subarray((token - 1) * 4);
    const total = scores.reduce((sum, score) => sum + Math.exp(score), 0);
    assert.equal(index, scores.indexOf(Math.max(...scores.slice(0, 5))));
    assert.equal(label, YOLOS.id2label[index]);
    assert.ok(Math.abs(p - Math.exp(scores[index]) / total) < 1e-6);
    assert.ok(rank === 0 || p <= objects[rank - 1].p);
    const want = { left: (x - width / 2) * 12, top: (y - height / 2) * 8, width: width * 12, height: height * 8 };
    for (const side of Object.keys(want)) assert.ok(Math.abs(box[side] - want[side]) < 1e-5, side);
  }
  const least = objects[1].p;
  assert.equal((await vit.detect(image, { threshold: least })).objects.length, 2);
  assert.equal((await vit.detect(image, { keepInput: false })).input, undefined);
});

test("a model that classifies does not detect, one that detects does not classify, and both are told by name", async () => {
  const yolos = await load(modelPath("yolos/own")), vit = await load(modelPath("per_head"));
  const [{ image }] = golden("yolos/own"), [{ image: other }] = golden("per_head");
  await rejects(() => yolos.classify(image), "unsupported", /^classify: this model finds objects; use detect$/);
  await rejects(() => vit.detect(other), "unsupported", /^detect: this model has no detection tokens; use classify or embed$/);
  await rejects(() => yolos.detect(image, { threshold: 2 }), "bad_option", /^threshold: expected 0 to 1, got 2$/);
  await rejects(() => yolos.detect(image, { topK: 2 }), "bad_option", /topK/);
  const { Trainer } = await import("../../dist/train.js");
  const labels = ["a", "b"];
  await rejects(() => Trainer.create({ from: modelBytes("yolos/own"), labels }), "bad_config", /detections/);
});

test("a config of a model that detects is refused if another key contradicts it", async () => {
  const own = ownConfig("yolos/own");
  for (const [change, code, message] of [
    [{ pool: "mean" }, "bad_config", /^config: detections: expected pool to be class/],
    [{ detections: 5000 }, "bad_config", /^config: detections: expected a whole number from 0 to 4096/],
    [{ position: "none" }, "bad_config", /^config: mid_position: expected position to be learned$/],
    [{ detections: 4 }, "bad_tensor", /^tensor "det_token": expected shape/],
    [{ depth: 2 }, "bad_tensor", /^tensor "mid_pos_embed": expected shape/],
    [{ mid_position: false }, "bad_tensor", /^tensor "mid_pos_embed": is not part of the model/],
    [{ detections: 0, pool: "class" }, "bad_tensor", /^tensor "(pos_embed|head.weight)"/],
  ]) {
    await rejects(() => load({ weights: modelBytes("yolos/own"), config: { ...own, ...change } }), code, message);
  }
});

// ---- The form of transformers ---------------------------------------------------

/** tests/golden/yolos.py's photos. */
function photoOf(height, width) {
  const data = new Uint8Array(height * width * 3);
  for (let i = 0; i < data.length; i++) {
    const c = i % 3, x = Math.floor(i / 3) % width, y = Math.floor(i / 3 / width);
    data[i] = 7 * x + 13 * y + 29 * c + x * y; // modulo 256
  }
  return { data, width, height };
}

test("each photo has a size of its own, and PyTorch's scores at that size, with boxes in the photo's pixels", async (t) => {
  for (const name of ["transformers_mid", "hustvl"]) {
    const { sizes, logits: expected } = readTensors(readFileSync(new URL(`../golden/yolos/${name}.photos.safetensors`, import.meta.url)));
    const weights = MODELS[name] ? yolosFolder(folder(t), { name }) : modelPath(`yolos/${name}`);
    const own = MODELS[name] ? {} : { ...ANSWERS[name], image_size: [8, 20] }, { prepare } = (await load({ weights, config: own }, { variant })).config;
    assert.deepEqual([prepare.resize, prepare.crop, prepare.edges], [[8, 20], [8, 20], name === "hustvl" ? [800, 1333] : [32, 53]]);
    for (const way of ways) {
      const vit = await load({ weights, config: { ...own, prepare: { ...prepare, edges: [32, 53] } } }, way);
      for (let at = 0; at < sizes.shape[0]; at++) {
        const [rows, columns, ...size] = slice(sizes, at), want = slice(expected, at), photo = photoOf(rows, columns);
        const found = await vit.detect(photo, { threshold: 0, attention: [0] });
        const { scores, boxes } = answers({ logits: want, attention: new Float32Array() }, { ...vit.config, depth: 1 }, 0);
        assert.deepEqual([found.size, found.grid, found.input.length], [size, size.map((side) => side / 4), 3 * size[0] * size[1]]);
        assert.ok(farthest(found.logits, scores) <= NEAR, `${name}: scores of ${rows}×${columns}`);
        assert.ok(farthest(found.boxes, boxes) <= NEAR, `${name}: boxes of ${rows}×${columns}`);
        assert.deepEqual(found.placement, { left: 0, top: 0, width: columns, height: rows });
        assert.equal(found.attention.tokens, 4 + size[0] * size[1] / 16);
        for (const { box, map, token } of found.objects) {
          const [x, y, width, height] = boxes.slice((token - 1) * 4);
          assert.ok(farthest([box.left, box.top], [(x - width / 2) * columns, (y - height / 2) * rows]) < 1e-3);
          assert.equal(map.length, size[0] * size[1] / 16);
        }
        const again = await vit.detect(found.input, { size, threshold: 0 });
        assert.deepEqual(again.logits, found.logits, "its values, at that size");
      }
      assert.deepEqual((await vit.detect(photoOf(40, 30), { size: [16, 8] })).size, [16, 8], "the caller's size");
      assert.deepEqual((await vit.detect(photoOf(3, 900))).size, [16, 48], "a strip");
      await rejects(() => vit.detect(new Float32Array(5)), "bad_image", /expected a Float32Array of 480 values/);
    }
  }
});

test("sizes of YOLOS's processor are read in each form, and those that say too little are refused by name", async (t) => {
  const { prepare } = (await load(yolosFolder(folder(t)), { variant })).config;
  const stretched = await load(yolosFolder(folder(t), { processor: { ...PROCESSOR, size: { height: 16, width: 8 } } }), { variant });
  assert.deepEqual([stretched.config.image_size, stretched.config.position_size], [[16, 8], [8, 12]]);
  const old = { ...PROCESSOR, size: 32, max_size: 53, feature_extractor_type: "YolosFeatureExtractor", image_processor_type: undefined };
  assert.deepEqual((await load(yolosFolder(folder(t), { processor: old }), { variant })).config.prepare, prepare);
  const whole = { ...old, size: 800, max_size: undefined };
  assert.deepEqual((await load(yolosFolder(folder(t), { processor: whole }), { variant })).config.prepare.edges, [800, 1333]);
  for (const [change, message] of [
    [{ size: { shortest_edge: 800 } }, /^preprocessor: size: expected a shortest_edge and a longest_edge, or a height and a width, got /],
    [{ size: { max_height: 8, max_width: 8 } }, /^preprocessor: size: expected/],
    [{ pad_size: { height: 64, width: 64 } }, /^preprocessor: pad_size: not known here/],
  ]) {
    await rejects(() => load(yolosFolder(folder(t), { processor: { ...PROCESSOR, ...change } }), { variant }), "bad_config", message);
  }
});

test("its authors' YOLOS of published sizes asks for nothing: positions tell the grid, and pixels beyond it are left out", async () => {
  const sized = (rows) => {
    const shape = (name) => (name.endsWith("pos_embed") ? [...entries[name].shape.slice(0, -2), 1 + rows + 3, 12] : entries[name].shape);
    return fileOf(Object.fromEntries(Object.keys(entries).map((name) => [name, shape(name)])));
  };
  const { header: { __metadata__, ...entries } } = splitFile(modelBytes("yolos/hustvl"));
  const { config, family, assumed } = await load({ weights: sized(50 * 83), config: { heads: 3 } });
  assert.deepEqual([family, config.image_size, config.position_resize], ["hustvl's YOLOS", [200, 332], "plain"]);
  assert.ok(["image_size", "prepare"].every((key) => assumed.includes(key)));
  assert.equal(config.prepare.crop.join(), "200,332");
  const other = (await load({ weights: sized(32 * 54), config: { heads: 3, image_size: [40, 61] } })).config;
  assert.deepEqual([other.position_size, other.patch_stride], [[128, 216], [4, 4]]);
});

test("a detector with timm's names is refused by name, because its order of positions is not known", async () => {
  const { header: { __metadata__, ...header }, data } = splitFile(modelBytes("yolos/own"));
  const weights = joinFile(header, data);
  await rejects(() => load({ weights, config: { heads: 3, image_size: [8, 12] } }), "bad_tensor", /^tensor "det_token": is of a detector whose code is not known here/);
});

test("pixels that fill no patch are left out, as of 1333 columns", async () => {
  const wide = { ...YOLOS, image_size: [9, 15] };
  const vit = await load({ weights: modelBytes("yolos/transformers"), config: wide }, { variant });
  const [{ image, ...one }] = golden("yolos/transformers");
  const larger = new Float32Array(3 * 9 * 15);
  for (let i = 0; i < image.length; i++) larger[Math.floor(i / 96) * 135 + (Math.floor(i / 12) % 8) * 15 + (i % 12)] = image[i];
  const { logits } = await vit.detect(larger);
  assert.ok(farthest(logits, answers(one, vit.config, 10).scores) <= NEAR);
});

test("a detector in int8 finds nearly the same, with its positions in their places", async (t) => {
  const { quantize } = await import("../../dist/train.js");
  const source = yolosFolder(folder(t), { name: "transformers_mid" });
  const whole = await load(source, { variant }), small = await load(await quantize(source, { variant }), { variant });
  const [rows, columns] = whole.config.image_size;
  const image = Float32Array.from({ length: 3 * rows * columns }, (_, i) => Math.sin(i * i));
  const [want, got] = [await whole.detect(image), await small.detect(image)];
  assert.ok(farthest(got.boxes, want.boxes) < 0.05, `${farthest(got.boxes, want.boxes)}`);
  assert.ok(farthest(got.logits, want.logits) < 0.1, `${farthest(got.logits, want.logits)}`);
});

const wantedFolder = shared("wanted"), CASE = "transformers-4.48.0_yolos";
test("the case that transformers' own code made is exact", { skip: wantedFolder && existsSync(join(wantedFolder, CASE)) ? false : "no folder wanted in the data that VITRINE_DATA names" }, async () => {
  const oracle = readTensors(readFileSync(join(wantedFolder, CASE, "oracle.safetensors")));
  const vit = await load(join(wantedFolder, CASE), { variant });
  for (let index = 0; index < oracle.images.shape[0]; index++) {
    const { logits, boxes } = await vit.detect(slice(oracle.images, index));
    assert.ok(farthest(logits, slice(oracle.logits, index)) <= 1e-5, "logits");
    assert.ok(farthest(boxes, slice(oracle.boxes, index)) <= 1e-5, "boxes");
  }
});

// ---- The command ------------------------------------------------------------------

test("the command prints objects and draws them, one with its own map", { skip }, async (t) => {
  const here = folder(t), model = yolosFolder(here);
  const photo = picture(40, 30, 3);
  const file = here.write("photo.png", await sharp(photo.data, { raw: photo }).png().toBuffer());
  const args = ["detect", "--model", model, "--variant", variant, "--threshold", "0"];
  const vit = await load(model, { variant });
  const { objects } = await vit.detect(photo, { threshold: 0 });
  const rows = (await printed([...args, file])).trimEnd().split("\n").map((row) => row.split("\t"));
  assert.deepEqual(rows, objects.map(({ label, p, box }) =>
    [file, label, p.toFixed(4), ...[box.left, box.top, box.width, box.height].map((side) => side.toFixed(1))]));
  const [report] = JSON.parse(await printed([...args, "--json", "--maps", "--out", here.at("boxes.png"), file]));
  assert.deepEqual(report.objects.map(({ map }) => Float32Array.from(map)), objects.map(({ map }) => map));
  const { width, height } = await sharp(here.at("boxes.png")).metadata();
  assert.deepEqual([width, height], [448, 448], "of 32×32");
  await printed([...args, "--object", "1", "--out", here.at("one.png"), file]);
  assert.notDeepEqual(readFileSync(here.at("one.png")), readFileSync(here.at("boxes.png")));
  await refused([...args, "--threshold", "2", file], 2, /^vitrine: --threshold: expected 0 to 1, got "2"\n$/);
  await refused([...args, "--object", "7", "--out", here.at("no.png"), file], 1, /--object: expected one of the 3 objects, counted from 0, got 7\n$/);
  await refused(["detect", "--variant", variant, file], 1, /^vitrine: detect: this model has no detection tokens/);
});
