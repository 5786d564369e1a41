// Text towers: embedText and the labels of classify equal transformers' own answers, under the names of three libraries.
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { test } from "node:test";
import { quantize } from "../../dist/train.js";
import { VitError } from "../../dist/vit.js";
import { folder as place, run, sharp } from "./command.mjs";
import { splitFile } from "../../web/base/safetensors.mjs";
import { farthest, modelBytes, modelPath, readTensors, rewritten, shared, slice } from "./golden.mjs";
import { load, rejects, ways } from "./support.mjs";

const words = shared("words");
const skip = !words && "no folder words in the data that VITRINE_DATA names";
const folder = (name) => `${words}/transformers-4.48.0_${name}`;
const CASES = ["clip_quick_gelu", "siglip"];
const MOST = 1e-4;

const bytesOf = (name) => readFileSync(`${folder(name)}/model.safetensors`);
const configOf = (name) => JSON.parse(readFileSync(`${folder(name)}/config.json`));

const oracleOf = (name) => oracleIn(readFileSync(`${folder(name)}/oracle.safetensors`));

function oracleIn(bytes) {
  const all = readTensors(bytes);
  const rows = (tensor) => Array.from({ length: tensor.shape[0] }, (_, at) => slice(tensor, at));
  return { ...all, ids: rows(all.ids).map((row) => Array.from(row)), images: rows(all.images), similarity: rows(all.similarity) };
}

const softmax = (logits) => {
  const powers = Array.from(logits, (logit) => Math.exp(logit - Math.max(...logits)));
  return powers.map((power) => power / powers.reduce((sum, one) => sum + one));
};

async function equalsOracle(vit, name, oracle = oracleOf(name)) {
  const { embeds, width } = await vit.embedText(oracle.ids);
  assert.equal(width, oracle.text_embeds.shape[1]);
  assert.ok(farthest(embeds, oracle.text_embeds.values) <= MOST, "text_embeds");
  for (const [at, image] of oracle.images.entries()) {
    const { classes, logits, problemType } = await vit.classify(image, { labels: oracle.ids });
    assert.ok(farthest(logits, oracle.similarity[at]) <= MOST, "logits_per_image");
    const many = name === "siglip";
    assert.equal(problemType, many ? "multi_label_classification" : "single_label_classification");
    const p = many ? Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit))) : softmax(logits);
    assert.deepEqual(classes.map((one) => one.label), classes.map(({ index }) => oracle.ids[index].join(" ")));
    for (const { index, p: got } of classes) assert.ok(Math.abs(got - p[index]) < 1e-6);
  }
}

for (const name of ["clip", "siglip"]) {
  test(`${name}: embedText and labels give those of PyTorch's modules, with every build`, async () => {
    const weights = modelBytes(`towers/${name}`), oracle = oracleIn(modelBytes(`towers/${name}.golden`));
    const config = JSON.parse(splitFile(weights).header.__metadata__.config);
    for (const way of ways) await equalsOracle(await load({ weights, config }, way), name, oracle);
    if (!oracle.end_embeds) return;
    const vit = await load({ weights, config: { ...config, text_config: { ...config.text_config, eos_token_id: 4 } } });
    assert.ok(farthest((await vit.embedText(oracle.ids)).embeds, oracle.end_embeds.values) <= MOST, "of the first end");
  });
}

for (const name of CASES) {
  for (const way of ways) {
    test(`${name}: embedText and labels give transformers' own, with ${JSON.stringify(way)}`, { skip }, async () => {
      const vit = await load(`${folder(name)}/`, way);
      assert.ok(vit.skipped.some((tensor) => tensor.startsWith("text_model.")), "a plain load leaves the text tower out");
      const before = await vit.embed(oracleOf(name).images[0]), plain = vit.memory;
      await equalsOracle(vit, name);
      assert.ok(vit.memory >= plain);
      const after = await vit.embed(oracleOf(name).images[0]);
      assert.deepEqual(after.projected, before.projected, "images' vectors stay the same");
    });
  }
}

