// Checkpoints with other libraries' names of tensors: their logits and vectors are PyTorch's. What a
// header shows is found, what it does not show is asked for or assumed, and nonsense is refused.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { openForeign } from "../../dist/foreign.js";
import { folderOf } from "./folder.mjs";
import { rounds } from "./full.mjs";
import { farthest, golden, modelBytes } from "./golden.mjs";
import { load, rejects, variants } from "./support.mjs";

const NEAR = 2e-5; // as tests/c/golden.h

/** The models of tests/golden/families, and the keys that no tensor of theirs tells. */
const MODELS = {
  torchvision: {},
  encoder_post: { heads: 4, norm: "post", activation: "relu" },
  encoder_pre: { heads: 2, norm: "pre", activation: "gelu" },
  timm_behind_a_prefix: { heads: 2 },
  vit: { heads: 2 },
  vit_half: {},
  vit_without_head: { heads: 2 },
  deit: { heads: 2 },
  deit_of_one_head: { heads: 2 },
  dinov2: { heads: 2, norm_eps: 1e-6, image_size: [8, 16] },
  dinov2_registers: { heads: 2, norm_eps: 1e-6 },
  clip: { heads: 2 },
  siglip: { heads: 2, norm_eps: 1e-6, activation: "gelu_tanh" },
  siglip_of_timm: { heads: 2, activation: "gelu_tanh" },
  vit_pytorch: { heads: 2, pool: "class" },
  vit_pytorch_before: { heads: 1, pool: "class" },
  deit3: { heads: 2 },
  dinov2_of_the_hub: { heads: 2 },
  mae_with_decoder: { heads: 2 },
  clip_classifier: { heads: 2 },
  siglip_classifier: { heads: 2 },
  timm_map_registers: { heads: 2, activation: "gelu", pool_prefix: false },
  openai_clip: { heads: 2 },
  open_clip_alone: { heads: 2 },
  vit_pytorch_one_head: { pool: "class" },
  vit_pytorch_without_class: { heads: 2, pool: "mean" },
  torchvision_of_a_tutorial: {},
  timm_avgmax: { heads: 2, pool: "mean_max" },
  timm_max: { heads: 2, pool: "max" },
  dinov2_classifier: { heads: 2 },
  encoder_unfolded: { heads: 2, norm: "pre", activation: "gelu" },
  vit_of_transformers_5: { heads: 2 },
  dinov2_of_transformers_5: { heads: 2 },
  siglip_of_transformers_5: { heads: 2 },
  dinov2_in_chunks: { heads: 2 },
  open_clip_of_timm: { heads: 2, activation: "gelu" },
  timm_prr: { heads: 2, pool: "prr" },
  timm_prr_of_all: { heads: 2, pool: "prr" },
  timm_mean_of_all: { heads: 2, pool_prefix: true },
  vit_pytorch_mean_before: { heads: 1, pool: "mean" },
  vit_of_another_grid: { heads: 2, image_size: [8, 16], position_size: [8, 20] },
  ijepa: { heads: 2 },
  timm_beit: {},
  timm_beit_shared: {},
  beit: {},
  data2vec_vision: { heads: 2 },
  timm_eva: { heads: 2 },
  timm_relpos: { heads: 2, image_size: [8, 12] },
  timm_relpos_class: { heads: 2, image_size: [12, 12] },
  timm_dinov3: { heads: 2, image_size: [12, 12] },
  timm_rope: { heads: 2, image_size: [12, 12] },
  timm_rope_reg: { heads: 2, image_size: [12, 12] },
  facebook_dinov3: { heads: 2, image_size: [8, 16] },
  timm_eva02: { heads: 2 },
  dinov2_swiglu: { heads: 2 },
  perception_encoder: { heads: 2 },
  dinov3: { heads: 2, image_size: [8, 16] },
  timm_pe_core: { heads: 2, rotary_grid: [24, 24] },
  facebook_pe_core: { heads: 2 },
  timm_rope_mixed: { image_size: [12, 12] },
  naver_rope_mixed: { heads: 2, image_size: [8, 16] },
  timm_uni: { heads: 2 },
  timm_virchow: { heads: 2 },
  timm_pe_spatial: { heads: 2 },
  blip: { heads: 2 },
  blip_retrieval: { heads: 2 },
  t2t_vit_t: { heads: 2, image_size: [32, 48] },
  t2t_vit: { heads: 2 },
};

