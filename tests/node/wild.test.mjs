// Vision Transformers that strangers wrote and named themselves (the data's folder `wild`, its README): what no
// tensor tells is asked at once, and with the answers their authors' code gives the same logits.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readSafetensors, splitFile } from "../../web/base/safetensors.mjs";
import { farthest, modelBytes, shared, slice } from "./golden.mjs";
import { around, blockOf, fileOf, two } from "./stranger.mjs";
import { load } from "./support.mjs";

const folder = shared("wild");
const TOLERANCE = 1e-4;

const floats = (path) => new Float32Array(new Uint8Array(readFileSync(path)).buffer);
const failure = (source, options) => load(source, options).then(() => assert.fail("expected a failure"), (error) => error);

const cases = folder ? readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name) : [];
if (!folder) test("wild", { skip: "no folder wild in the data that VITRINE_DATA names" }, () => {});

for (const name of cases) {
  const place = join(folder, name);
  const { file, truth, size, inputs } = JSON.parse(readFileSync(join(place, "case.json"), "utf8"));
  const weights = readFileSync(join(place, file));
  if (!truth) {
    test(`${name}, a hybrid, is refused as what it is`, async () => {
      const { code, message } = await failure(weights);
      assert.equal(code, "bad_tensor");
      assert.match(message, /batch norms: a convolutional network or a hybrid/);
    });
    continue;
  }
  test(`${name} asks once for what no tensor tells, and then gives its author's logits`, async (t) => {
    const { code, questions, message } = await failure(weights);
    assert.equal(code, "bad_config");
    t.diagnostic(message);
    const keys = questions.map(({ key }) => key);
    assert.ok(keys.length > 0 && keys.every((key) => key in truth), keys.join());
    for (const { key, values } of questions) assert.ok(values.includes(truth[key]), `${key}: ${values}`);
    const vit = await load({ weights, config: truth });
    const images = floats(join(place, "inputs.f32"));
    const expected = floats(join(place, "outputs.f32"));
    const each = size.reduce((product, length) => product * length, 1);
    let far = 0;
    for (let at = 0; at < inputs; at++) {
      const { logits } = await vit.classify(images.slice(at * each, (at + 1) * each));
      logits.forEach((logit, index) => (far = Math.max(far, Math.abs(logit - expected[at * logits.length + index]))));
    }
    t.diagnostic(`${far} apart; assumed ${vit.assumed.join(", ") || "nothing"}`);
    assert.ok(far < TOLERANCE, `${far} apart`); // NaN fails
    vit.dispose();
  });

  const quick = name === "res3c"; // of which two hundred combinations take half a second
  test(`${name} is settled by three of its images and their logits${quick ? ", and not by others" : ""}`, async () => {
    const images = floats(join(place, "inputs.f32"));
    const expected = floats(join(place, "outputs.f32"));
    const each = size.reduce((product, length) => product * length, 1);
    const classes = expected.length / inputs;
    const examples = [0, 12, 15].map((at) => ({
      image: images.slice(at * each, (at + 1) * each), logits: expected.slice(at * classes, (at + 1) * classes),
    }));
    const vit = await load({ weights, config: {} }, { examples });
    const { logits } = await vit.classify(images.slice(each, 2 * each));
    const far = logits.reduce((most, logit, at) => Math.max(most, Math.abs(logit - expected[classes + at])), 0);
    assert.ok(far < TOLERANCE, `${far} apart`);
    assert.deepEqual([vit.config.heads, vit.config.norm], [truth.heads, truth.norm]);
    if (!quick) return;
    const wrong = examples.map(({ image, logits: right }) => ({ image, logits: right.map((logit) => logit + 1) }));
    await assert.rejects(load(weights, { examples: wrong }), /none of \d+ combinations .* the nearest, \{.*\}, is \S+ apart/);
  });
}