for (const name of ["clip", "siglip"]) {
  test(`${name}: quantize keeps the text tower in floats, so that labels and embedText go on`, async () => {
    const weights = modelBytes(`towers/${name}`), { ids, images } = oracleIn(modelBytes(`towers/${name}.golden`));
    const source = { weights, config: JSON.parse(splitFile(weights).header.__metadata__.config) };
    const small = await quantize(source), { header } = splitFile(small);
    const types = (pattern) => [...new Set(Object.entries(header).filter(([key]) => pattern.test(key)).map(([, { dtype }]) => dtype))];
    assert.deepEqual([types(/^text\./), types(/^blocks\.\d+\.(attn|mlp).*weight$/)], [["F32"], ["I8"]]);
    for (const way of ways) {
      const [whole, int8] = [await load(source, way), await load(small, way)];
      assert.ok(farthest((await int8.embedText(ids)).embeds, (await whole.embedText(ids)).embeds) <= 1e-6);
      for (const image of images) {
        const [want, got] = await Promise.all([whole, int8].map((vit) => vit.classify(image, { labels: ids })));
        assert.equal(got.problemType, want.problemType);
        assert.ok(farthest(got.logits, want.logits) < 0.1, `logits: ${farthest(got.logits, want.logits)}`);
        const [vector, near] = await Promise.all([whole, int8].map(async (vit) => (await vit.embed(image)).projected));
        assert.ok(farthest(near, vector) < 0.1, `projected: ${farthest(near, vector)}`);
      }
    }
  });
}

/** Tensors under other names: q, k and v in one, as open_clip has them. */
function renamed(tensors, pairs, joins) {
  const originals = { ...tensors };
  for (const name of Object.keys(tensors)) delete tensors[name];
  for (const [from, to] of pairs) {
    for (const [name, tensor] of Object.entries(originals)) {
      if (from.test(name)) tensors[name.replace(from, to)] = tensor;
    }
  }
  for (const [to, parts] of joins) {
    const all = parts.map((name) => originals[name]);
    tensors[to] = { dtype: "F32", shape: [all.reduce((sum, { shape }) => sum + shape[0], 0), ...all[0].shape.slice(1)], data: Buffer.concat(all.map(({ data }) => data)) };
  }
}

function transposed({ dtype, shape: [rows, columns], data }) {
  const from = new Float32Array(new Uint8Array(data).buffer);
  const values = Float32Array.from(from, (_, at) => from[(at % rows) * columns + Math.floor(at / rows)]);
  return { dtype, shape: [columns, rows], data: Buffer.from(values.buffer) };
}

const own = (theirs, ours) => [
  [new RegExp(`^${theirs}\\.encoder\\.layers\\.(\\d+)\\.layer_norm(\\d)`), `${ours}transformer.resblocks.$1.ln_$2`],
  [new RegExp(`^${theirs}\\.encoder\\.layers\\.(\\d+)\\.self_attn\\.out_proj`), `${ours}transformer.resblocks.$1.attn.out_proj`],
  [new RegExp(`^${theirs}\\.encoder\\.layers\\.(\\d+)\\.mlp\\.fc1`), `${ours}transformer.resblocks.$1.mlp.c_fc`],
  [new RegExp(`^${theirs}\\.encoder\\.layers\\.(\\d+)\\.mlp\\.fc2`), `${ours}transformer.resblocks.$1.mlp.c_proj`],
];
const joined = (theirs, to) => [0, 1].flatMap((block) => ["weight", "bias"].map((end) =>
  [to(block, end), ["q_proj", "k_proj", "v_proj"].map((part) => `${theirs}.encoder.layers.${block}.self_attn.${part}.${end}`)]));
const inProj = (ours) => (block, end) => `${ours}transformer.resblocks.${block}.attn.in_proj_${end}`;
const TEXT = (ours) => [
  ...own("text_model", ours),
  [/^text_model\.embeddings\.token_embedding/, `${ours}token_embedding`],
  [/^text_model\.embeddings\.position_embedding\.weight/, `${ours}positional_embedding`],
  [/^text_model\.final_layer_norm/, `${ours}ln_final`],
  [/^logit_/, "logit_"],
];

