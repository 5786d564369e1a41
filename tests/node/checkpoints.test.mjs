// Checkpoints that other libraries write: their configs, their folders, files in several parts.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { splitFile } from "../../web/base/safetensors.mjs";
import { folderOf } from "./folder.mjs";
import { CONFIG, farthest, golden, modelBytes, PREPROCESSOR, rewritten } from "./golden.mjs";
import { file, serve } from "./server.mjs";
import { load, rejects } from "./support.mjs";

const near = 2e-5; // as in tests/c/golden.h
const vit = "families/vit";
const weights = modelBytes(vit);
const json = (value) => Buffer.from(JSON.stringify(value));

async function isGolden(model, name) {
  for (const { image, logits, tokens, attention } of golden(name)) {
    const classified = logits && await model.classify(image, { attention: true });
    if (logits) assert.ok(farthest(classified.logits, logits) <= near, name);
    const embedded = await model.embed(image, { attention: true });
    const T = Math.sqrt(attention.length / model.config.depth / model.config.heads);
    const map = attention.subarray(0, T * T);
    assert.ok(farthest(embedded.attention.at(0, 0), map) <= near, name);
    if (logits) assert.ok(farthest(classified.attention.at(0, 0), map) <= near, name);
    const prefix = tokens.length - embedded.patches.length;
    assert.ok(farthest(embedded.patches, tokens.subarray(prefix)) <= near, name);
  }
}

test("a transformers config gives the keys that the tensors' shapes do not tell", async () => {
  const model = await load({ weights, config: CONFIG });
  assert.deepEqual(model.config.labels, ["a", "b", "c", "d", "e", "f", "g"]);
  assert.equal(model.config.norm_eps, 1e-12);
  await isGolden(model, vit);
});

test("a timm config gives the keys that the tensors' shapes do not tell", async () => {
  const config = {
    architecture: "vit_tiny_patch4_12",
    num_classes: 7,
    global_pool: "token",
    pretrained_cfg: {
      input_size: [3, 12, 12], mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5],
      interpolation: "bicubic", crop_pct: 0.9,
    },
  };
  const name = "families/timm_behind_a_prefix";
  const model = await load({ weights: modelBytes(name), config: { heads: 2 } });
  await isGolden(model, name);
  const named = await load({ weights: modelBytes("families/torchvision"), config: { ...config, pretrained_cfg: {
    ...config.pretrained_cfg, input_size: [3, 8, 8] } } });
  assert.deepEqual(named.config.prepare, {
    kind: "photo", resize: 8, crop: 8, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5], interpolation: "bicubic",
  });
});

test("a timm config that does not name SwiGLU leaves its activation to the tensors", async () => {
  const config = { architecture: "vit_giant_patch14_224", num_classes: 0, num_features: 20, global_pool: "token", pretrained_cfg: { input_size: [3, 12, 12] } };
  for (const [name, args] of [
    ["timm_uni", { embed_dim: 20, mlp_ratio: 3, num_heads: 2, init_values: 1e-5, no_embed_class: true, reg_tokens: 8 }],
    ["timm_virchow", { embed_dim: 20, mlp_ratio: 3, num_heads: 2, init_values: 1e-5, reg_tokens: 4, global_pool: "" }],
    ["timm_uni", { num_heads: 2, mlp_layer: "SwiGLUPacked", act_layer: "silu" }],
  ]) {
    const model = await load({ weights: modelBytes(`families/${name}`), config: { ...config, model_args: args } });
    assert.deepEqual([model.config.activation, model.config.prepare.crop], ["silu", 12]);
    assert.equal(model.assumed.includes("activation"), !args.act_layer);
    await isGolden(model, `families/${name}`);
  }
  const withModelArgs = { ...config, model_args: { num_heads: 2, mlp_layer: "SwiGLUPacked" } };
  assert.equal((await load({ weights: modelBytes("families/timm_uni"), config: withModelArgs })).config.activation, "gelu"); // a block's own
});

test("a checkpoint without a config gets heads of the usual width", async () => {
  await isGolden(await load(modelBytes("families/torchvision")), "families/torchvision");
});