/** Tutorials' models that PyTorch ran (tests/golden/homemade.py). */
for (const name of ["overlapping_hidden_head", "slices_norm_after", "twice_post_relu", "unscaled_mean", "interleaved", "norms_in_a_row", "norms_without_bias", "normed_residual"]) {
  test(`homemade/${name} asks, and with the answers gives PyTorch's logits; examples settle it too`, async () => {
    const weights = modelBytes(`homemade/${name}`), file = modelBytes(`homemade/${name}.golden`);
    const config = JSON.parse(splitFile(file).header.__metadata__.answers);
    const { tensors } = readSafetensors(file);
    const [images, logits] = ["images", "logits"].map((tensor) => ({ shape: tensors.get(tensor).shape, values: tensors.get(tensor).data }));
    const { questions } = await failure(weights);
    assert.ok(questions.every(({ key }) => key in config), JSON.stringify(questions));
    const pairs = Array.from({ length: images.shape[0] }, (_, at) => ({ image: slice(images, at), logits: slice(logits, at) }));
    for (const vit of [await load({ weights, config }), await load(weights, { examples: pairs })]) {
      for (const { image, logits: want } of pairs) assert.ok(farthest((await vit.classify(image)).logits, want) <= 1e-5);
    }
  });
}

test("a header of 500 tensors is matched within 50 ms, and 10,000 that look alike are answered within a second", async (t) => {
  const many = (count) => Object.assign({}, around, ...Array.from({ length: count }, (_, at) => blockOf(`b.${at}`)));
  await failure(fileOf(many(2))); // loads the bundles
  for (const [file, most] of [[fileOf(many(50)), 50], [fileOf(many(1000)), 1000]]) {
    const begin = process.cpuUsage();
    const { questions, code } = await failure(file);
    const took = process.cpuUsage(begin).user / 1000;
    t.diagnostic(`${file.length} bytes: ${took.toFixed(1)} ms`);
    assert.ok(questions || code === "bad_tensor");
    assert.ok(took < most, `${took} ms`);
  }
});

test("a tensor that nothing uses is a refusal, not a model without it", async () => {
  const file = fileOf({ ...around, ...blockOf("b.0"), ...blockOf("b.1"), "secret": [8, 8] });
  const { code, message } = await failure(file);
  assert.equal(code, "bad_tensor");
  assert.match(message, /"secret" \(8,8\)/);
});

test("answers given in config are not asked again", async () => {
  const weights = fileOf({ ...around, ...blockOf("b.0"), ...blockOf("b.1") });
  const { questions } = await failure(weights);
  assert.deepEqual(questions.map(({ key }) => key), ["heads", "norm", "activation", "pool"]);
  assert.deepEqual(questions[0].values, [1, 2, 4, 8]);
  const some = await failure({ weights, config: { heads: 2, pool: "class" } });
  assert.deepEqual(some.questions.map(({ key }) => key), ["norm", "activation"]);
  const vit = await load({ weights, config: { heads: 2, pool: "class", norm: "pre", activation: "relu" } });
  assert.deepEqual([vit.config.depth, vit.config.width, vit.config.heads], [2, 8, 2]);
});

const answers = { heads: 2, pool: "class", norm: "pre", activation: "relu" };

test("patches that overlap are told by the image's size: more positions than patches side by side", async () => {
  const weights = fileOf({ ...two, "place": [1, 14 * 14 + 1, 8] }); // a stride of 4 on 28 pixels gives 7 × 7
  const { questions } = await failure(weights);
  assert.equal(questions[0].key, "image_size");
  const { config, assumed } = await load({ weights, config: { ...answers, image_size: [30, 30] } });
  assert.deepEqual(config.patch_stride, [2, 2]);
  assert.ok(assumed.includes("patch_stride"));
});

test("a head of two Linears is one Linear, or one with an activation between, as is answered", async () => {
  const { "answer.weight": _weight, "answer.bias": _bias, ...rest } = two;
  const weights = fileOf({ ...rest, "answer.0.weight": [6, 8], "answer.0.bias": [6], "answer.3.weight": [3, 6], "answer.3.bias": [3] });
  assert.deepEqual((await failure(weights)).questions[0], { key: "head_activation", values: ["none", "tanh", "gelu", "relu"] });
  const hidden = async (head_activation) => (await load({ weights, config: { ...answers, head_activation } })).config;
  assert.equal((await hidden("none")).head_hidden, 0);
  const { head_hidden, head_activation } = await hidden("tanh");
  assert.deepEqual([head_hidden, head_activation], [6, "tanh"]);
});