/** The header of a file, as web/load/header.ts reads it. */
function headerOf(file) {
  const bytes = 8 + Number(file.readBigUInt64LE(0));
  const { __metadata__: metadata, ...tensors } = JSON.parse(file.toString("utf8", 8, bytes));
  return { tensors, metadata, bytes, size: file.length };
}

/** A header of F32 tensors: { name: shape }. */
function headerWith(shapes) {
  let end = 0;
  const tensors = Object.entries(shapes).map(([name, shape]) =>
    [name, { dtype: "F32", shape, data_offsets: [end, (end += 4 * shape.reduce((product, n) => product * n, 1))] }]);
  return { tensors: Object.fromEntries(tensors), metadata: undefined, bytes: 0, size: end };
}

const foreign = (name, config = {}) => openForeign(headerOf(modelBytes(`families/${name}`)), config);

/** The message of a refusal. */
function refusal(work) {
  try {
    work();
  } catch (error) {
    assert.equal(error.name, "Refusal", error.stack);
    return error;
  }
  return assert.fail("expected a refusal");
}

for (const [at, [name, config]] of Object.entries(MODELS).entries()) {
  const variant = variants[at % variants.length]; // properties_test.c has every kind of model in each
  test(`${name} gives PyTorch's logits, attention and tokens, by the ${variant} build`, async () => {
    const vit = await load({ weights: modelBytes(`families/${name}`), config }, { variant });
    for (const { image, logits, tokens, attention } of golden(`families/${name}`)) {
      if (logits) assert.ok(farthest((await vit.classify(image)).logits, logits) <= NEAR, "logits");
      else assert.equal(vit.config.classes, 0);
      const { cls, patches, attention: maps } = await vit.embed(image, { attention: true });
      const all = Array.from({ length: maps.layers * maps.heads }, (_, map) => [...maps.at(Math.floor(map / maps.heads), map % maps.heads)]);
      assert.ok(farthest(all.flat(), attention) <= NEAR, "attention");
      assert.ok(farthest(patches, tokens.slice(-patches.length)) <= NEAR, "patches");
      if (vit.config.prefix.length > 0) assert.ok(farthest(cls, tokens.slice(0, vit.config.width)) <= NEAR, "class token");
    }
  });
}

test("the map names every tensor once, or leaves it out by name", () => {
  for (const [name, config] of Object.entries(MODELS)) {
    const file = headerOf(modelBytes(`families/${name}`));
    const { tensors, skipped } = JSON.parse(openForeign(file, config).map);
    const isFull = (tensor) => file.tensors[tensor]?.shape.every(Boolean); // vit-pytorch writes tensors without numbers
    const named = [...Object.values(tensors).flat(), ...skipped].filter(isFull);
    assert.deepEqual(named.sort(), Object.keys(file.tensors).filter(isFull).sort(), name);
  }
});