test("pixels are refused, whatever their size, if nothing says how to prepare them", async () => {
  const pixels = (side) => ({ data: new Uint8Array(side * side * 3).fill(100), width: side, height: side });
  const pen = { strokes: [[{ x: 2, y: 2, width: 2 }, { x: 9, y: 9, width: 2 }]], width: 12, height: 12 };
  const untold = await load({ weights, config: CONFIG });
  assert.equal(untold.config.prepare, null);
  for (const image of [pixels(12), pixels(30), pen]) {
    await rejects(() => untold.classify(image), "bad_image", /no `prepare` that says how pixels become its image/);
  }
  const values = new Float32Array(3 * 12 * 12).fill(0.5);
  assert.deepEqual((await untold.classify(values)).input, values);
  const prepare = { kind: "photo", resize: null, mean: [0, 0, 0], std: [1, 1, 1] };
  const { input } = await (await load({ weights, config: CONFIG, prepare })).classify(pixels(12));
  assert.ok(input.every((value) => value === Math.fround(100 / 255)));
});

test("problem_type says whether the logits are of one label, of several, or values", async () => {
  const image = Float32Array.from({ length: 3 * 12 * 12 }, (_, index) => Math.sin(index));
  const sigmoid = (logit) => 1 / (1 + Math.exp(-logit / 2));
  const ask = async (config, of = weights) => {
    const files = [new File([json({ ...CONFIG, ...config })], "config.json"), new File([of], "model.safetensors")];
    const model = await load({ weights: files, config: { temperature: 2, uncertain_below: 1 } });
    const { trace, ...answer } = await model.classify(image, { trace: true });
    const byClass = answer.classes.toSorted((a, b) => a.index - b.index).map(({ p }) => p);
    assert.deepEqual(trace.lens(2).map(({ index }) => index), answer.classes.map(({ index }) => index));
    assert.ok(answer.classes.every(({ p }, at) => at === 0 || p <= answer.classes[at - 1].p));
    return { ...answer, p: byClass, assumed: model.assumed };
  };
  const near = (got, want) => assert.ok(farthest(got, want) < 1e-12, `${got} not ${want}`);
  for (const problem_type of [undefined, null, "single_label_classification"]) {
    const { p, problemType, uncertain, assumed } = await ask({ problem_type });
    near([p.reduce((a, b) => a + b)], [1]);
    assert.deepEqual([problemType, uncertain, assumed], ["single_label_classification", true, []]);
  }
  const multi = await ask({ problem_type: "multi_label_classification" });
  near(multi.p, Array.from(multi.logits, sigmoid));
  assert.deepEqual([multi.problemType, multi.uncertain], ["multi_label_classification", true]);
  const values = await ask({ problem_type: "regression" });
  assert.deepEqual([values.p, values.problemType, values.uncertain], [[...values.logits], "regression", false]);
  await rejects(() => ask({ problem_type: "ordinal" }), "bad_config", /problem_type: expected one of single_label_classification, .* or regression/);
  const one = rewritten(weights, (tensors) => {
    for (const part of ["weight", "bias"]) {
      const { shape, data } = tensors[`classifier.${part}`];
      tensors[`classifier.${part}`] = { dtype: "F32", shape: [1, ...shape.slice(1)], data: data.subarray(0, data.length / 7) };
    }
  });
  const single = await ask({ id2label: { 0: "cat" } }, one);
  near(single.p, [sigmoid(single.logits[0])]);
  assert.deepEqual([single.problemType, single.assumed], ["multi_label_classification", ["problem_type"]]);
  assert.deepEqual((await ask({ id2label: { 0: "cat" }, problem_type: "regression" }, one)).assumed, []);
});

test("a checkpoint's folder is read by its address, its path or its files", async (t) => {
  const files = { "config.json": json(CONFIG), "preprocessor_config.json": json(PREPROCESSOR), "model.safetensors": weights };
  const folder = folderOf(t, files);
  const pages = Object.entries(files).map(([name, bytes]) => [`/m/${name}`, file(bytes)]);
  const url = await serve(t, Object.fromEntries(pages));
  const picked = Object.entries(files).map(([name, bytes]) => new File([bytes], name));
  for (const source of [url("/m/"), new URL(url("/m/")), folder, `${folder}/`, pathToFileURL(folder), picked, { weights: picked }]) {
    const model = await load(source);
    await isGolden(model, vit);
    assert.deepEqual(model.config.prepare, {
      kind: "photo", resize: 16, crop: 12, crop_at: "floor", mean: [0.5, 0.25, 0.125], std: [0.5, 0.5, 0.25], interpolation: "bicubic",
    });
  }
});