test("a head of one logit is a Linear, not a norm", async () => {
  for (const bias of [{ "answer.bias": [1] }, {}]) {
    const { "answer.bias": _bias, ...rest } = two;
    const vit = await load({ weights: fileOf({ ...rest, "answer.weight": [1, 8], ...bias }), config: answers });
    assert.deepEqual([vit.config.classes, vit.config.final_norm, vit.mapping["head.weight"]], [1, false, ["answer.weight"]]);
  }
});

test("a last norm whose bias is zero everywhere was never trained: whether the model calls it is asked", async () => {
  const tensors = { ...two, "last.weight": [8], "last.bias": [8] }, trained = ["b.0.pre.bias"];
  const weights = fileOf(tensors, trained);
  const questionsOf = async (file) => Object.fromEntries((await failure(file)).questions.map(({ key, values }) => [key, values]));
  assert.deepEqual((await questionsOf(weights)).final_norm, [true, false]);
  assert.equal((await questionsOf(fileOf(tensors))).final_norm, undefined, "all biases are zero before a training");
  const vit = await load({ weights, config: { ...answers, final_norm: false } });
  assert.deepEqual([vit.config.final_norm, vit.skipped], [false, ["last.weight", "last.bias"]]);
  for (const [name, rows] of [["aux", 5], ["b.0.look.spare", 8], ["b.0.spare_ln", 0]]) {
    const more = rows ? { [`${name}.weight`]: [rows, 8], [`${name}.bias`]: [rows] } : { [`${name}.weight`]: [8], [`${name}.bias`]: [8] };
    const twice = name.startsWith("b.0") ? Object.fromEntries(Object.entries(more).map(([one, shape]) => [one.replace("b.0", "b.1"), shape])) : {};
    const file = fileOf({ ...two, ...more, ...twice }, [...trained, ...Object.keys(two).filter((one) => /bias$/.test(one))]);
    assert.deepEqual((await questionsOf(file)).untrained, ["skipped", "called"], name);
    const { skipped } = await load({ weights: file, config: { ...answers, untrained: "skipped" } });
    assert.deepEqual(skipped.toSorted(), Object.keys({ ...more, ...twice }).toSorted());
    assert.equal((await failure({ weights: file, config: { ...answers, untrained: "called" } })).code, "bad_tensor", name);
  }
});

test("a norm that lies before the blocks may be called in three places, and two may follow the blocks", async () => {
  const { "answer.weight": _weight, "answer.bias": _bias, ...rest } = two;
  const norm = (name) => ({ [`${name}.weight`]: [8], [`${name}.bias`]: [8] });
  const early = fileOf({ ...norm("ln"), ...two });
  assert.deepEqual((await failure(early)).questions.find(({ key }) => key === "early_norm")?.values, ["last", "tokens", "patches"]);
  for (const [early_norm, ours] of [["last", "norm"], ["tokens", "norm_pre"], ["patches", "patch_embed.norm"]]) {
    const { mapping } = await load({ weights: early, config: { ...answers, early_norm } });
    assert.deepEqual(mapping[`${ours}.weight`], ["ln.weight"]);
  }
  const late = fileOf({ ...rest, ...norm("ln"), ...norm("answer.0"), "answer.1.weight": [3, 8], "answer.1.bias": [3] });
  const { mapping } = await load({ weights: late, config: answers });
  assert.deepEqual([mapping["norm.weight"], mapping["fc_norm.weight"]], [["ln.weight"], ["answer.0.weight"]]);
});