/** The file of OpenAI's CLIP. */
const openai = () => rewritten(bytesOf("clip_quick_gelu"), (tensors) => {
  const { "visual_projection.weight": image, "text_projection.weight": text } = tensors;
  renamed(tensors, [
    ...TEXT(""),
    ...own("vision_model", "visual."),
    [/^vision_model\.embeddings\.class_embedding/, "visual.class_embedding"],
    [/^vision_model\.embeddings\.patch_embedding/, "visual.conv1"],
    [/^vision_model\.embeddings\.position_embedding\.weight/, "visual.positional_embedding"],
    [/^vision_model\.pre_layrnorm/, "visual.ln_pre"],
    [/^vision_model\.post_layernorm/, "visual.ln_post"],
  ], [...joined("vision_model", inProj("visual.")), ...joined("text_model", inProj(""))]);
  Object.assign(tensors, { "visual.proj": transposed(image), text_projection: transposed(text) });
});

const HEADS = { heads: 2, text_config: { num_attention_heads: 4 } }; // these towers' heads are not 64 wide, as all published ones

test("OpenAI's file gives the same, alone and with open_clip's config", { skip }, async () => {
  await equalsOracle(await load({ weights: openai(), config: HEADS }), "clip_quick_gelu");
  const config = {
    model_cfg: {
      quick_gelu: true,
      vision_cfg: { image_size: 32, layers: 2, width: 64, head_width: 32, patch_size: 8 },
      text_cfg: { context_length: 12, vocab_size: 60, width: 48, heads: 4, layers: 2 },
    },
  };
  await equalsOracle(await load({ weights: openai(), config }), "clip_quick_gelu");
});

test("open_clip's SigLIP with timm's tower of images gives the same", { skip }, async () => {
  const weights = rewritten(bytesOf("siglip"), (tensors) => {
    const { "vision_model.head.attention.in_proj_weight": weight, "vision_model.head.attention.in_proj_bias": bias } = tensors;
    const position = tensors["vision_model.embeddings.position_embedding.weight"];
    renamed(tensors, [
      ...TEXT("text."),
      [/^text_model\.head/, "text.text_projection"],
      [/^vision_model\.embeddings\.patch_embedding/, "visual.trunk.patch_embed.proj"],
      [/^vision_model\.encoder\.layers\.(\d+)\.layer_norm(\d)/, "visual.trunk.blocks.$1.norm$2"],
      [/^vision_model\.encoder\.layers\.(\d+)\.self_attn\.out_proj/, "visual.trunk.blocks.$1.attn.proj"],
      [/^vision_model\.encoder\.layers\.(\d+)\.mlp/, "visual.trunk.blocks.$1.mlp"],
      [/^vision_model\.post_layernorm/, "visual.trunk.norm"],
      [/^vision_model\.head\.probe/, "visual.trunk.attn_pool.latent"],
      [/^vision_model\.head\.attention\.out_proj/, "visual.trunk.attn_pool.proj"],
      [/^vision_model\.head\.layernorm/, "visual.trunk.attn_pool.norm"],
      [/^vision_model\.head\.mlp/, "visual.trunk.attn_pool.mlp"],
    ], [...joined("vision_model", (block, end) => `visual.trunk.blocks.${block}.attn.qkv.${end}`), ...joined("text_model", inProj("text."))]);
    const rows = ({ dtype, shape, data }, from, to) => ({ dtype, shape: [to - from, ...shape.slice(1)], data: data.subarray((from * data.length) / shape[0], (to * data.length) / shape[0]) });
    Object.assign(tensors, {
      "visual.trunk.pos_embed": { ...position, shape: [1, ...position.shape] },
      "visual.trunk.attn_pool.q.weight": rows(weight, 0, 64), "visual.trunk.attn_pool.kv.weight": rows(weight, 64, 192),
      "visual.trunk.attn_pool.q.bias": rows(bias, 0, 64), "visual.trunk.attn_pool.kv.bias": rows(bias, 64, 192),
    });
  });
  await equalsOracle(await load({ weights, config: { heads: 2, activation: "gelu_tanh", text_config: { num_attention_heads: 4 } } }), "siglip");
});

