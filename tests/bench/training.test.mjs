import * as jax from "@jax-js/jax";
import tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-backend-wasm";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Trainer } from "../../dist/train.js";
import { Vit } from "../../dist/vit.js";
import { writeSafetensors } from "../../web/base/safetensors.mjs";
import { flops } from "./models.mjs";
import { named } from "./report.mjs";
import { registerGradients } from "./tfjs-gradients.mjs";
import { decays, forPeers, patchRows } from "./training-model.mjs";
import { oursSide } from "./training-sides.mjs";
import { compare, examples, tolerance, trainingContest } from "./training.mjs";

await registerGradients();
await tf.setBackend("wasm");
await jax.init("wasm");
jax.defaultDevice("wasm");

const shared = {
  channels: 2, image_size: [8, 12], patch_size: [4, 6], width: 8, depth: 2, heads: 2, mlp_width: 12, classes: 3,
  labels: ["a", "b", "c"],
};
const models = {
  "the digits' kind": { ...shared, position: "sincos2d" },
  "learned positions": { ...shared, position: "learned" },
  "the tutorial's kind": { ...shared, position: "sincos1d", attention: "per_head", final_norm: false, norm_eps: 1e-5 },
};
const plan = { batch: 6, rounds: 1, slice: 0, variant: "auto" };

// jax-js takes seconds to compile a block's step.
const peersOf = { tfjs: [{ tf }, 2, ["tfjs-backend-wasm"]], "jax-js": [{ jax }, 1, ["jax-js"]] };
const pairs = Object.entries(models).flatMap((model) => Object.entries(peersOf).map((peer) => [...model, ...peer]))
  .filter(([name, , library]) => library === "tfjs" || name !== "learned positions");

for (const [name, model, library, [engines, depth, peers]] of pairs) {
  test(`a model of ${name} has the same losses in ${library} over 20 steps`, async () => {
    const { rows, notes } = await trainingContest({ Trainer, ...engines, limits: [] }, { ...model, depth }, plan);
    const own = notes.length > 0 ? [] : ["vitrine, one thread"];
    assert.deepEqual(rows.map(({ peer }) => peer), [...own, ...peers]);
    for (const row of named("node", "Node 1", [{ title: "small", rows, limit: 50 }], { "jax-js": "1.2.3" })) {
      assert.ok(row.ours_ms > 0 && row.gflops > 0 && row.share_of_limit > 0);
      assert.ok(Math.abs(row.ratio / (row.peer_ms / row.ours_ms) - 1) < 0.01);
      assert.match(row.name, /^small, train f32, batch 6, node, against /);
    }
  });
}

test("a side that decays nothing, or twice, is found by its losses", async () => {
  const model = models["the digits' kind"];
  for (const factor of [0, 2]) {
    const careless = { create: ({ recipe }, options) => {
      const { training } = recipe, other = { ...training, weight_decay: factor * training.weight_decay };
      return Trainer.create({ recipe: { ...recipe, training: other } }, options);
    } };
    await assert.rejects(trainingContest({ Trainer: careless, tf, limits: [] }, model, plan),
      /the loss of tfjs-backend-wasm is/);
  }
});

test("losses are equal within float32's rounding, and NaN is not", () => {
  const config = { ...shared, prefix: ["class"] }, most = tolerance(config);
  assert.equal(most, 2 * 48 * 2 ** -23); // a patch's 48 values are the longest sum, twice
  compare({ ours: [1, 2], other: [1, 2 + 1.9 * most] }, config);
  for (const wrong of [2 + 2.1 * most, NaN]) {
    assert.throws(() => compare({ ours: [1, 2], other: [1, wrong] }, config), /step 2: the loss of other/);
  }
});

test("the recipe's constants are those of the peers: the first loss is Vit's own", async () => {
  const model = models["the digits' kind"], data = examples(6, model);
  const ours = await oursSide(Trainer, { model, training: { batch: 6, augment: { probability: 0 } } }, data, {});
  const vit = await Vit.load(writeSafetensors(ours.start));
  const answers = await vit.classifyAll(data.images);
  const losses = answers.map(({ logits }, i) =>
    Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0)) - logits[data.labels[i]]);
  const mean = losses.reduce((a, b) => a + b) / losses.length;
  assert.ok(Math.abs(await ours.run() - mean) <= tolerance(ours.start.config) * mean);
  vit.dispose();
  ours.close();
});

test("peers get the patches as rows, matrices turned, and a head's matrices apart", () => {
  const images = [Float32Array.from({ length: 8 }, (_, i) => i)]; // 2 channels of 2×2
  const { shape, data } = patchRows(images, { channels: 2, image_size: [2, 2], patch_size: [2, 1] });
  assert.deepEqual([shape, [...data]], [[2, 4], [0, 2, 4, 6, 1, 3, 5, 7]]);
  const qkv = { shape: [12, 2], data: Float32Array.from({ length: 24 }, (_, i) => i) };
  const tensors = new Map([["blocks.0.attn.qkv.weight", qkv], ["head.weight", { shape: [1, 2], data: Float32Array.of(5, 6) }]]);
  const turned = forPeers({ config: { attention: "per_head", width: 4, heads: 2 }, tensors }).tensors;
  assert.deepEqual(turned["head.weight"], { shape: [2, 1], data: Float32Array.of(5, 6) });
  const { shape: [heads, d, columns], data: got } = turned["blocks.0.attn.qkv.weight"];
  assert.deepEqual([heads, d, columns], [2, 2, 6]);
  assert.deepEqual([...got.slice(0, 6)], [0, 2, 8, 10, 16, 18]); // head 0, its first input: q, k, v
  assert.deepEqual(["norm.weight", "blocks.0.norm1.weight", "head.weight", "head.bias", "cls_token"].map(decays),
    [false, false, true, false, false]);
  assert.throws(() => forPeers({ config: { norm: "post" }, tensors }), /no form of norm post/);
});

test("a head's own slice saves operations", () => {
  const all = { ...shared, prefix: ["class"] }, D = 8, T = 5;
  const saved = shared.depth * T * (4 * D * D - 3 * D * D / 2);
  assert.equal(flops(all) - flops({ ...all, attention: "per_head" }), 2 * saved);
});