test("of two stacks of blocks none is taken without a word: both are shown, and stack chooses", async () => {
  const behind = (prefix, tensors) => Object.fromEntries(Object.entries(tensors).map(([name, shape]) => [prefix + name, shape]));
  const wide = (tensors) => Object.fromEntries(Object.entries(tensors).map(([name, shape]) => [name, shape.map((length) => ({ 8: 12, 24: 36 })[length] ?? length)]));
  const decoder = wide({ ...blockOf("decoder_b.0"), "decoder_embed.weight": [12, 8], "decoder_pos": [1, 50, 12], "mask_token": [1, 1, 12] });
  for (const [tensors, stackName, other, strangers] of [
    [{ ...behind("student.", two), ...behind("teacher.", two) }, "teacher.b", "student.b", /^student\./],
    [{ ...two, ...behind("ema.", two) }, "ema.b", "b", /^(?!ema\.)/],
    [{ ...two, ...decoder }, "b", "decoder_b", /^(decoder_|mask_token)/],
  ]) {
    const weights = fileOf(tensors);
    const { code, message, questions, mapping } = await failure(weights);
    assert.equal(code, "bad_config");
    assert.match(message, /config: stack: set stack to "\S+" or "\S+"/);
    const [{ key, values }, ...others] = questions;
    assert.equal(key, "stack");
    assert.ok(values.includes(stackName) && others.some((one) => one.key === "heads"));
    for (const name of [stackName, other]) assert.deepEqual(mapping[`${name}: blocks.0.norm1.weight`], [`${name}.0.pre.weight`]);
    const vit = await load({ weights, config: { ...answers, stack: stackName } });
    assert.equal(vit.config.width, 8);
    assert.deepEqual(vit.skipped.toSorted(), Object.keys(tensors).filter((name) => strangers.test(name)).toSorted());
    assert.equal((await failure({ weights, config: { ...answers, stack: "third" } })).questions[0].key, "stack");
  }
});

test("blocks may have words for numbers, and norms no tensors", async () => {
  const wordFile = fileOf({ ...around, ...blockOf("b.low"), ...blockOf("b.high") });
  assert.deepEqual((await load({ weights: wordFile, config: answers })).mapping["blocks.1.norm1.weight"], ["b.high.pre.weight"]);
  const bare = fileOf(Object.fromEntries(Object.entries(two).filter(([name]) => !/pre|post/.test(name))));
  assert.ok((await failure(bare)).questions.some(({ key }) => key === "final_norm"));
  const vit = await load({ weights: bare, config: { ...answers, final_norm: true } });
  assert.deepEqual([vit.mapping["norm.weight"], vit.config.final_norm], [[], true]);
});

test("a pre-norm block of another order is a guess that assumed names, and is refused if the caller knows better", async () => {
  for (const norm of ["pre", "post"]) {
    const { assumed } = await load({ weights: fileOf(two), config: { ...answers, norm } });
    assert.equal(assumed.includes("norm_order"), norm === "pre");
  }
  for (const [norm_order, what] of [["norm(x) + f(norm(x))", "such a norm_order without a last norm"], ["x + norm(f(x))", "a block of x + norm(f(x))"]]) {
    const { code, message } = await failure({ weights: fileOf(two), config: { ...answers, norm_order } });
    assert.deepEqual([code, message.includes(`${what} is not computed here`)], ["bad_tensor", true], message);
  }
});

test("a Sequential may hold the blocks and other layers, but blocks that differ are a refusal", async () => {
  const beside = { "b.2.weight": [8], "b.2.bias": [8], "b.3.weight": [3, 8], "b.3.bias": [3] };
  const { "answer.weight": _weight, "answer.bias": _bias, ...rest } = two;
  const { mapping } = await load({ weights: fileOf({ ...rest, ...beside }), config: answers });
  assert.deepEqual([mapping["norm.weight"], mapping["head.weight"]], [["b.2.weight"], ["b.3.weight"]]);
  const { code, questions } = await failure(fileOf({ ...two, ...blockOf("b.2"), "b.1.look.share": [1] }));
  assert.deepEqual([code, questions], ["bad_tensor", undefined]);
});

test("a block without a number is found by its attention, in one matrix or in three", async () => {
  const { "body.look.qkv.weight": _qkv, ...rest } = { ...around, ...blockOf("body") };
  const three = Object.fromEntries(["q", "k", "v"].flatMap((role) => [[`body.look.${role}_net.weight`, [8, 8]], [`body.look.${role}_net.bias`, [8]]]));
  for (const tensors of [{ ...around, ...blockOf("body") }, { ...three, "body.look.mix.bias": [8], ...rest }]) {
    const { config, mapping } = await load({ weights: fileOf(tensors), config: { ...answers, depth: 2 } });
    assert.deepEqual([config.depth, mapping["blocks.1.norm2.weight"]], [2, ["body.post.weight"]]);
  }
});