/** The folder of a CLIP of OpenAI's 49408 tokens, with random embeddings. */
function worded(t) {
  const { path, at, write } = place(t);
  const values = Float32Array.from({ length: 49408 * 48 }, (_, at) => Math.sin(at * 12.9898) * 0.05);
  write("model.safetensors", rewritten(bytesOf("clip_quick_gelu"), (tensors) => {
    tensors["text_model.embeddings.token_embedding.weight"] = { dtype: "F32", shape: [49408, 48], data: Buffer.from(values.buffer) };
  }));
  const config = configOf("clip_quick_gelu");
  write("config.json", JSON.stringify({ ...config, text_config: { ...config.text_config, vocab_size: 49408, eos_token_id: 49407 } }));
  write("preprocessor_config.json", JSON.stringify({ image_processor_type: "CLIPImageProcessor", size: 32, crop_size: 32 }));
  write("bpe_simple_vocab_16e6.txt.gz", readFileSync(`${words}/bpe_simple_vocab_16e6.txt.gz`));
  return { path: `${path}/`, at, write };
}

test("a folder with OpenAI's vocabulary takes texts, and so does the command", { skip }, async (t) => {
  const { path, write } = worded(t);
  const vit = await load(path);
  const { embeds, width } = await vit.embedText(["a photo of a cat", "a cat ".repeat(50), [49406, 320, 1125, 539, 320, 2368, 49407]]);
  assert.deepEqual(embeds.subarray(0, width), embeds.subarray(2 * width));
  const cut = await vit.embedText([[49406, ...Array(5).fill([320, 2368]).flat(), 49407]]);
  assert.ok(farthest(embeds.subarray(width, 2 * width), cut.embeds) <= 1e-6);
  const { length } = embeds.subarray(0, width);
  assert.ok(Math.abs(Math.hypot(...embeds.subarray(0, length)) - 1) < 1e-6);
  if (!sharp) return;
  const red = await sharp({ create: { width: 40, height: 40, channels: 3, background: "#c02010" } }).png().toBuffer();
  const classify = async (model) => {
    const { code, stdout, stderr } = await run(["classify", "--model", model, "--labels", "a cat, two dogs", "--top", "2", write("red.png", red)]);
    assert.equal(code, 0, stderr);
    return Object.fromEntries(stdout.trim().split("\n").map((line) => line.split("\t").slice(1, 3)));
  };
  const whole = await classify(path);
  assert.deepEqual(Object.keys(whole).sort(), ["a cat", "two dogs"]);
  assert.ok(Math.abs(Number(whole["a cat"]) + Number(whole["two dogs"]) - 1) < 1e-3);
  const small = worded(t);
  for (const name of ["model.safetensors", "config.json", "preprocessor_config.json"]) rmSync(small.at(name), { force: true });
  assert.equal((await run(["quantize", "--model", path, "--out", small.at("model.safetensors")])).code, 0);
  assert.ok(Math.abs((await classify(small.path))["a cat"] - whole["a cat"]) < 0.05, "in int8, beside the vocabulary");
});

test("texts become ids by the option tokenizer; SigLIP's are filled up", { skip }, async () => {
  const texts = [];
  const tokenizer = { encode: (text) => (texts.push(text), text === "long" ? Array(40).fill(3).concat(59) : [58, 5, 9, 33, 59]) };
  const clip = await load(`${folder("clip_quick_gelu")}/`, { tokenizer });
  const [first] = oracleOf("clip_quick_gelu").ids;
  const [fromTexts, fromIds] = [await clip.embedText(["a cat", "long"]), await clip.embedText([first, [...Array(11).fill(3), 59]])];
  assert.ok(farthest(fromTexts.embeds, fromIds.embeds) <= 1e-6);
  const { classes } = await clip.classify(oracleOf("clip_quick_gelu").images[0], { labels: ["a cat", first], topK: 1 });
  assert.equal(classes.length, 1);
  assert.deepEqual(texts, ["a cat", "long", "a cat"], "labels are asked for once");
  const siglip = await load(`${folder("siglip")}/`, { tokenizer: { encode: () => [5, 9, 33] } });
  const [row] = oracleOf("siglip").ids;
  assert.ok(farthest((await siglip.embedText([""])).embeds, (await siglip.embedText([row])).embeds) <= 1e-6);
});

