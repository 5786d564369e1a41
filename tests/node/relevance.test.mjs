// Relevance of classes, compared with PyTorch's autograd on the golden models, in every build.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { farthest, golden, modelPath, names, ownConfig } from "./golden.mjs";
import { instancesOf, load, rejects, stroke, variants, ways } from "./support.mjs";

const all = names.filter((name) => golden(name)[0].relevance);
/** A share of the largest value, as for gradients in tests/c/gradients_test.c. */
const NEAR = 1e-4;
const digits = new URL("../../weights/digits.safetensors", import.meta.url);
const int8 = new URL("../../weights/digits-int8.safetensors", import.meta.url);
const KINDS = ["pre_gelu_learned", "post_relu_sincos1d_mean", "distillation", "registers_scale_qknorm", "per_head_qknorm", "relative", "stem", "fc_norm"];

/** The classes' maps of (K,N) values. */
const mapsOf = (values, K) => Array.from({ length: K }, (_, k) => values.subarray(k * values.length / K, (k + 1) * values.length / K));

test("the golden models with relevance are of every kind", () => {
  assert.ok(all.length >= 20 && KINDS.every((kind) => all.includes(kind)), String(all));
});

for (const way of ways) {
  describe(`${way.variant}${way.worker ? " in a worker" : ""}`, () => {
    for (const name of way.worker ? KINDS.slice(0, 2) : all) {
      test(`${name}: each class's relevance is that of PyTorch's gradients`, async () => {
        const vit = await load(modelPath(name), way);
        const { classes: K, labels } = vit.config;
        for (const { image, logits, relevance } of golden(name)) {
          const { attention, logits: own, trace } = await vit.classify(image, { relevance: labels });
          assert.ok(farthest(own, logits) <= NEAR);
          assert.equal(trace, undefined);
          mapsOf(relevance, K).forEach((want, k) => {
            const map = attention.relevance(k);
            assert.equal(map.length, attention.grid[0] * attention.grid[1]);
            assert.ok(map.every((value) => value >= 0));
            assert.deepEqual(attention.relevance(labels[k]), map);
            if (want.some((value) => value > 0)) assert.ok(farthest(map, want) <= NEAR, `class ${k}: ${farthest(map, want)}`);
            else assert.ok(map.every((value) => value <= NEAR));
          });
        }
      });
    }

    test("relevance beside attention and trace is of the same run, and true asks for the ten likeliest", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const { image, relevance, attention: maps } = golden("pre_gelu_learned")[0];
      const { attention, trace, classes } = await vit.classify(image, { relevance: true, trace: true, attention: [1] });
      assert.deepEqual(attention.kept, [1]);
      assert.deepEqual(trace.lens(vit.config.depth), classes);
      const T = attention.tokens, heads = vit.config.heads;
      assert.ok(farthest(attention.at(1, 0), maps.subarray(heads * T * T, (heads + 1) * T * T)) <= NEAR);
      mapsOf(relevance, 7).forEach((want, k) => assert.ok(farthest(attention.relevance(k), want) <= NEAR)); // 7 < 10
      const alone = await vit.classify(image, { relevance: [3] });
      assert.equal(alone.attention.kept.length, vit.config.depth);
      assert.ok(farthest(alone.attention.relevance(3), attention.relevance(3)) <= NEAR);
      assert.ok(alone.attention.rollout().length > 0);
      const copy = alone.attention.relevance(3).fill(7);
      assert.notDeepEqual(alone.attention.relevance(3), copy);
      const none = await vit.classify(image, { relevance: true, attention: false });
      assert.deepEqual(none.attention.kept, []);
      assert.ok(farthest(none.attention.relevance(3), attention.relevance(3)) <= NEAR);
    });

    test("relevance of many images and of calls at the same time is each image's own", async () => {
      const vit = await load(modelPath("relative"), way);
      const images = golden("relative");
      const calls = await Promise.all([
        vit.classifyAll(images.map(({ image }) => image), { relevance: [0, 5] }),
        vit.classify(images[1].image, { relevance: [2], ablate: { mlps: [0] } }),
        vit.classify(images[2].image, { relevance: [2] }),
        vit.classify(images[0].image),
      ]);
      calls[0].forEach(({ attention }, i) => {
        for (const k of [0, 5]) assert.ok(farthest(attention.relevance(k), mapsOf(images[i].relevance, 7)[k]) <= NEAR);
      });
      assert.ok(farthest(calls[1].attention.relevance(2), mapsOf(images[1].relevance, 7)[2]) > 0.01);
      assert.ok(farthest(calls[2].attention.relevance(2), mapsOf(images[2].relevance, 7)[2]) <= NEAR);
      assert.equal(calls[3].attention, undefined);
    });
  });
}