test("tensors that a family adds arrive after the file's own, however the file comes", async () => {
  const bytes = modelBytes("families/timm_beit_shared"), config = { heads: 2 };
  const [{ image, tokens }] = golden("families/timm_beit_shared");
  const inPieces = (all, each) => new Response(new ReadableStream({
    start(controller) {
      for (let at = 0; at < all.length; at += each) controller.enqueue(new Uint8Array(all.subarray(at, at + each)));
      controller.close();
    },
  }));
  for (const each of [1001, 4096, bytes.length]) {
    const vit = await load({ weights: inPieces(bytes, each), config });
    assert.ok(farthest((await vit.embed(image)).cls, tokens.slice(0, vit.config.width)) <= NEAR, `pieces of ${each}`);
    assert.deepEqual(vit.mapping["blocks.1.attn.qkv.bias"], ["blocks.1.attn.q_bias", "blocks.1.attn.v_bias"]);
    assert.deepEqual(vit.mapping["blocks.1.attn.rel_pos.relative_position_bias_table"], ["rel_pos_bias.relative_position_bias_table"]);
    assert.deepEqual(vit.skipped, ["rel_pos_bias.relative_position_index", "mask_token", "lm_head.weight"]);
  }
  const plain = modelBytes("families/timm_behind_a_prefix");
  const codeOf = (weights) => load({ weights, config }).then(() => "none", ({ code }) => code);
  for (const wrong of [(all) => all.subarray(0, -5), (all) => Buffer.concat([all, Buffer.alloc(4)])]) {
    for (const wrap of [(all) => all, (all) => inPieces(all, 1001)]) { // as a file to which nothing is added
      const code = await codeOf(wrap(wrong(bytes)));
      assert.match(code, /^bad_(file|tensor)$/);
      assert.equal(code, await codeOf(wrap(wrong(plain))));
    }
  }
  const without = Buffer.from(bytes); // no table: it could have rotary positions
  without.write("rel_pos_bias.relative_position_bias_tabl_", without.indexOf("rel_pos_bias.relative_position_bias_table"));
  await rejects(() => load({ weights: without, config: { ...config, image_size: [12, 12], position: "none" } }), "bad_tensor", /is not part of the model/);
});

test("our own models never load what reads other libraries' checkpoints", async (t) => {
  const folder = folderOf(t);
  for (const name of ["vit.js", "vit.simd128.wasm", "impostors.js"]) copyFileSync(new URL(`../../dist/${name}`, import.meta.url), join(folder, name));
  const { Vit } = await import(pathToFileURL(join(folder, "vit.js")));
  const weights = new URL("../../weights/digits.safetensors", import.meta.url);
  const options = { variant: "simd128" };
  for (const source of [weights, { weights, prepare: { kind: "digit" } }]) {
    const vit = await Vit.load(source, options);
    assert.deepEqual([vit.family, vit.config.prepare], ["vitrine", { kind: "digit" }]);
    vit.dispose();
  }
  await assert.rejects(Vit.load(modelBytes("families/torchvision"), options), /expected foreign\.js beside this module/);
});

