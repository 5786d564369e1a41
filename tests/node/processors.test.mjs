// The files of other libraries' image processors become `prepare`, or are refused by name.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { farthest, modelBytes, PREPROCESSOR, readTensors, rewritten, shared } from "./golden.mjs";
import { load, rejects } from "./support.mjs";

const families = shared("families");
const skip = families ? false : "no folder families in the data that VITRINE_DATA names";

const weights = modelBytes("families/vit");
const SIZE = [12, 12];
const CONFIG = { model_type: "vit", num_attention_heads: 2, image_size: 12, patch_size: 4 };
const file = (name, value) => new File([typeof value === "object" ? JSON.stringify(value) : value], name);
const folder = (processor, config = CONFIG, name = "preprocessor_config.json") => [
  file("config.json", config), file(name, processor), new File([weights], "model.safetensors"),
];
const prepared = async (...parts) => (await load(folder(...parts))).config.prepare;
const refused = (processor, message, config) =>
  rejects(() => load(folder(processor, config)), "bad_config", message);

/** A processor's file for images of 12 by 12, as transformers writes it, with changes. */
const processor = (changes) => ({ ...PREPROCESSOR, image_processor_type: "BitImageProcessor", ...changes });
const light = { mean: [0.5, 0.25, 0.125], std: [0.5, 0.5, 0.25] };

test("a processor's size of one number is the shorter side or a square, by the processor's class", async () => {
  const of = async (type, changes) => {
    const { resize, crop } = await prepared(processor({ image_processor_type: type, size: 16, crop_size: 12, ...changes }));
    return [resize, crop];
  };
  for (const type of ["CLIPFeatureExtractor", "CLIPImageProcessor", "CLIPImageProcessorFast", "BitImageProcessor"]) {
    assert.deepEqual(await of(type), [16, 12], type);
  }
  for (const type of ["ViTFeatureExtractor", "ViTImageProcessorFast", "DeiTImageProcessor", "SiglipImageProcessor"]) {
    assert.deepEqual(await of(type), [[16, 16], 12], type);
  }
  assert.deepEqual(await of("CLIPFeatureExtractor", { default_to_square: true }), [[16, 16], 12]);
  assert.deepEqual(await of(undefined, { feature_extractor_type: "CLIPFeatureExtractor" }), [16, 12]);
  assert.deepEqual(await of(undefined, {}), [[16, 16], 12]); // the config's model_type tells ViT
});

test("a processor's class is asked for if no file tells it and something depends on it", async () => {
  const ours = { heads: 2 };
  const { image_mean, image_std } = PREPROCESSOR;
  const whole = { image_mean, image_std, resample: 3, do_center_crop: false };
  const asks = (what) => new RegExp(`^config: image_processor_type: set image_processor_type to ViT.*, .* or ConvNextImageProcessor, whether ${what}.*: the files do not say$`);
  await refused({ ...whole, size: 12 }, asks("size 12"), ours);
  await refused({ size: { height: 12, width: 12 } }, asks("image_mean is the default"), ours);
  const prepare = await prepared({ size: 12, do_center_crop: false }, { ...ours, image_processor_type: "ViTImageProcessor" });
  assert.deepEqual(prepare.resize, SIZE);
  assert.deepEqual((await prepared({ ...whole, size: { height: 12, width: 12 } }, ours)).resize, SIZE);
});