test("a separate config overrides the folder's own key by key, and the folder's preprocessor stays unless prepare is given", async () => {
  const files = (config) => [
    new File([json(config)], "config.json"), new File([json(PREPROCESSOR)], "preprocessor_config.json"),
    new File([weights], "model.safetensors"),
  ];
  const mine = { kind: "photo", resize: 12, mean: [0, 0, 0], std: [1, 1, 1] };
  const theirs = {
    kind: "photo", resize: 16, crop: 12, crop_at: "floor", mean: [0.5, 0.25, 0.125], std: [0.5, 0.5, 0.25], interpolation: "bicubic",
  };
  const plain = await load({ weights: files(CONFIG) });
  for (const [config, prepare, norm_eps = 0.5] of [
    [{}, theirs, plain.config.norm_eps],
    [JSON.stringify({ norm_eps: 0.5 }), theirs],
    [new Blob([JSON.stringify({ norm_eps: 0.5, prepare: mine })]), mine],
    [{ norm_eps: 0.5, prepare: null }, null],
    [{ ...CONFIG, layer_norm_eps: 0.5 }, theirs], // in transformers' words
  ]) {
    const { config: whole } = await load({ weights: files(CONFIG), config });
    assert.deepEqual(whole, { ...plain.config, norm_eps, prepare });
  }
  const option = await load({ weights: files(CONFIG), config: { norm_eps: 0.5 }, prepare: mine });
  assert.deepEqual(option.config.prepare, mine);
  const broken = { weights: files({ ...CONFIG, model_type: "unheard-of" }), config: { heads: 2 } };
  await rejects(() => load(broken), "bad_config", /model_type.*unheard-of/);
});

/** A file with those tensors of another whose number is `part` modulo `parts`. */
function shard(bytes, part, parts) {
  const names = Object.keys(splitFile(bytes).header).filter((_, index) => index % parts === part);
  const others = (name) => !names.includes(name);
  return { names, bytes: rewritten(bytes, (all) => Object.keys(all).filter(others).forEach((name) => delete all[name])) };
}

test("several files with an index are read as one model, and progress counts all of them", async (t) => {
  const shards = [0, 1, 2].map((part) => shard(weights, part, 3));
  const name = (part) => `model-0000${part + 1}-of-00003.safetensors`;
  const weight_map = Object.fromEntries(shards.flatMap(({ names }, part) => names.map((one) => [one, name(part)])));
  const pages = {
    "/m/config.json": file(json(CONFIG)),
    "/m/model.safetensors.index.json": file(json({ metadata: {}, weight_map })),
  };
  shards.forEach(({ bytes }, part) => (pages[`/m/${name(part)}`] = file(bytes)));
  const url = await serve(t, pages);
  for (const worker of [false, true]) {
    const reports = [];
    const onProgress = (loaded, total) => reports.push([loaded, total]);
    const model = await load(url("/m/"), { onProgress, worker });
    await isGolden(model, vit);
    const [loaded, total] = reports.at(-1);
    assert.equal(loaded, total);
    assert.ok(total > weights.length * 0.9);
  }
  delete pages[`/m/${name(2)}`];
  await rejects(() => load(url("/m/")), "network", /00003-of-00003/);
});

test("a model without a head gives vectors and attention, and classify says that the head is missing", async () => {
  for (const name of ["families/vit_without_head", "families/dinov2_registers", "families/siglip"]) {
    const model = await load({ weights: modelBytes(name), config: {
      heads: 2,
      ...(name.endsWith("registers") && { norm_eps: 1e-6 }),
      ...(name.endsWith("siglip") && { norm_eps: 1e-6, activation: "gelu_tanh" }),
    } });
    assert.equal(model.config.classes, 0);
    for (const { image, tokens } of golden(name)) {
      const { patches, pooled, width, attention } = await model.embed(image, { attention: true });
      assert.ok(farthest(patches, tokens.subarray(tokens.length - patches.length)) <= near, name);
      assert.equal(pooled.length, width);
      assert.equal(attention.layers, model.config.depth);
      await rejects(() => model.classify(image), "unsupported", /head.*embed/);
    }
  }
});

test("CLIP's image embedding is the output of its head", async () => {
  const name = "families/clip";
  const config = { model_type: "clip", projection_dim: 7, vision_config: {
    hidden_size: 20, num_hidden_layers: 2, num_attention_heads: 2, intermediate_size: 30, patch_size: 4, image_size: 12,
  } };
  await isGolden(await load({ weights: modelBytes(name), config }), name);
});