let exports0; // of the last instance
for (const variant of variants) {
  test(`${variant}: the int8 digits' relevance points where that of the floats does, and threads change nothing`, async () => {
    const floats = await load(digits, { variant });
    const { attention } = await floats.classify(stroke, { relevance: true });
    for (const other of [await load(int8, { variant }), await load(digits, { variant, threads: 2 })]) {
      const otherAttention = (await other.classify(stroke, { relevance: true })).attention;
      for (let k = 0; k < 10; k++) {
        const [a, b] = [attention.relevance(k), otherAttention.relevance(k)];
        const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
        assert.ok(dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)) > (other.threads > 1 ? 0.9999 : 0.95), `class ${k}`);
      }
    }
  });

  test(`${variant}: relevance runs its image once and allocates nothing the second time`, async () => {
    const runs = [];
    const counted = (exports) => {
      for (const name of ["vitw_run", "vitw_trace", "vitw_relevance"]) {
        const { [name]: run } = exports;
        exports[name] = (...args) => (runs.push(name), run(...args));
      }
      return exports;
    };
    const [[exports]] = await instancesOf(async () => {
      const vit = await load(modelPath("stem"), { variant });
      const { image } = golden("stem")[0];
      await vit.classify(image, { relevance: [1, 2], attention: true });
      const before = exports0().vitw_allocations();
      const { attention } = await vit.classify(image, { relevance: [2, 3], attention: true });
      attention.relevance(3), attention.at(0, 0);
      assert.equal(exports0().vitw_allocations(), before);
    }, (exports) => ((exports0 = () => exports), counted(exports)));
    assert.ok(exports);
    assert.deepEqual(runs, ["vitw_trace", "vitw_relevance", "vitw_trace", "vitw_relevance"]);
  });
}


test("a class that was not requested, or does not exist, is refused by name", async () => {
  const vit = await load(modelPath("pre_gelu_learned"));
  const { image } = golden("pre_gelu_learned")[0];
  const refused = (relevance, code, words) => rejects(() => vit.classify(image, { relevance }), code, words);
  await refused([7], "bad_argument", /relevance: expected classes from 0 to 6 or their labels, got 7/);
  await refused([-1], "bad_argument", /got -1/);
  await refused([0.5], "bad_argument", /got 0.5/);
  await refused(["n° 9"], "bad_argument", /got n° 9/);
  await refused([undefined], "bad_argument", /got undefined/);
  await refused(Array(3), "bad_argument", /got undefined/);
  await refused(3, "bad_option", /relevance: expected true or an array of classes, got 3/);
  await refused("n° 3", "bad_option", /got n° 3/);
  await refused(null, "bad_option", /got null/);
  const { attention } = await vit.classify(image, { relevance: [4, 2, 4] });
  const thrown = (work, words) => assert.throws(work, (error) => error.code === "bad_argument" && words.test(error.message));
  thrown(() => attention.relevance(3), /expected a class from classify's relevance option \(4, 2\), got 3; add it there/);
  thrown(() => attention.relevance("no such label"), /got no such label/);
  thrown(() => attention.relevance(), /got undefined/);
  const { attention: without } = await vit.classify(image, { attention: true });
  thrown(() => without.relevance(0), /\(none\), got 0/);
  thrown(() => without.relevance("nothing"), /\(none\), got nothing/);
  assert.equal((await vit.classify(image, { relevance: [] })).attention, undefined);
  assert.equal((await vit.classify(image, { relevance: false })).attention, undefined);
  await rejects(() => vit.embed(image, { relevance: true }), "bad_option", /relevance/);
  const wild = Float32Array.from(image).fill(3e38);
  await rejects(() => vit.classify(wild, { relevance: true }), "bad_image", /not finite/);
  assert.ok((await vit.classify(image, { relevance: true })).attention.relevance(0).every(Number.isFinite));
});

test("a model with another pool, or without blocks, is refused with what to use", async () => {
  const config = { ...ownConfig("pre_gelu_learned"), pool: "max" };
  const vit = await load({ weights: modelPath("pre_gelu_learned"), config });
  const { image } = golden("pre_gelu_learned")[0];
  await rejects(() => vit.classify(image, { relevance: true }), "unsupported", /pool is class or mean, got 3 blocks and pool max; use attention.rollout/);
  assert.ok((await vit.classify(image, { attention: true })).attention.rollout().length > 0);
});