test("a file with our config may have another library's names", async () => {
  const plain = modelBytes("families/vit"), { bytes, tensors } = headerOf(plain);
  const vitrine = JSON.stringify(foreign("vit", MODELS.vit).config);
  const header = Buffer.from(JSON.stringify({ __metadata__: { vitrine }, ...tensors }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const vit = await load(Buffer.concat([length, header, plain.subarray(bytes)]));
  assert.deepEqual([vit.family, vit.assumed, vit.skipped], ["vitrine", [], []]);
  const [{ image, logits }] = golden("families/vit");
  assert.ok(farthest((await vit.classify(image)).logits, logits) <= NEAR);
});

test("without a config, one is inferred from the shapes", () => {
  const { config } = foreign("torchvision");
  const { image_size, patch_size, channels, width, depth, heads, mlp_width, classes, prepare } = config;
  assert.deepEqual({ image_size, patch_size, channels, width, depth, heads, mlp_width, classes, prepare },
    { image_size: [8, 8], patch_size: [4, 4], channels: 3, width: 64, depth: 2, heads: 1, mlp_width: 24, classes: 5, prepare: null });
});

test("a model's origin tells its family, what was assumed and what was skipped", () => {
  const transformers = "transformers' ViT, DeiT, ViT-MAE, ViT-MSN and I-JEPA";
  for (const [name, config, family, assumed, skipped = [], projection = null] of [
    ["torchvision", {}, "torchvision", ["heads"]],
    ["torchvision", { heads: 1 }, "torchvision", []],
    ["open_clip_alone", { heads: 2 }, "OpenAI's CLIP and open_clip, the vision tower alone", ["image_size", "pool", "norm_eps", "activation"], [], "head"],
    ["clip_classifier", { heads: 2 }, "transformers' CLIPForImageClassification", ["image_size", "norm_eps", "activation"], ["vision_model.post_layernorm.weight"]],
    ["siglip", { heads: 2 }, "transformers' SigLIP", ["image_size", "norm_eps", "activation"], ["logit_scale", "logit_bias"], "pooled"],
    ["encoder_unfolded", MODELS.encoder_unfolded, "torch.nn.TransformerEncoder", ["channels", "patch_size", "image_size", "pool", "norm_eps", "patch_order"]],
    ["vit_of_another_grid", MODELS.vit_of_another_grid, transformers, ["norm_eps", "activation"]],
    ["vit_of_another_grid", { ...MODELS.vit_of_another_grid, norm_eps: 1e-12, activation: "gelu" }, transformers, []],
    ["vit_pytorch_one_head", { pool: "class" }, "vit-pytorch", ["channels", "patch_size", "image_size", "norm_eps", "activation"]],
    ["timm_mean_of_all", { heads: 2 }, "timm", ["image_size", "pool", "pool_prefix", "norm", "norm_eps", "activation"], ["n_averaged"]],
    ["timm_beit", { heads: 2 }, "timm's BEiT", ["image_size", "pool", "pool_prefix", "norm_eps", "activation"]],
    ["beit", { heads: 2 }, "transformers' BEiT and data2vec-vision", ["image_size", "norm_eps", "activation"]],
    ["timm_eva", { heads: 2 }, "timm's EVA", ["image_size", "position", "pool", "pool_prefix", "norm", "norm_eps", "activation"]],
    ["timm_relpos", { heads: 2, image_size: [8, 12] }, "timm's ViT with relative positions", ["pool", "norm", "norm_eps", "activation"]],
    ["deit3", { heads: 2, image_size: [8, 8] }, "timm", ["position", "pool", "norm", "norm_eps", "activation", "position_size"]],
    ["timm_max", { heads: 2, pool: "max", image_size: [8, 8] }, "timm", ["pool_prefix", "norm", "norm_eps", "activation", "position_resize", "position_size"]],
  ]) {
    const { mapping, ...origin } = foreign(name, config).origin;
    assert.deepEqual(origin, { family, assumed, skipped, projection }, name);
    assert.ok(Object.keys(mapping).length > 10, name);
  }
});

test("a missing choice is asked for by the config key and its possible values", () => {
  const ask = (key, values) => `config: ${key}: set ${key} to ${values}: the file does not say`;
  for (const [name, config, message] of [
    ["vit", {}, ask("heads", "1, 2, 4 or 5")],
    ["encoder_post", {}, [ask("heads", "1, 2, 3, 4 or 6"), ask("norm", "pre or post"), ask("activation", "relu or gelu")].join("; ")],
    ["encoder_post", { heads: 4, norm: "post" }, ask("activation", "relu or gelu")],
    ["siglip_of_timm", { heads: 2 }, ask("activation", "gelu or gelu_tanh")],
    ["vit_pytorch", { heads: 2 }, ask("pool", "class or mean")],
    ["timm_map_registers", { heads: 2, activation: "gelu" }, ask("pool_prefix", "true or false, whether the prefix is pooled too")],
    ["dinov2_classifier", { heads: 2, prefix: ["class", "register"] }, ask("pool_prefix", "true or false, whether registers are in the mean")],
  ]) {
    const { message: got, code } = refusal(() => foreign(name, config));
    assert.deepEqual([got, code], [message, undefined], name);
  }
});

test("tensors that fit a model that runs and one that does not are refused, unless the config tells which it is", () => {
  const without = (name, pattern, more = {}) => {
    const shapes = Object.entries(headerOf(modelBytes(`families/${name}`)).tensors).map(([tensor, { shape }]) => [tensor, shape]);
    return headerWith({ ...Object.fromEntries(shapes.filter(([tensor]) => !pattern.test(tensor))), ...more });
  };
  const norm = /^config: norm: set norm to pre: x \+ norm\(f\(x\)\), which is not computed, has the same tensors$/, size = { heads: 2, image_size: [12, 12], activation: "gelu" };
  for (const [header, message, answers, family = /^timm/] of [
    [without("timm_relpos", /ls\d/), norm, { norm: "pre" }],
    [without("timm_behind_a_prefix", /cls_token|pos_embed|qkv.bias/, { pos_embed: [1, 9, 20] }), norm, { norm: "pre" }],
    [without("timm_eva", /$^/, { "blocks.0.gamma_1": [20] }), /"blocks.0.gamma_1": is of a model with rotary positions/, { position: "learned" }],
  ]) {
    assert.match(refusal(() => openForeign(header, { ...size, image_size: [8, 12] })).message, message);
    assert.match(openForeign(header, { ...size, image_size: [8, 12], ...answers }).origin.family, family);
  }
  const pool = without("timm_map_registers", /$^/, { "blocks.0.mlp.fc1.weight": [60, 20] });
  assert.match(refusal(() => openForeign(pool, { ...size, pool_prefix: false })).message, /"attn_pool.mlp.fc1.weight": expected SwiGLU, as in the blocks$/);
});

test("rotary positions of which a file shows nothing are assumed to be those of timm's rope models, and reported", () => {
  const { tensors, ...rest } = headerOf(modelBytes("families/timm_mean_of_all"));
  const { pos_embed, ...others } = Object.fromEntries(Object.entries(tensors).map(([name, { shape }]) => [name.replace(/^.*(?=pos_embed)/, ""), shape]));
  assert.ok(pos_embed && rest.size > 0);
  const { config, origin } = openForeign(headerWith(others), { heads: 1, image_size: [12, 12], position: "rotary" });
  assert.equal(config.rotary_base, 100);
  assert.deepEqual(origin.assumed.filter((key) => key.startsWith("rotary")), ["rotary_places", "rotary_base", "rotary_first", "rotary_pairs"]);
});

test("a BEiT is known by keys without a bias, whatever its positions and scales are", () => {
  const { tensors } = headerOf(modelBytes("families/beit"));
  const plain = Object.entries(tensors).filter(([name]) => !/lambda|bias_table/.test(name)).map(([name, { shape }]) => [name, shape]);
  const { origin } = openForeign(headerWith(Object.fromEntries(plain)), { heads: 2, image_size: [12, 12], position: "none" });
  assert.equal(origin.family, "transformers' BEiT and data2vec-vision");
});

test("a BEiT of transformers with relative positions has square images, because its code misreads other tables", () => {
  const { tensors } = headerOf(modelBytes("families/beit"));
  const shapes = Object.entries(tensors).map(([name, { shape }]) => [name, /bias_table/.test(name) ? [48, 2] : shape]); // 3×5 patches and 3
  const message = /^config: image_size: expected a square, as transformers' BEiT mixes up rows and columns$/;
  assert.match(refusal(() => openForeign(headerWith(Object.fromEntries(shapes)), { image_size: [12, 20] })).message, message);
});

test("a tensor that is missing, left over or misshapen is named as its own code names it", async () => {
  const vit = { heads: 2 };
  for (const [name, from, to, config, code, message] of [
    ["vit", "1.layernorm_before.bias", "1.layernorm_befoer.bias", vit, "bad_tensor", /"vit\.encoder\.layer\.1\.layernorm_before\.bias": is missing; expected it, named as in transformers'/],
    ["vit", "1.attention.attention.key.weight", "1.attention.attention.kex.weight", vit, "bad_tensor", /"vit\.encoder\.layer\.1\.attention\.attention\.key\.weight": is missing/],
    ["deit_of_one_head", "classifier.bias", "classifiex.bias", vit, "bad_tensor", /classifier\.bias": is missing/],
    ["torchvision", "heads.head.bias", "heads.hexd.bias", {}, "bad_tensor", /"heads\.head\.bias": is missing; expected it, named as in torchvision/],
    ["vit", '[1,1,20]', '[1,2,10]', vit, "bad_tensor", /"vit\.embeddings\.cls_token": expected shape \(1,1,20\), got \(1,2,10\)/],
    ["vit", "", "", { heads: 2, mlp_width: 31 }, "bad_tensor", /intermediate\.dense.*\(31,20\), got \(30,20\)/],
    ["vit", "", "", { heads: 3 }, "bad_config", /config: heads: expected a divisor of 20, got 3/],
    ["encoder_pre", "", "", "[]", "bad_config", /^config: expected a JSON object$/],
  ]) {
    const weights = Buffer.from(modelBytes(`families/${name}`));
    if (from) weights.write(to, weights.indexOf(from));
    await rejects(() => load({ weights, config: config === "[]" ? new Blob([config]) : config }), code, message);
  }
});

test("a file of another kind of model is refused, and the message names the closest family", () => {
  const bert = ["embeddings.word_embeddings", ...["attention.self.query", "attention.output.dense", "intermediate.dense", "output.dense"].map((name) => `encoder.layer.0.${name}`)];
  for (const [names, message] of [
    [["bn1.weight", "conv1.weight", "layer1.0.conv1.weight", "fc.weight"], /Vision Transformer's first block, such as "blocks\.0\.attn\.qkv\.weight" of timm, .*"bn1\.weight"$/],
    [bert.map((name) => `bert.${name}.weight`), /"encoder\.layer\.0\.attention\.attention\.query\.weight" of transformers' ViT/],
    [[], /^the file holds no tensors$/],
  ]) {
    const { message: got, code } = refusal(() => openForeign(headerWith(Object.fromEntries(names.map((name) => [name, [1]]))), {}));
    assert.match(got, message);
    assert.equal(code, "bad_tensor");
  }
});

const timmOf = (D) => headerWith({
  cls_token: [1, D], "patch_embed.proj.weight": [D, 196], pos_embed: [257, D], "blocks.0.norm1.weight": [D],
  "blocks.0.attn.qkv.weight": [3 * D, D], "blocks.0.mlp.fc1.weight": [4 * D, D],
});

test("without a config, the number of heads is the one that models of this width have", () => {
  for (const [width, heads] of [[192, 3], [384, 6], [768, 12], [1024, 16], [1152, 16], [1280, 16], [1408, 16], [1664, 16], [1536, 24]]) {
    const { config } = openForeign(timmOf(width), {});
    assert.deepEqual([config.width, config.heads], [width, heads]);
  }
});

test("the heads of a torch.nn.TransformerEncoder are asked for, whatever its width", () => {
  for (let D = 64; D <= 1280; D += 64) {
    const header = headerWith({
      cls_token: [1, D], "patch_embed.weight": [D, 196], pos_embed: [257, D], "layers.0.norm1.weight": [D],
      "layers.0.self_attn.in_proj_weight": [3 * D, D], "layers.0.linear1.weight": [4 * D, D],
    });
    assert.match(refusal(() => openForeign(header, { norm: "pre", activation: "gelu" })).message, /^config: heads: set heads to /);
  }
});

// ---- Nonsense ----------------------------------------------------------------

/** Numbers that look random and are the same each time. */
function generator(seed) {
  let state = seed;
  return (below) => Math.floor(((state = (state * 16807) % 2147483647) / 2147483647) * below);
}

test("a header of nonsense gives a model, a refusal, or nothing, so that the core refuses it", () => {
  const random = generator(48);
  const pick = (list) => list[random(list.length)];
  const odd = [0, -1, 1.5, 2 ** 53, 1e300, -0, null, "4", [], {}, NaN, 2 ** 32, 3, 20, true, Array(2000).fill("register")];
  const names = ["__proto__", "constructor", "toString", "", ".", "pos_embed", "cls_token", "rope.freqs", "x".repeat(1000), "blocks.0.gamma_1", "norm_pre.weight", "\ud800"];
  const keys = ["heads", "width", "depth", "prefix", "pool", "position_size", "patch_size", "image_size", "stem", "channels", "position", "classes", "__proto__", "problem_type"];
  const files = Object.entries(MODELS).map(([name, config]) => {
    const { tensors, ...file } = headerOf(modelBytes(`families/${name}`));
    return [Object.entries(tensors), file, config];
  });
  for (let round = 0; round < rounds(20_000); round++) {
    const [tensors, file, config] = pick(files);
    const entries = [...tensors];
    for (let changes = random(4); changes >= 0; changes--) {
      const at = random(entries.length), [name, entry] = entries[at];
      const shape = () => Array.from({ length: random(6) }, () => pick(odd));
      [
        () => entries.splice(at, 1, [pick(names), entry]),
        () => entries.splice(at, 1, [name, { ...entry, shape: [entry?.shape].flat().reverse() }]),
        () => entries.splice(at, 1, [name, { ...entry, [pick(["shape", "dtype", "data_offsets"])]: pick([shape(), pick(odd)]) }]),
        () => entries.splice(at, 1, [name, pick(odd)]),
        () => entries.splice(at, 1),
        () => entries.push([pick(names), { dtype: pick(["F32", "I64", "toString"]), shape: pick([[], [0], [1]]), data_offsets: [0, 0] }]),
      ][random(6)]();
      if (entries.length === 0) break;
    }
    const oddConfig = { ...config, ...Object.fromEntries([[pick(keys), pick(odd)]]) };
    const placed = round % 2 ? placedAnew(entries) : entries; // so that half of them are whole files
    try {
      const model = openForeign({ ...file, tensors: Object.fromEntries(placed), ...(round % 2 && { bytes: 0, size: ends(placed) }) }, oddConfig);
      if (model) JSON.parse(model.map);
    } catch (error) {
      assert.equal(error.name, "Refusal", error.stack);
    }
  }
});

const BYTES = { F32: 4, F16: 2, BF16: 2, F64: 8, I8: 1, I64: 8 };

/** The entries with the offsets that fit their shapes, where these are sizes. */
function placedAnew(entries) {
  let end = 0;
  return entries.filter(([, entry]) => Array.isArray(entry?.shape) && entry.shape.length < 5 && entry.shape.every((n) => Number.isInteger(n) && n >= 0 && n < 1e5) && entry.dtype in BYTES)
    .map(([name, { dtype, shape }]) => [name, { dtype, shape, data_offsets: [end, (end += BYTES[dtype] * shape.reduce((product, n) => product * n, 1))] }]);
}

const ends = (entries) => entries.at(-1)?.[1].data_offsets[1] ?? 0;

test("thirty thousand tensors take no time that grows faster than their number", () => {
  const many = (name) => {
    const tensors = {};
    for (let at = 0; at < 30_000; at++) tensors[name(at)] = { dtype: "F32", shape: [1], data_offsets: [4 * at, 4 * at + 4] };
    return { tensors, metadata: undefined, bytes: 0, size: 120_000 };
  };
  const whole = { image_size: [4, 4], patch_size: [2, 2], channels: 1, width: 4, depth: 1e9, heads: 1, mlp_width: 4, classes: 3 };
  for (const [name, config] of [
    [(at) => `t${at}`, {}],
    [(at) => `${"a.".repeat(150)}${at}`, {}],
    [(at) => `a.b.c.d.e.f.g.p${at}.visual.transformer.resblocks.0.attn.in_proj_weight`, whole],
    [(at) => (at === 0 ? "blocks.0.attn.qkv.weight" : `blocks.${at}.norm1.weight`), whole],
    [(at) => (at === 0 ? "a.b.c.blocks.0.0.attn.qkv.weight" : `a.b.c.blocks.63.${at}.norm1.weight`), whole],
    [(at) => (at === 0 ? "a.b.c.d.e.f.g.blocks.0.attn.qkv.weight" : `a.b.c.d.e.f.g.decoder_${at}`), { heads: 1 }],
  ]) {
    const header = many(name);
    const { user } = process.cpuUsage();
    try {
      openForeign(header, config);
    } catch (error) {
      assert.equal(error.name, "Refusal", error.stack);
    }
    assert.ok(process.cpuUsage().user - user < 1e6, name(1)); // about 0.1 s; a second loop in the first takes several
  }
});