test("layers that make tokens of a patch have nothing between them, which is a guess", async () => {
  const weights = fileOf({ ...two, "pixels.weight": [6, 1, 4, 4], "patch_linear.weight": [8, 6] });
  assert.ok((await load({ weights, config: answers })).assumed.includes("patch_activation"));
  assert.match((await failure({ weights, config: { ...answers, patch_activation: "gelu" } })).message, /patch_activation is not computed here/);
});

test("nn.MultiheadAttention over the tokens is a guess: without batch_first it looks from image to image", async () => {
  const weights = fileOf(Object.fromEntries(Object.entries(two).map(([name, shape]) => [name.replace("qkv.weight", "in_proj_weight"), shape])));
  assert.ok((await load({ weights, config: answers })).assumed.includes("batch_first"));
  assert.match((await failure({ weights, config: { ...answers, batch_first: false } })).message, /batch_first: false is not computed here/);
  assert.ok(!(await load({ weights: fileOf(two), config: answers })).assumed.includes("batch_first"));
});

test("a class token may lie in a module of positions", async () => {
  const { first, place, ...rest } = two;
  const { mapping } = await load({ weights: fileOf({ ...rest, "positions.cls_token": first, "positions.table": place }), config: answers });
  assert.deepEqual([mapping.cls_token, mapping.pos_embed], [["positions.cls_token"], ["positions.table"]]);
});

/** A copy of vit-pytorch's code. */
const copied = () => {
  const names = { pre: "0.norm", "look.qkv": "0.fn.to_qkv", "look.mix": "0.fn.to_out.0", post: "1.norm", "think.0": "1.fn.net.0", "think.2": "1.fn.net.3" };
  const block = Object.entries(blockOf("transformer.layers.0")).map(([name, shape]) => [name.replace(/(?<=0\.).*(?=\.)/, (ours) => names[ours]), shape]);
  const norm = { "mlp_head.0.weight": [8], "mlp_head.0.bias": [8] }, head = { "mlp_head.1.weight": [3, 8], "mlp_head.1.bias": [3] };
  return { "pos_embedding": [1, 50, 8], "cls_token": [1, 1, 8], "to_patch_embedding.1.weight": [8, 16], "to_patch_embedding.1.bias": [8], ...Object.fromEntries(block), "transformer.layers.0.0.fn.to_out.0.bias": [8], ...norm, ...head };
};

test("names of vit-pytorch around a tensor that it does not know are refused at once, without questions", async () => {
  assert.ok((await failure(fileOf(copied()))).questions);
  const { code, questions, message } = await failure(fileOf({ ...copied(), "transformer.layers.0.0.fn.reattn_weights": [2, 2] }));
  assert.deepEqual([code, questions], ["bad_tensor", undefined]);
  assert.match(message, /"transformer\.layers\.0\.0\.fn\.reattn_weights" \(2,2\)/);
});

test("whether a copy of vit-pytorch's code has the class token in its mean is a guess", async () => {
  const { config, assumed } = await load({ weights: fileOf(copied()), config: { heads: 2, pool: "mean" } });
  assert.deepEqual([config.pool_prefix, assumed.includes("pool_prefix")], [true, true]);
  assert.equal((await load({ weights: fileOf(copied()), config: { heads: 2, pool: "mean", pool_prefix: false } })).config.pool_prefix, false);
});

test("the class token's position is the table's first, its last or none", async () => {
  const { assumed } = await load({ weights: fileOf(two), config: answers });
  assert.ok(assumed.includes("class_position"));
  assert.ok(!(await load({ weights: fileOf({ ...two, "place": [1, 49, 8] }), config: answers })).assumed.includes("class_position"));
  assert.match((await failure({ weights: fileOf(two), config: { ...answers, class_position: "none" } })).message, /class_position: expected first or last/);
});

