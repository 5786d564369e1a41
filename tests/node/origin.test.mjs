// A model's family, assumed keys and skipped tensors, an image's place among texts, and open_clip's
// folders, whose files have other names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { joinFile, splitFile } from "../../web/base/safetensors.mjs";
import { folderOf } from "./folder.mjs";
import { farthest, golden, modelBytes, readTensors, rewritten } from "./golden.mjs";
import { file, serve } from "./server.mjs";
import { load, rejects } from "./support.mjs";

const near = 2e-5; // as tests/c/golden.h
const family = (name, config) => ({ weights: modelBytes(`families/${name}`), ...(config && { config }) });

test("a model has its family, its assumed keys and its skipped tensors, with and without a worker", async () => {
  for (const worker of [false, true]) {
    const plain = await load(family("torchvision"), { worker });
    assert.deepEqual([plain.family, plain.assumed, plain.skipped], ["torchvision", ["heads"], []]);
    const withHeads = await load(family("torchvision", { heads: 1 }), { worker });
    assert.deepEqual(withHeads.assumed, []);
    const clip = await load(family("clip", { heads: 2 }), { worker });
    assert.equal(clip.family, "transformers' CLIP");
    assert.ok(clip.skipped.includes("logit_scale") && clip.skipped.includes("text_projection.weight"));
    assert.ok(Object.isFrozen(clip.skipped) && Object.isFrozen(clip.assumed));
  }
});

test("the package's own models have no assumed keys and no skipped tensors", async () => {
  const digits = await load(new URL("../../weights/digits.safetensors", import.meta.url));
  assert.deepEqual([digits.family, digits.assumed, digits.skipped], ["vitrine", [], []]);
});

test("a separate prepare keeps the config of our own file and its defaults", async () => {
  const prepare = { kind: "photo", resize: null, crop: [12, 12], mean: [0], std: [1] };
  const weights = modelBytes("fc_norm_no_prefix"); // a model that asks for no further key
  const own = await load(weights);
  const { config, assumed } = await load({ weights, prepare: { ...prepare, crop: own.config.image_size, mean: Array(own.config.channels).fill(0), std: Array(own.config.channels).fill(1) } });
  assert.deepEqual([{ ...config, prepare: undefined }, assumed], [{ ...own.config, prepare: undefined }, []]);
});

test("skipped tensors keep their names, whatever characters these contain", async () => {
  const bytes = modelBytes("families/mae_with_decoder");
  const { header: { decoder_pos_embed: renamed, ...header }, data } = splitFile(bytes);
  const weights = joinFile({ ...header, 'decoder_"\\\n\u0001é日': renamed }, data);
  const { skipped } = await load({ weights, config: { heads: 2 } });
  assert.ok(skipped.includes('decoder_"\\\n\u0001é日'), skipped.join());
});

test("a skipped text tower takes no memory, however large it is", async () => {
  const bytes = modelBytes("families/openai_clip");
  const more = 2 ** 24;
  const weights = rewritten(bytes, (tensors) => {
    tensors["token_embedding.more"] = { dtype: "F32", shape: [more / 4], data: Buffer.alloc(more) };
  });
  const small = await load(family("openai_clip", { heads: 2 }));
  const large = await load({ weights, config: { heads: 2 } });
  assert.ok(large.skipped.includes("token_embedding.more"));
  assert.ok(large.memory - small.memory < 2 ** 18, `${large.memory - small.memory} bytes more`);
});

test("CLIP's projected patches are the patches times its projection", async () => {
  for (const [name, matrix, transposed] of [["clip", "visual_projection.weight", false], ["openai_clip", "visual.proj", true]]) {
    const [{ image }] = golden(`families/${name}`), vit = await load(family(name, { heads: 2 }));
    const { cls, patches, width, grid, projected, projectedPatches } = await vit.embed(image), E = projected.length;
    const { values } = readTensors(modelBytes(`families/${name}`))[matrix];
    const times = (rows) => Float32Array.from({ length: (rows.length / width) * E }, (_, at) => {
      const row = rows.subarray(Math.floor(at / E) * width, Math.floor(at / E + 1) * width);
      return row.reduce((sum, value, i) => sum + value * values[transposed ? i * E + (at % E) : (at % E) * width + i], 0);
    });
    assert.equal(projectedPatches.length, grid[0] * grid[1] * E);
    assert.ok(farthest(projectedPatches, times(patches)) <= near);
    assert.ok(farthest(projected, times(cls)) <= near, "as the class token");
  }
  for (const name of ["siglip", "vit"]) {
    assert.equal("projectedPatches" in (await (await load(family(name, { heads: 2 }))).embed(golden(`families/${name}`)[0].image)), false);
  }
});

test("embed gives CLIP's projection and SigLIP's pooling, and neither for other models", async () => {
  const [{ image, logits }] = golden("families/openai_clip");
  const clip = await (await load(family("openai_clip", { heads: 2 }))).embed(image);
  assert.ok(farthest(clip.projected, logits) <= near);
  assert.notEqual(clip.projected.length, clip.pooled.length);
  const siglip = await load(family("siglip", { heads: 2 }));
  const { projected, pooled } = await siglip.embed(golden("families/siglip")[0].image);
  assert.deepEqual(projected, pooled);
  assert.notEqual(projected.buffer, pooled.buffer);
  const other = await (await load(family("torchvision"))).embed(golden("families/torchvision")[0].image);
  assert.equal("projected" in other, false);
});

const OPEN_CLIP = {
  "open_clip_config.json": Buffer.from(JSON.stringify({
    model_cfg: { embed_dim: 50, quick_gelu: true, vision_cfg: { image_size: 12, layers: 2, width: 52, head_width: 26, patch_size: 4 }, text_cfg: {} },
    preprocess_cfg: { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5], interpolation: "bilinear" },
  })),
  "open_clip_model.safetensors": modelBytes("families/open_clip_alone"),
};

test("an open_clip folder is read by its files, its path and its address", async (t) => {
  const folder = folderOf(t, OPEN_CLIP);
  const url = await serve(t, Object.fromEntries(Object.entries(OPEN_CLIP).map(([name, bytes]) => [`/m/${name}`, file(bytes)])));
  const [{ image, logits }] = golden("families/open_clip_alone");
  for (const source of [Object.entries(OPEN_CLIP).map(([name, bytes]) => new File([bytes], name)), `${folder}/`, url("/m/")]) {
    const model = await load(source);
    assert.deepEqual(model.assumed, []);
    assert.equal(model.config.activation, "quick_gelu");
    assert.equal(model.config.prepare.interpolation, "bilinear");
    assert.ok(farthest((await model.classify(image)).logits, logits) <= near);
  }
});

test("open_clip's file names are asked for only if a folder has no others", async (t) => {
  const requests = [];
  const tell = (name, route) => (response, request) => (requests.push(name), route(response, request));
  const missing = (response) => response.writeHead(404).end();
  const names = ["model.safetensors", "pytorch_model.bin", "open_clip_model.safetensors", "open_clip_pytorch_model.bin", "open_clip_config.json"];
  const url = await serve(t, {
    ...Object.fromEntries(names.map((name) => [`/none/${name}`, tell(name, missing)])),
    "/one/model.safetensors": file(modelBytes("families/torchvision")),
    "/one/open_clip_config.json": tell("one", missing),
  });
  await rejects(() => load(url("/none/")), "network", /model\.safetensors/);
  assert.deepEqual(requests, names.slice(0, 4));
  await load(url("/one/"));
  assert.ok(!requests.includes("one"));
});