test("a contradictory or unknown config key is refused by its name", async (t) => {
  const refused = (config, ...what) => rejects(() => load({ weights, config }), ...what);
  await refused({ ...CONFIG, hidden_size: 24 }, "bad_tensor", /shape \(24,3,4,4\), got \(20,3,4,4\)/);
  await refused({ ...CONFIG, model_type: "bert" }, "bad_config", /model_type: bert is not known here; known are vit/);
  await refused({ ...CONFIG, hidden_act: "mish" }, "bad_config", /hidden_act.*gelu/);
  await refused({ ...CONFIG, model_type: "dinov2", use_swiglu_ffn: true }, "bad_tensor", /is missing/);
  await rejects(() => load([new File(["{}"], "config.json")]), "bad_argument", /safetensors.*config\.json/);
  await rejects(() => load([new File(["["], "config.json"), new File([weights], "m.safetensors")]), "bad_config", /config\.json/);
  const url = await serve(t, { "/m/config.json": file(json(CONFIG)) });
  await rejects(() => load(url("/m/")), "network", /model\.safetensors/);
});

// ---- Where a checkpoint's files are ---------------------------------------------

/** The files of a folder by their paths: a config and weights, with as many labels as `labels`. */
const inFolder = (path, labels = {}) => [
  [`${path}config.json`, json({ ...CONFIG, id2label: { ...CONFIG.id2label, ...labels } })],
  [`${path}model.safetensors`, weights],
];

test("a slash in a query, a fragment or a file's name makes no folder, and one at the path's end does", async (t) => {
  const served = { "/f/0a1b/?dl=1": file(weights), "/model?sig=ab/": file(weights), "/model": file(weights) };
  for (const [path, bytes] of inFolder("/m/")) served[path] = served[`${path}?token=1/`] = file(bytes);
  served["/m/?token=1/"] = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>m/");
  const url = await serve(t, served);
  const apart = { heads: 2 };
  for (const path of ["/f/0a1b/?dl=1", "/model?sig=ab/", "/model#/"]) {
    await isGolden(await load({ weights: url(path), config: apart }), vit);
  }
  for (const path of ["/m/", "/m/#top", "/m/?token=1/"]) {
    assert.deepEqual((await load(url(path))).config.labels, Object.values(CONFIG.id2label), path);
  }
  const folder = folderOf(t);
  for (const name of ["#recycle", "?new", "a?b#c", "50%"]) {
    const inside = join(folder, name);
    mkdirSync(inside);
    for (const [path, bytes] of inFolder("")) writeFileSync(join(inside, path), bytes);
    const alone = join(inside, "model.safetensors");
    for (const source of [inside, `${inside}/`, pathToFileURL(inside), { weights: alone, config: apart }]) {
      await isGolden(await load(source), vit);
    }
  }
});

test("a file that a folder may lack is missing by 400, 401, 403, 404, 410, a page or no answer, but not by 503", async (t) => {
  let status = 404;
  const [, [, bytes]] = inFolder("");
  const url = await serve(t, {
    ...Object.fromEntries(["config", "preprocessor_config", "processor_config", "model.safetensors.index"].map((name) => [
      `/m/${name}.json`, (response) => status === 0 ? response.destroy()
        : response.writeHead(status, { "content-type": "text/html" }).end("<!doctype html>"),
    ])),
    "/m/model.safetensors": (response) => (bytes ? file(bytes)(response) : response.writeHead(403).end()),
  });
  for (status of [400, 401, 403, 404, 410, 200, 0]) {
    await isGolden(await load({ weights: url("/m/"), config: { heads: 2 } }), vit);
  }
  status = 503;
  await rejects(() => load(url("/m/")), "network", /\.json, got 503/);
});

test("a folder of PyTorch's weights is found where a server gives its page for missing files", async (t) => {
  const page = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
  const missing = ["config.json", "preprocessor_config.json", "processor_config.json", "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin.index.json"];
  const url = await serve(t, {
    ...Object.fromEntries(missing.map((name) => [`/m/${name}`, page])),
    "/m/pytorch_model.bin": file(readFileSync(new URL("../golden/pickle/double.pt", import.meta.url)), "text/html"),
  });
  assert.ok(await load({ weights: url("/m/"), config: { heads: 1 } }));
  await rejects(() => load(url("/none/")), "network", /got 404/);
});

