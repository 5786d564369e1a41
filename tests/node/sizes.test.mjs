// The option `size`. The oracle is the same file loaded with that image_size: every number has the same bits.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { farthest, golden, modelBytes, modelPath, names, ownConfig, readTensors } from "./golden.mjs";
import { instancesOf, load, rejects, variants, ways } from "./support.mjs";

/** Files of other libraries, with what no tensor of theirs tells. */
const FAMILIES = {
  torchvision: {},
  vit: { heads: 2 },
  vit_of_another_grid: { heads: 2, image_size: [8, 16], position_size: [8, 20] },
  deit3: { heads: 2 },
  dinov2: { heads: 2, norm_eps: 1e-6, image_size: [8, 16] },
  dinov2_registers: { heads: 2, norm_eps: 1e-6 },
  dinov2_of_the_hub: { heads: 2 },
  dinov2_in_chunks: { heads: 2 },
  mae_with_decoder: { heads: 2 },
  clip: { heads: 2 },
  siglip: { heads: 2, norm_eps: 1e-6, activation: "gelu_tanh" },
  vit_pytorch_mean_before: { heads: 1, pool: "mean" },
  timm_behind_a_prefix: { heads: 2 },
  timm_map_registers: { heads: 2, activation: "gelu", pool_prefix: false },
  timm_prr: { heads: 2, pool: "prr" },
  timm_rope: { heads: 2, image_size: [12, 12] },
  t2t_vit: { heads: 2 },
  timm_eva02: { heads: 2 },
  dinov3: { heads: 2, image_size: [8, 16] },
  perception_encoder: { heads: 2 },
};

let seed = 1;
const random = () => ((seed = (seed * 48271) % 2147483647) / 2147483647) * 2 - 1;
const imageOf = ({ channels }, [rows, columns]) => Float32Array.from({ length: channels * rows * columns }, random);

/** Everything that a call with attention gives, but the time. */
async function answers(vit, image, options = {}) {
  if (vit.config.detections > 0) {
    const { milliseconds, attention, ...rest } = await vit.detect(image, { ...options, threshold: 0 });
    return { embedded: rest, rest: (await vit.detect(image, { ...options, attention: true })).attention.at(1, "mean") };
  }
  const { attention, ...embedded } = await vit.embed(image, { ...options, attention: true });
  const maps = (attention) => attention?.kept.flatMap((layer) => Array.from({ length: attention.heads }, (_, head) => attention.at(layer, head)));
  const all = { embedded, grid: attention?.grid, maps: maps(attention) };
  if (vit.config.classes === 0) return all;
  const { milliseconds, attention: classified, ...rest } = await vit.classify(image, { ...options, attention: true });
  return { ...all, rest, classified: maps(classified) };
}

/** A few sizes of whole patches, larger and smaller, of other proportions, and back. */
const sizesOf = ({ image_size: [rows, columns], patch_size: [P, Q] }) =>
  [[rows + P, columns + 2 * Q], [P, 3 * Q], [rows, columns], [4 * P, 2 * Q]];

async function check(name, weights, config, options) {
  const vit = await load({ weights, config }, options);
  const { image_size: own, position_size } = vit.config;
  const first = imageOf(vit.config, own), before = await answers(vit, first);
  for (const size of sizesOf(vit.config)) {
    const image = imageOf(vit.config, size);
    const other = await load({ weights, config: { ...config, image_size: size, position_size } }, options);
    const got = await answers(vit, image, { size });
    assert.deepEqual(got, await answers(other, image), `${name}: ${size}`);
    assert.deepEqual(got.embedded.grid, size.map((side, axis) => side / vit.config.patch_size[axis]), name);
    assert.deepEqual(got.embedded.placement, { left: 0, top: 0, width: size[1], height: size[0] }, name);
    other.dispose();
  }
  assert.deepEqual(await answers(vit, first), before, `${name}: as at first`);
  vit.dispose();
}

test("our files at other sizes give the bits of the file loaded with that image_size", async () => {
  let checked = 0;
  for (const name of names) {
    const config = ownConfig(name);
    if (config.position === "relative") continue;
    await check(name, modelBytes(name), config, { variant: variants[checked++ % variants.length] });
  }
  assert.ok(checked > 15, `${checked}`);
});

test("so do other libraries' files, whose positions are resized as each library does it", async () => {
  for (const [name, config] of Object.entries(FAMILIES)) await check(name, modelBytes(`families/${name}`), config);
});