test("the error and the model say which tensor was taken for what, and config.map corrects it", async () => {
  const weights = fileOf(two);
  const { mapping } = await failure(weights);
  assert.deepEqual(mapping["blocks.1.norm1.weight"], ["b.1.pre.weight"]);
  const map = { "blocks.1.norm1.weight": ["b.1.post.weight"], "blocks.1.norm2.weight": ["b.1.pre.weight"] };
  const vit = await load({ weights, config: { ...answers, map } });
  assert.equal(vit.family, "a model of its own");
  assert.deepEqual(vit.mapping, { ...mapping, ...map });
  const { message } = await failure({ weights, config: { ...answers, map: { "blocks.0.norm1.weight": ["first"] } } });
  assert.match(message, /config: map: "blocks\.0\.norm1\.weight": expected tensors like "b\.0\.pre\.weight" \(8\), got "first"/);
  assert.deepEqual((await load({ weights, config: { ...answers, map: null } })).mapping, mapping);
  const { message: other } = await failure({ weights, config: { ...answers, map: { "blocks.7.norm1.weight": ["first"] } } });
  assert.match(other, /config: map: "blocks\.7\.norm1\.weight": expected tensors like none: the model has no such parameter/);
});

test("labels rank the answers and never choose one", async () => {
  const weights = fileOf(two);
  const image = Float32Array.from({ length: 28 * 28 }, (_, at) => Math.sin(at));
  const error = await failure(weights, { examples: [{ image, label: 0 }, { image, label: "2" }] });
  assert.match(error.message, /labels only rank: 1 of 2 right with \{"heads":1/);
  const rights = error.cause.ranking.map(({ right }) => right);
  assert.ok(rights.length >= 32 && rights.length <= 200); // 4 heads, 2 norms, 2 activations and 2 pools, and what was guessed
  assert.deepEqual(rights, rights.toSorted((a, b) => b - a));
  await assert.rejects(load(weights, { examples: [{ image }] }), /examples: expected a list of \{ image, logits \}/);
});

test("another script's words for the keys answer too, in a config beside the weights", async () => {
  const { config } = await load({ weights: fileOf(two), config: { num_heads: 4, norm_first: true, act_layer: "ReLU", pooling: "cls", lr: 1e-3, mean: 0.5, std: [0.25] } });
  assert.deepEqual([config.prepare.mean, config.prepare.std], [[0.5], [0.25]]);
  assert.deepEqual([config.heads, config.norm, config.activation, config.pool], [4, "pre", "relu", "class"]);
});

test("a block that stands alone is called as often as depth says", async () => {
  const weights = fileOf({ ...around, ...blockOf("b.0") });
  const once = await load({ weights, config: answers });
  assert.ok(once.assumed.includes("depth"));
  assert.equal(once.config.depth, 1);
  assert.equal((await load({ weights, config: { ...answers, depth: 3 } })).config.depth, 3);
  for (const depth of [0, 1.5, 1e9, "many"]) assert.match((await failure({ weights, config: { ...answers, depth } })).message, /config: depth: expected 1 to 64, got /);
});

test("a mean's norm in a Sequential with the head follows it, another goes before it; both are guesses", async () => {
  const { "answer.weight": _weight, "answer.bias": _bias, ...rest } = two;
  const normed = (name) => fileOf({ ...rest, [`${name}.weight`]: [8], [`${name}.bias`]: [8], "answer.1.weight": [3, 8], "answer.1.bias": [3] });
  const mean = { ...answers, pool: "mean", final_norm: true };
  for (const [name, key] of [["answer.0", "fc_norm"], ["last", "norm"]]) {
    const vit = await load({ weights: normed(name), config: mean });
    assert.deepEqual(vit.mapping[`${key}.weight`], [`${name}.weight`]);
    assert.deepEqual(vit.assumed.filter((one) => /fc_norm|pool_prefix/.test(one)), ["fc_norm", "pool_prefix"]);
  }
  const vit = await load({ weights: normed("last"), config: { ...mean, fc_norm: true, pool_prefix: true } });
  assert.deepEqual([vit.mapping["fc_norm.weight"], vit.config.pool_prefix], [["last.weight"], true]);
});

test("examples beside a config that is no object are an error, not a config that is ignored", async () => {
  const examples = [{ image: new Float32Array(28 * 28), logits: [0, 0, 0] }];
  const { code, message } = await failure({ weights: fileOf(two), config: '{"heads": 2}' }, { examples });
  assert.equal(code, "bad_argument");
  assert.match(message, /examples: expected a config that is an object, got /);
});