test("bad texts, and models without texts, are refused", { skip }, async () => {
  const vit = await load(`${folder("clip_quick_gelu")}/`), [image] = oracleOf("clip_quick_gelu").images;
  const cases = [
    ["a cat", "bad_argument", /texts: expected an array, got a cat/],
    [[[]], "bad_argument", /texts\[0\]: expected a text, or 1 to 12 ids, got 0/],
    [[Array(13).fill(1)], "bad_argument", /1 to 12 ids, got 13/],
    [[[1], [60]], "bad_argument", /texts\[1\]: expected ids from 0 to 59, got 60/],
    [[[1.5]], "bad_argument", /ids from 0 to 59, got 1.5/],
    [[[NaN]], "bad_argument", /got NaN/],
    [[5], "bad_argument", /expected a text/],
    [["a cat"], "bad_argument", /load's option tokenizer/],
  ];
  for (const [texts, code, message] of cases) await rejects(() => vit.embedText(texts), code, message);
  await rejects(() => vit.classify(image, { labels: [] }), "bad_option", /labels: expected at least one/);
  await rejects(() => vit.classify(image, { labels: [[1, 59]], relevance: true }), "unsupported", /labels/);
  await rejects(() => vit.embedText([[1, 59]], { sgnal: 1 }), "bad_option", /sgnal/);
  assert.deepEqual((await vit.embedText([])).embeds.length, 0);
  const plain = await load(modelPath("per_head"));
  await rejects(() => plain.embedText([[1]]), "unsupported", /such as CLIP/);
  const half = rewritten(bytesOf("clip_quick_gelu"), (tensors) => {
    for (const name of Object.keys(tensors)) if (name.startsWith("text_model.encoder.")) delete tensors[name];
  });
  const alone = await load({ weights: half, config: configOf("clip_quick_gelu") });
  await rejects(() => alone.embedText([[1]]), "unsupported", /^texts: expected a text tower, got none$/);
  assert.ok((await alone.embed(image)).projected, "images still go");
  const bad = rewritten(bytesOf("clip_quick_gelu"), (tensors) => delete tensors["text_model.final_layer_norm.bias"]);
  await rejects(async () => (await load({ weights: bad, config: configOf("clip_quick_gelu") })).embedText([[1]]), "bad_tensor", /text_model\.final_layer_norm\.bias/);
  vit.dispose();
  await rejects(() => vit.embedText([[1]]), "disposed", /disposed/);
});

test("configs of strangers are refused where they cannot be, and an end that is no token pools the first", { skip }, async () => {
  const base = configOf("clip_quick_gelu");
  const loaded = (change) => load({ weights: bytesOf("clip_quick_gelu"), config: { ...base, text_config: { ...base.text_config, ...change } } });
  for (const [change, message] of [
    [{ num_attention_heads: 5 }, /text\.heads: expected a divisor of width 48/],
    [{ num_attention_heads: "x" }, /text\.heads/],
    [{ layer_norm_eps: -1 }, /text\.norm_eps/],
    [{ hidden_act: "elu" }, /text_config\.hidden_act/],
    [{ eos_token_id: -1 }, /text\.end/],
  ]) {
    const vit = await loaded(change);
    await rejects(() => vit.embedText([[58, 5, 59]]), "bad_config", message);
    assert.ok(await vit.embed(oracleOf("clip_quick_gelu").images[0]), "images still go");
  }
  const { eos_token_id: _, ...text_config } = base.text_config; // transformers' default is then 49407
  const vit = await load({ weights: bytesOf("clip_quick_gelu"), config: { ...base, text_config } });
  const [long, alone] = [await vit.embedText([[58, 5, 59]]), await vit.embedText([[58]])];
  assert.ok(farthest(long.embeds, alone.embeds) <= 1e-6);
});

test("an abort ends embedText, and the next call goes on", { skip }, async () => {
  const vit = await load(`${folder("siglip")}/`), [row] = oracleOf("siglip").ids;
  const reason = new Error("stop");
  await assert.rejects(vit.embedText([row], { signal: AbortSignal.abort(reason) }), reason);
  const controller = new AbortController(), going = vit.embedText([row], { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(going, (error) => error === reason && !(error instanceof VitError));
  assert.equal((await vit.embedText([row])).embeds.length, 64);
});