test("relative positions are resized as each library's own code does it: PyTorch's answers, with every build", async () => {
  for (const name of ["timm_beit", "timm_beit_shared", "beit", "data2vec_vision"]) {
    const { images, logits, tokens } = readTensors(readFileSync(new URL(`../golden/families/${name}.sized.golden.safetensors`, import.meta.url)));
    const size = images.shape.slice(2), weights = modelBytes(`families/${name}`);
    for (const way of ways) {
      const vit = await load({ weights, config: { heads: 2 } }, way), own = imageOf(vit.config, [12, 12]);
      assert.equal(vit.config.position_resize, name.startsWith("timm") ? "antialias" : "plain");
      const before = await answers(vit, own);
      for (let twice = 0; twice < 2; twice++) {
        if (logits) assert.ok(farthest((await vit.classify(images.values, { size })).logits, logits.values) <= 1e-5, name);
        const { patches, grid, width } = await vit.embed(images.values, { size });
        assert.deepEqual([...grid], size.map((side) => side / 4));
        if (tokens) assert.ok(farthest(patches, tokens.values.subarray(width)) <= 1e-5, name);
        assert.deepEqual(await answers(vit, own), before, "as at first");
      }
    }
  }
});

test("an MLP's relative positions fit one size, and a file's own table the size that it is loaded with", async () => {
  const message = /^config: position_resize: relative positions that an MLP makes are not resized: load the original file with this image_size$/;
  for (const config of [{ heads: 2, image_size: [8, 12] }, { architecture: "vit_relpos_small_patch16_224", model_args: { num_heads: 2, img_size: [8, 12] } }]) {
    const relpos = await load({ weights: modelBytes("families/timm_relpos"), config });
    await rejects(() => relpos.embed(imageOf(relpos.config, [12, 12]), { size: [12, 12] }), "bad_config", message);
    await relpos.embed(imageOf(relpos.config, [8, 12]));
  }
  const larger = { weights: modelBytes("families/beit"), config: { heads: 2, image_size: [16, 16] } };
  await rejects(() => load(larger), "bad_tensor", /expected 52 rows for this image size and prefix, got 28; only a call with another size resizes relative positions$/);
});

test("so do models that find objects, with positions after each block", async () => {
  for (const name of ["own", "own_resized"]) await check(name, modelBytes(`yolos/${name}`), ownConfig(`yolos/${name}`));
});

test("a batch, a worker and threads give the same, with calls of other sizes in between", async () => {
  const config = ownConfig("positions_enlarged"), weights = modelBytes("positions_enlarged");
  const sizes = sizesOf(config), images = sizes.map((size) => [imageOf(config, size), imageOf(config, size)]);
  for (const options of [...ways, { variant: "simd128", worker: true, threads: 2 }]) {
    const want = [];
    for (const [i, size] of sizes.entries()) {
      const vit = await load({ weights, config: { ...config, image_size: size } }, { variant: options.variant });
      want.push([]);
      for (const image of images[i]) want[i].push((await answers(vit, image)).classified);
    }
    const vit = await load(weights, options);
    const calls = sizes.map((size, i) => vit.classifyAll(images[i], { size, attention: true }));
    const got = (await Promise.all(calls)).map((batch) => batch.map(({ attention }) => // read late, so most are computed again
      attention.kept.flatMap((layer) => Array.from({ length: attention.heads }, (_, head) => attention.at(layer, head)))));
    assert.deepEqual(got, want, JSON.stringify(options));
  }
});

test("traces, relevance, ablations and replacements have the call's size", async () => {
  const config = ownConfig("rotary_learned"), weights = modelBytes("rotary_learned"), size = [8, 20];
  const [vit, other] = [await load(weights), await load({ weights, config: { ...config, image_size: size, position_size: config.image_size } })];
  const image = imageOf(config, size);
  const all = async (model, option) => {
    const { trace, attention } = await model.classify(image, { ...option, trace: true, relevance: [1, 2] });
    const rows = trace.queries(1, 0);
    const without = await model.classify(image, { ...option, ablate: { positions: true, heads: [[0, 1]] } });
    const replaced = await model.classify(image, { ...option, replace: [{ layer: 0, head: 1, keys: rows }] });
    return [rows, trace.tokens(1), trace.scores(0, 2), trace.lens(1), attention.relevance(2), attention.rollout(), without.logits, replaced.logits];
  };
  assert.deepEqual(await all(vit, { size }), await all(other, {}));
  const { trace } = await vit.classify(golden("rotary_learned")[0].image, { trace: true });
  await rejects(() => vit.classify(image, { size, replace: [{ layer: 0, head: 0, keys: trace.keys(0, 0) }] }), "bad_argument", /replace\.keys: expected a Float32Array of 44/);
});

