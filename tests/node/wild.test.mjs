// Vision Transformers that strangers wrote and named themselves (the data's folder `wild`, its README): what no
// tensor tells is asked at once, and with the answers their authors' code gives the same logits.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { headerBytes, headerOf } from "../../web/base/safetensors.mjs";
import { shared } from "./golden.mjs";
import { load } from "./support.mjs";

const folder = shared("wild");
const TOLERANCE = 1e-4;

const floats = (path) => new Float32Array(new Uint8Array(readFileSync(path)).buffer);
const failure = (source) => load(source).then(() => assert.fail("expected a failure"), (error) => error);

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

  test(`${name} is settled by three of its images and their logits`, async () => {
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
    const wrong = examples.map(({ image, logits: right }) => ({ image, logits: right.map((logit) => logit + 1) }));
    await assert.rejects(load(weights, { examples: wrong }), /none of \d+ combinations .* the nearest, \{.*\}, is \S+ apart/);
  });
}

/** A file of zeros with these tensors. */
function fileOf(tensors) {
  const all = Object.entries(tensors).map(([name, shape]) => [name, { dtype: "F32", shape, size: 4 * shape.reduce((product, length) => product * length, 1) }]);
  const header = headerBytes(headerOf(all));
  return Buffer.concat([header, new Uint8Array(all.reduce((sum, [, { size }]) => sum + size, 0))]);
}

/** A block of a ViT as wide as 8, with names of nobody's. */
const blockOf = (name) => ({
  [`${name}.pre.weight`]: [8], [`${name}.pre.bias`]: [8], [`${name}.look.qkv.weight`]: [24, 8], [`${name}.look.mix.weight`]: [8, 8],
  [`${name}.post.weight`]: [8], [`${name}.post.bias`]: [8], [`${name}.think.0.weight`]: [16, 8], [`${name}.think.0.bias`]: [16],
  [`${name}.think.2.weight`]: [8, 16], [`${name}.think.2.bias`]: [8],
});

const around = { "pixels.weight": [8, 1, 4, 4], "place": [1, 5, 8], "first": [1, 1, 8], "answer.weight": [3, 8], "answer.bias": [3] };

test("a header of 500 tensors is matched within 50 ms, and 10,000 that look alike are answered within a second", async (t) => {
  const many = (count) => Object.assign({}, around, ...Array.from({ length: count }, (_, at) => blockOf(`b.${at}`)));
  await failure(fileOf(many(2))); // loads the bundles
  for (const [file, most] of [[fileOf(many(50)), 50], [fileOf(many(1000)), 1000]]) {
    const begin = performance.now();
    const { questions, code } = await failure(file);
    const took = performance.now() - begin;
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