test("a photo becomes grey for a model of one channel, if the processor has one number for it", async () => {
  const grey = rewritten(weights, (tensors) => {
    const patches = tensors["vit.embeddings.patch_embeddings.projection.weight"];
    Object.assign(patches, { shape: [20, 1, 4, 4], data: patches.data.subarray(0, 4 * 20 * 4 * 4) });
  });
  const of = (changes, apart) => load({ weights: [
    file("config.json", { ...CONFIG, num_channels: 1 }), new File([grey], "model.safetensors"),
    file("preprocessor_config.json", processor({ size: 12, ...changes })),
  ], ...apart });
  const same = { image_mean: [0.5, 0.5, 0.5], image_std: [0.25, 0.25, 0.25] };
  const { mean, std } = (await of(same)).config.prepare;
  assert.deepEqual([mean, std], [[0.5], [0.25]]);
  const data = Uint8Array.from({ length: 3 * 14 * 20 }, (_, index) => (index * 31) % 256);
  const luma = data.filter((_, index) => index % 3 === 0).map((red, pixel) => // Pillow's convert("L")
    (19595 * red + 38470 * data[3 * pixel + 1] + 7471 * data[3 * pixel + 2] + 32768) >> 16);
  const vit = await of(same);
  const [colour, plain] = await vit.classifyAll([{ data, width: 20, height: 14 }, { data: luma, width: 20, height: 14 }]);
  assert.deepEqual(colour.logits, plain.logits);
  await rejects(() => of({ ...same, image_mean: [0.1, 0.2, 0.3] }), "bad_config", /image_mean: expected one number for the model's one channel, got 3: pass a `prepare`/);
  const prepare = { kind: "photo", resize: 12, crop: 12, mean: [0.3], std: [0.2] };
  assert.deepEqual((await of({ image_mean: [0.1, 0.2, 0.3] }, { prepare })).config.prepare, prepare);
});

test("missing keys of a processor's file get the defaults of its class", async () => {
  const config = { ...CONFIG, image_size: undefined };
  await refused({ image_processor_type: "CLIPImageProcessor" }, /crop: expected image_size.*got \(224,224\)/, config);
  assert.deepEqual(await prepared({ image_processor_type: "ViTImageProcessor", size: 12 }), {
    kind: "photo", resize: SIZE, crop: 12, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5], interpolation: "bilinear",
  });
  const { mean, std, interpolation } = await prepared({ image_processor_type: "CLIPImageProcessor", crop_size: 12 });
  assert.deepEqual([mean[0], std[2], interpolation], [0.48145466, 0.27577711, "bicubic"]);
});

test("a rescale factor other than 1/255, or none, is put into mean and std", async () => {
  const lit = async (changes) => {
    const { mean, std } = await prepared(processor(changes));
    return [...mean, ...std];
  };
  const close = (got, want) => got.forEach((value, i) => assert.ok(Math.abs(value - want[i]) < 1e-12, `${got}`));
  const plain = [...light.mean, ...light.std];
  assert.deepEqual(await lit({ rescale_factor: 0.00392156862745098 }), plain);
  close(await lit({ rescale_factor: 1 / 127.5 }), plain.map((each) => each / 2));
  close(await lit({ do_rescale: false }), plain.map((each) => each / 255));
  assert.deepEqual(await lit({ do_normalize: false }), [0, 0, 0, 1, 1, 1]);
  close(await lit({ do_normalize: false, do_rescale: false }), [0, 0, 0, 1 / 255, 1 / 255, 1 / 255]);
  assert.deepEqual(await lit({ image_mean: 0.5, image_std: 0.25 }), [0.5, 0.5, 0.5, 0.25, 0.25, 0.25]);
});

test("without rescaling the model gets a photo's bytes as they are", async () => {
  const vit = await load(folder(processor({ do_rescale: false, do_normalize: false })));
  const data = Uint8Array.from({ length: 16 * 16 * 3 }, () => 77);
  const { input } = await vit.classify({ data, width: 16, height: 16, channels: 3 });
  assert.ok(input.every((value) => Math.abs(value - 77) < 1e-4), `${input[0]}`);
});

test("ConvNeXt's crop_pct sets the share of the middle that is kept, for sizes below 384", async () => {
  const convnext = { image_processor_type: "ConvNextImageProcessor", size: { shortest_edge: 12 } };
  const { resize, crop, crop_at } = await prepared(convnext);
  assert.deepEqual([resize, crop, crop_at], [13, 12, "floor"]); // 12 / 0.875
  assert.equal((await prepared({ ...convnext, size: 12, crop_pct: 0.5 })).resize, 24);
  await refused({ ...convnext, size: 384 }, /prepare\.crop: expected image_size.*got \(384,384\)/);
  await refused({ ...convnext, crop_pct: 0 }, /preprocessor: crop_pct: expected a number above 0.*got 0/);
});