test("photos are resized in proportion, and the placement is in the photo's pixels", async () => {
  const weights = modelBytes("families/vit"), plain = { kind: "photo", mean: [0, 0.1, 0.2], std: [1, 0.5, 1] };
  const photo = { data: Uint8Array.from({ length: 61 * 44 * 3 }, (_, i) => (i * i) % 251), width: 61, height: 44, channels: 3 };
  for (const [size, before, after] of [
    [[24, 24], { resize: 14, crop: 12 }, { resize: 28, crop: 24 }],
    [[8, 8], { resize: 14, crop: 12, interpolation: "bicubic", crop_at: "floor" }, { resize: 9, crop: 8, interpolation: "bicubic", crop_at: "floor" }],
    [[24, 12], { resize: 14, crop: 12 }, { resize: [28, 14], fit: "cover", crop: [24, 12] }],
    [[16, 24], { resize: [12, 12], crop: [12, 12] }, { resize: [16, 24], crop: [16, 24] }],
    [[16, 24], { resize: [12, 12], fit: "contain", fill: [9, 8, 7], crop: 12 }, { resize: [16, 24], fit: "contain", fill: [9, 8, 7], crop: [16, 24] }],
    [[16, 24], { resize: null, crop: 12 }, { resize: null, crop: [16, 24] }],
  ]) {
    const vit = await load({ weights, config: { heads: 2 }, prepare: { ...plain, ...before } });
    const other = await load({ weights, config: { heads: 2, image_size: size, position_size: [12, 12] }, prepare: { ...plain, ...after } });
    const { milliseconds, ...got } = await vit.classify(photo, { size });
    const { milliseconds: _, ...want } = await other.classify(photo);
    assert.deepEqual(got, want, `${size}`);
  }
  const digits = await load(new URL("../../weights/digits.safetensors", import.meta.url));
  const pen = { strokes: [[{ x: 20, y: 5, width: 4 }, { x: 18, y: 35, width: 4 }]], width: 40, height: 40 };
  const { grid } = await digits.embed(pen, { size: [56, 56] });
  assert.deepEqual(grid, digits.config.patch_size.map((side) => 56 / side), "drawings too");
});

test("a size that the model cannot have is refused by name, and the next call runs", async () => {
  const [vit, strides] = [await load(modelPath("pre_gelu_learned")), await load({ weights: modelBytes("pre_gelu_learned"), config: { ...ownConfig("pre_gelu_learned"), patch_stride: [2, 4], position_size: [8, 12] } })];
  const [{ image, logits }] = golden("pre_gelu_learned");
  for (const [size, code, message] of [
    [[450, 448], "bad_option", /^size: expected multiples of the patch, 4×4: the nearest are 448×448 and 452×448, got 450×448$/],
    [[1, 6], "bad_option", /the nearest are 4×4 and 4×8/],
    [[0, 4], "bad_option", /^size: expected \[rows, columns\], each from 1 to 16384 pixels, got 0×4$/],
    [[4], "bad_option", /\[rows, columns\]/], [448, "bad_option", /\[rows, columns\]/], ["4x4", "bad_option", /\[rows, columns\]/],
    [[4, NaN], "bad_option", /\[rows, columns\]/], [[4, "8"], "bad_option", /\[rows, columns\]/], [[4, 16388], "bad_option", /1 to 16384/], [new Array(2 ** 31), "bad_option", /got Array/],
    [{ length: 2 }, "bad_option", /\[rows, columns\]/], [null, "bad_option", /got null/], [Object.create(null), "bad_option", /got Object/],
    [[4096, 4096], "bad_option", /at most 65536 patches/],
  ]) {
    await rejects(() => vit.classify(image, { size }), code, message);
    await rejects(() => vit.embed(image, { size }), code, message);
  }
  await rejects(() => vit.classify(image, { size: [8, 8] }), "bad_image", /expected a Float32Array of 64 values \(1×8×8\), got 144/);
  assert.ok((await vit.classify(image)).logits.every((value, i) => Math.abs(value - logits[i]) < 1e-4));
  await rejects(() => strides.classify(image, { size: [3, 3] }), "bad_option", /a patch, 4×4, or more/);
});

test("two sizes in turn take memory once", async () => {
  const [[core], vit] = await instancesOf(() => load(modelPath("rotary_learned")));
  const both = [vit.config.image_size, [24, 20]].map((size) => [imageOf(vit.config, size), { size, attention: true }]);
  for (const [image, options] of both) await vit.classify(image, options);
  const [before, { memory }] = [core.vitw_allocations(), vit];
  for (let i = 0; i < 6; i++) await vit.classify(...both[i % 2]);
  assert.deepEqual([core.vitw_allocations(), vit.memory], [before, memory]);
});

test("1370 tokens and 3970 run, and of their maps only those that are read are copied", async () => {
  const vit = await load(modelPath("pre_gelu_learned"));
  for (const side of [37, 63]) {
    const size = [4 * side, 4 * side], T = side * side + 1;
    const { attention } = await vit.classify(imageOf(vit.config, size), { size, attention: [2] });
    assert.deepEqual([attention.tokens, attention.grid], [T, [side, side]]);
    const before = process.memoryUsage().arrayBuffers;
    const map = attention.at(2, 1);
    const row = map.subarray(5 * T, 6 * T).reduce((sum, value) => sum + value, 0);
    assert.ok(Math.abs(row - 1) < 1e-4, `${row}`);
    assert.ok(vit.memory > 4 * 3 * T * T, "all maps are in the module");
    assert.ok(process.memoryUsage().arrayBuffers - before < 1.5 * 4 * T * T, "one map is copied");
  }
});