test("the weights' own failure is reported, and the error of a private file names the option fetch", async (t) => {
  const closed = (response) => response.writeHead(401).end();
  const names = ["model.safetensors", "pytorch_model.bin", "config.json"];
  const url = await serve(t, Object.fromEntries(names.map((name) => [`/m/${name}`, closed])));
  await rejects(() => load(url("/m/")), "network", /model\.safetensors, got 401.*for a private file pass load's option fetch/);
});

test("the option fetch gets a folder's files and a config apart", async (t) => {
  const addresses = [];
  const own = (bytes) => (response, { headers }) =>
    headers.authorization === "me" ? file(bytes)(response) : response.writeHead(401).end();
  const url = await serve(t, Object.fromEntries([...inFolder("/m/"), ["/c.json", json({ norm_eps: 0.5 })]]
    .map(([path, bytes]) => [path, own(bytes)])));
  const mine = (address, init) => (addresses.push(address), fetch(address, { ...init, headers: { authorization: "me" } }));
  await rejects(() => load(url("/m/")), "network", /got 401/);
  const model = await load({ weights: url("/m/"), config: url("/c.json") }, { fetch: mine });
  assert.equal(model.config.norm_eps, 0.5);
  assert.ok(addresses.includes(url("/m/model.safetensors")) && addresses.includes(url("/c.json")));
  await isGolden(await load({ weights: new URL(url("/m/model.safetensors")), config: CONFIG }, { fetch: mine }), vit);
  await rejects(() => load(url("/m/"), { fetch: 5 }), "bad_option", /fetch: expected a function/);
  await rejects(() => load(url("/m/"), { fetch: async () => "bytes" }), "bad_option", /fetch: .*a Response, got String/);
  await rejects(() => load(url("/m/"), { fetch: async () => { throw new Error("offline"); } }), "network", /offline/);
});

/** A file as a picker of folders gives it. */
const picked = ([path, bytes]) => Object.defineProperty(
  new File([bytes], path.slice(path.lastIndexOf("/") + 1)), "webkitRelativePath", { value: path });

test("of nested checkpoints the topmost counts, in every order and never with another's files", async () => {
  const files = [
    ...inFolder("run/", { 0: "top" }), ["run/optimizer.pt", json({})], ...inFolder("run/step-1/", { 0: "one" }),
    ...inFolder("run/step-2/", { 0: "two" }), ["README.md", json({})],
  ].map(picked);
  for (let turn = 0; turn < files.length; turn++) {
    files.push(files.shift());
    for (const list of [files, [...files].reverse()]) assert.equal((await load(list)).config.labels[0], "top");
  }
  const steps = files.filter(({ webkitRelativePath }) => webkitRelativePath.startsWith("run/step"));
  const trained = [picked(["run/training_args.bin", json({})]), ...steps.filter(({ webkitRelativePath: path }) => !path.includes("2"))];
  assert.equal((await load(trained)).config.labels[0], "one");
  await rejects(() => load(steps), "bad_argument", /one folder with weights, got run\/step-1\/, run\/step-2\/; give/);
  const flat = steps.map((one) => new File([one], one.name));
  await rejects(() => load(flat), "bad_argument", /expected one \S+, got several; give the files of one folder/);
});

test("a FileList is a folder", async () => {
  class FileList {} // Node has none
  const list = Object.assign(new FileList(), inFolder("run/").map(picked), { length: 2 });
  await isGolden(await load(list), vit);
});

test("a name on Hugging Face, or the address of its page, gets the address of its files as advice", async () => {
  const at = (path) => new RegExp(`https://huggingface\\.co/google/vit-base-patch16-224/resolve/${path}$`);
  for (const source of ["google/vit-base-patch16-224", "hf-hub:google/vit-base-patch16-224", "google/vit-base-patch16-224/"]) {
    await assert.rejects(load(source), at("main/"));
  }
  const page = async () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } });
  for (const [end, path] of [["", "main/"], ["/", "main/"], ["/tree/dev", "dev/"], ["/blob/main/model.safetensors", "main/model\\.safetensors"]]) {
    const source = `https://huggingface.co/google/vit-base-patch16-224${end}`;
    await assert.rejects(load(source, { fetch: page }), at(path), source);
  }
  await assert.rejects(load("models/none.safetensors"), (error) => !/Hugging/.test(error.message));
});