test("without a resize a photo is cropped as it is, and refused if it is smaller than the crop", async () => {
  const vit = await load(folder(processor({ do_resize: false })));
  assert.deepEqual(vit.config.prepare, {
    kind: "photo", resize: null, crop: 12, crop_at: "floor", ...light, interpolation: "bicubic",
  });
  const photo = (width) => ({ data: new Uint8Array(width * 15 * 3).map((_, i) => i % 251), width, height: 15, channels: 3 });
  const { input } = await vit.classify(photo(20));
  const first = 3 * (20 * 1 + 4); // the margins are 3 and 8
  assert.ok(Math.abs(input[0] - (photo(20).data[first] / 255 - 0.5) / 0.5) < 1e-6, `${input[0]}`);
  await rejects(() => vit.classify(photo(11)), "bad_image", /12 columns or more.*got 11 of 15x11/);
});

test("a processor's rows and columns may differ, and its crop has the image's size", async () => {
  const wide = { ...CONFIG, image_size: [12, 12] };
  const { resize, crop } = await prepared(processor({ size: { height: 14, width: 20 } }), wide);
  assert.deepEqual([resize, crop], [[14, 20], 12]);
  await refused(processor({ crop_size: { height: 12, width: 8 } }), /prepare\.crop: expected image_size.*\(12,12\), got \(12,8\)/);
});

test("a processor's filter may be Pillow's number, and those of box and hamming are refused", async () => {
  for (const [resample, interpolation] of ["nearest", "lanczos", "bilinear", "bicubic"].entries()) {
    assert.equal((await prepared(processor({ resample }))).interpolation, interpolation);
  }
  for (const resample of [4, 5, "box"]) {
    await refused(processor({ resample }), /preprocessor: resample: expected one of 0, 1, 2, 3, got/);
  }
});

test("the image processor in transformers 5's processor_config.json is found", async () => {
  const all = { processor_class: "CLIPProcessor", image_processor: processor({}) };
  const own = await prepared(processor({}));
  assert.deepEqual(await prepared(all, CONFIG, "processor_config.json"), own);
  assert.equal(await prepared({ processor_class: "CLIPProcessor" }, CONFIG, "processor_config.json"), null);
  const both = [...folder(processor({})), file("processor_config.json", { image_processor: processor({ size: 99 }) })];
  assert.deepEqual((await load(both)).config.prepare, own);
});

test("an unknown step or class of a processor is refused by name", async () => {
  for (const [changes, message] of [
    [{ do_pad: true }, /^preprocessor: do_pad: not known here/],
    [{ do_flip_channel_order: true }, /do_flip_channel_order: not known here/],
    [{ rescale_offset: true }, /rescale_offset: not known here/],
    [{ offset: true }, /offset: not known here/],
    [{ size_divisor: 32 }, /size_divisor: not known here/],
    [{ image_processor_type: "VivitImageProcessor" }, /image_processor_type: expected one of ViT, .*got "Vivit"/],
    [{ image_processor_type: 5 }, /image_processor_type: .*got "5"/],
    [{ size: { shortest_edge: 16, longest_edge: 20 } }, /size: expected a number.*longest_edge/],
    [{ size: { max_height: 16, max_width: 20 } }, /size: expected a number.*max_height/],
    [{ size: 12.5 }, /size: .*got 12\.5/],
    [{ crop_size: { shortest_edge: 12 } }, /crop_size: expected a height and a width/],
    [{ size: 10 }, /crop_size: expected at most the size, 10x10, got 12x12/],
    [{ do_center_crop: false }, /do_center_crop: expected true, because size gives only the shorter side/],
    [{ do_center_crop: false, do_resize: false }, /do_center_crop: expected true, because nothing is resized/],
    [{ do_resize: "yes" }, /do_resize: expected true or false, got "yes"/],
    [{ rescale_factor: 0 }, /rescale_factor: expected a number above 0/],
    [{ image_mean: "grey" }, /image_mean: expected numbers/],
    [{ image_std: [1, 1] }, /prepare: expected mean and std/],
  ]) {
    await refused(processor(changes), message);
  }
  await prepared(processor({ do_convert_rgb: true, do_pad: false, size_divisor: null, processor_class: "CLIPProcessor" }));
});

test("with a given prepare the processor's file is neither fetched nor refused", async () => {
  const mine = { kind: "photo", resize: 12, mean: [0, 0, 0], std: [1, 1, 1] };
  const parts = folder(processor({ do_pad: true }));
  assert.deepEqual((await load({ weights: parts, prepare: mine })).config.prepare, mine);
  assert.deepEqual((await load({ weights: parts, config: { prepare: mine } })).config.prepare, mine);
  assert.equal((await load({ weights: parts, config: { prepare: null } })).config.prepare, null);
  const config = { architecture: "vit", pretrained_cfg: { input_size: [3, 8, 8], interpolation: "random" } };
  const model = await load({ weights: modelBytes("families/torchvision"), config, prepare: { ...mine, resize: 8 } });
  assert.equal(model.config.prepare.resize, 8);
});

test("timm's crop_mode keeps the photo's shape, stretches it, or fills its border with the mean", async () => {
  const of = async (changes, input_size = [3, 8, 8]) => {
    const pretrained_cfg = { input_size, mean: [0.5, 0.4, 1], std: [0.5, 0.5, 0.5], crop_pct: 0.8, ...changes };
    const config = { architecture: "vit_tiny_patch4_8", pretrained_cfg };
    const { kind, mean, std, ...rest } = (await load({ weights: modelBytes("families/torchvision"), config })).config.prepare;
    return rest;
  };
  const bicubic = { crop: 8, interpolation: "bicubic" };
  assert.deepEqual(await of({}), { resize: 10, ...bicubic });
  assert.deepEqual(await of({ crop_mode: "center", crop_pct: null }), { ...bicubic, resize: 9 });
  assert.deepEqual(await of({ crop_mode: "squash" }), { resize: [10, 10], ...bicubic });
  const border = { resize: [10, 10], fit: "contain", fill: [128, 102, 255], ...bicubic };
  assert.deepEqual(await of({ crop_mode: "border" }), border); // 127.5 rounds to 128, as in Python
  for (const interpolation of ["nearest", "lanczos", "bilinear"]) {
    assert.equal((await of({ interpolation })).interpolation, interpolation);
  }
  await rejects(() => of({ interpolation: "random" }), "bad_config", /interpolation: expected one of.*"random"/);
  await rejects(() => of({ crop_mode: "fold" }), "bad_config", /crop_mode: expected one of center, squash, border/);
  await rejects(() => of({ crop_pct: 2 }), "bad_config", /crop_pct: expected a number above 0 and up to 1, got 2/);
});

test("photos are prepared like openai/clip's own transform does it, within half a level", { skip }, async (t) => {
  const place = (name) => join(families, "photos_hub_openai_clip_vit_base_patch32", name);
  const vit = await load(place("."));
  const { sizes, std } = JSON.parse(readFileSync(place("photo.json"), "utf8"));
  const oracle = readTensors(readFileSync(place("oracle.safetensors")));
  let most = 0;
  for (const [name, [width, height, channels]] of Object.entries(sizes)) {
    const { input } = await vit.classify({ data: new Uint8Array(readFileSync(place(`${name}.raw`))), width, height, channels });
    const { values } = oracle[name];
    assert.equal(input.length, values.length);
    const area = input.length / channels;
    input.forEach((value, i) => (most = Math.max(most, 255 * std[Math.floor(i / area)] * Math.abs(value - values[i]))));
  }
  t.diagnostic(`${Object.keys(sizes).length} photos: at most ${most.toFixed(4)} of 255 levels away`);
  assert.ok(most < 0.5, `${most} levels`);
});

for (const [name, size] of [["timmways-1.0.29_nonsquare_64x96", [64, 96]], ["transformers-4.48.0_vit_rect_preprocessor", [32, 48]]]) {
  test(`${name} gives the logits of its own code, and takes photos`, { skip }, async () => {
    const vit = await load(join(families, name));
    const { images, logits } = readTensors(readFileSync(join(families, name, "oracle.safetensors")));
    for (let i = 0; i < images.shape[0]; i++) {
      const of = ({ values, shape: [count] }) => values.subarray((i * values.length) / count, ((i + 1) * values.length) / count);
      assert.ok(farthest((await vit.classify(of(images))).logits, of(logits)) < 1e-4);
    }
    assert.deepEqual([vit.config.image_size, vit.config.prepare.crop], [size, size]);
    const data = new Uint8Array(200 * 90 * 3).fill(128);
    const { input } = await vit.classify({ data, width: 200, height: 90, channels: 3 });
    assert.ok(input.every((value) => Math.abs(value - (128 / 255 - 0.5) / 0.5) < 1e-6));
  });
}
