// The trace of a run and runs without parts, compared with PyTorch's results and with steps by hand.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { farthest, golden, modelPath } from "./golden.mjs";
import { instancesOf, load, rejects, variants, ways } from "./support.mjs";

const MODELS = ["pre_gelu_learned", "post_relu_sincos1d_mean", "relative", "per_head_qknorm", "stem"];
const NEAR = 2e-5;

const softmaxRows = (scores, T) => {
  const out = [];
  for (let i = 0; i < T; i++) {
    const row = [...scores.subarray(i * T, (i + 1) * T)];
    const most = Math.max(...row), shares = row.map((score) => Math.exp(score - most));
    const sum = shares.reduce((a, b) => a + b);
    out.push(...shares.map((share) => share / sum));
  }
  return out;
};

for (const way of ways) {
  describe(`${way.variant}${way.worker ? " in a worker" : ""}`, () => {
    for (const name of MODELS) {
      test(`${name}: a trace leads from tokens by scores and sums to PyTorch's attention and logits`, async () => {
        const vit = await load(modelPath(name), way);
        const { image, logits, attention } = golden(name)[0];
        const { trace, logits: own, classes, attention: maps } = await vit.classify(image, { trace: true, attention: true });
        assert.ok(farthest(own, logits) <= NEAR);
        const { depth, heads, width, norm, position } = vit.config;
        const T = maps.tokens, d = trace.queries(0, 0).length / T;
        assert.equal(trace.tokens("embedded").length, T * width);
        for (let layer = 0; layer < depth; layer++) {
          for (let head = 0; head < heads; head++) {
            const scores = trace.scores(layer, head), map = maps.at(layer, head);
            assert.ok(farthest(softmaxRows(scores, T), map) <= NEAR);
            const expected = attention.subarray((layer * heads + head) * T * T, (layer * heads + head + 1) * T * T);
            assert.ok(farthest(map, expected) <= NEAR);
            const [q, k] = [trace.queries(layer, head), trace.keys(layer, head)];
            assert.equal(trace.values(layer, head).length, T * d);
            if (position === "relative") continue;
            const products = Array.from({ length: T * T }, (_, at) => {
              let sum = 0;
              for (let i = 0; i < d; i++) sum += q[Math.floor(at / T) * d + i] * k[(at % T) * d + i];
              return sum / Math.sqrt(d);
            });
            assert.ok(farthest(products, scores) <= NEAR * Math.max(1, ...scores.map(Math.abs)));
          }
          if (norm !== "pre") continue;
          const before = trace.tokens(layer), after = trace.tokens(layer + 1);
          const [byAttention, byMlp] = [trace.added(layer, "attention"), trace.added(layer, "mlp")];
          const sums = before.map((value, i) => value + byAttention[i] + byMlp[i]);
          assert.ok(farthest(sums, after) <= NEAR * Math.max(1, ...after.map(Math.abs)));
        }
        const lens = trace.lens(depth);
        assert.equal(lens[0].label, classes[0].label);
        lens.forEach(({ p }, i) => assert.ok(Math.abs(p - classes[i].p) <= NEAR));
        assert.equal(trace.lens(0).length, vit.config.classes);
      });
    }

    test("what a call leaves out, the next call has again, and each part changes the answer", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const { image, logits } = golden("pre_gelu_learned")[0];
      const all = [{ heads: [[0, 0]] }, { mlps: [1] }, { norms: [0] }, { positions: true }];
      for (const ablate of all) {
        const without = await vit.classify(image, { ablate, trace: true });
        assert.ok(farthest(without.logits, logits) > 1e-3, JSON.stringify(ablate));
        assert.ok(Math.abs(without.trace.lens(vit.config.depth)[0].p - without.classes[0].p) <= NEAR);
        assert.ok(farthest((await vit.classify(image)).logits, logits) <= NEAR);
        assert.ok(farthest((await vit.classify(image, { ablate: {} })).logits, logits) <= NEAR);
      }
      const none = await vit.classify(image, { ablate: { mlps: [0] }, trace: true });
      assert.ok(none.trace.added(0, "mlp").every((value) => value === 0));
      const placeless = await vit.classify(image, { ablate: { positions: true }, trace: true });
      assert.deepEqual(placeless.trace.tokens(0), placeless.trace.tokens("embedded"));
    });

    test("maps that are read later are those of the run without the part", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const { image } = golden("pre_gelu_learned")[0];
      const options = { attention: true, ablate: { mlps: [0], heads: [[0, 1]] } };
      const now = (await vit.classify(image, options)).attention.at(1, 0);
      const { attention } = await vit.classify(image, options);
      await vit.classify(image, { attention: true });
      assert.deepEqual(attention.at(1, 0), now);
    });

    test("a trace's answer, maps and lens are of one run, and the maps are those of the layers asked for", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const { image } = golden("pre_gelu_learned")[0];
      const { depth, heads, classes: K } = vit.config;
      const plain = await vit.classify(image, { attention: true });
      const { trace, logits, classes, attention } = await vit.classify(image, { trace: true, attention: [2, 0] });
      assert.deepEqual(trace.lens(depth), classes);
      assert.equal(logits.length, K);
      assert.deepEqual(attention.kept, [0, 2]);
      for (const layer of [0, 2]) {
        for (let head = 0; head < heads; head++) {
          assert.ok(farthest(attention.at(layer, head), plain.attention.at(layer, head)) <= NEAR);
          const want = softmaxRows(trace.scores(layer, head), attention.tokens);
          assert.ok(farthest(attention.at(layer, head), want) <= NEAR);
        }
      }
      assert.equal((await vit.classify(image, { trace: true })).attention, undefined);
    });

    test("calls at the same time and batches of one call each leave out their own parts", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const images = golden("pre_gelu_learned").map(({ image }) => image);
      const many = Array.from({ length: 130 }, (_, i) => images[i % images.length]); // three batches
      const all = [undefined, { heads: [[0, 0]] }, { mlps: [1] }, undefined, { norms: [0], heads: [[2, 1]] }, { positions: true }];
      const alone = [];
      for (const ablate of all) {
        alone.push(await Promise.all(images.map(async (image) => (await vit.classify(image, { ablate })).logits)));
      }
      const together = await Promise.all(all.map((ablate) => vit.classifyAll(many, { ablate })));
      together.forEach((answers, call) => answers.forEach(({ logits }, i) =>
        assert.deepEqual(logits, alone[call][i % images.length], `call ${call}, image ${i}`)));
    });

    test("the caller may change what a call leaves out once the call has begun", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const { image } = golden("pre_gelu_learned")[0];
      const expected = (await vit.classify(image, { ablate: { mlps: [0], heads: [[1, 1]] } })).logits;
      const ablate = { mlps: [0], heads: [[1, 1]] };
      const under = vit.classify(image, { ablate });
      ablate.mlps.push(1), (ablate.heads[0][1] = 0), (ablate.positions = true);
      assert.deepEqual((await under).logits, expected);
    });

    test("a call that fails or is aborted leaves out nothing of the next call", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const { image } = golden("pre_gelu_learned")[0];
      const whole = (await vit.classify(image)).logits;
      const embedded = (await vit.embed(image)).cls;
      const ablate = { heads: [[0, 0], [1, 1]], mlps: [0, 1, 2], norms: [1], positions: true };
      const bad = Float32Array.from(image).fill(3e38); // the run itself finds that its answer is not finite
      for (const more of [{}, { trace: true }, { attention: true }]) {
        await rejects(() => vit.classify(bad, { ablate, ...more }), "bad_image", /not finite/);
        assert.deepEqual((await vit.classify(image)).logits, whole);
        assert.deepEqual((await vit.embed(image)).cls, embedded);
        const abort = new AbortController();
        const aborted = vit.classifyAll(Array(130).fill(image), { ablate, signal: abort.signal, ...more });
        const first = vit.classify(image).then(({ logits }) => (abort.abort(new Error("enough")), logits));
        await assert.rejects(aborted, /enough/); // after its first batch
        assert.deepEqual(await first, whole);
        assert.deepEqual((await vit.classify(image)).logits, whole);
      }
    });

    test("traces of many images are each image's own", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const images = golden("pre_gelu_learned").map(({ image }) => image);
      const together = await vit.classifyAll(images, { trace: true });
      for (const [index, image] of images.entries()) {
        const { trace } = await vit.classify(image, { trace: true });
        assert.deepEqual(together[index].trace.tokens(1), trace.tokens(1));
      }
    });
  });
}

for (const variant of variants) {
  test(`${variant}: a trace with attention runs its image once`, async () => {
    const runs = [];
    const counted = (exports) => {
      for (const name of ["vitw_run", "vitw_trace"]) {
        const { [name]: run } = exports;
        exports[name] = (...args) => (runs.push(name), run(...args));
      }
      return exports;
    };
    await instancesOf(async () => {
      const vit = await load(modelPath("pre_gelu_learned"), { variant });
      const { image } = golden("pre_gelu_learned")[0];
      const { trace, attention, classes } = await vit.classify(image, { trace: true, attention: true });
      attention.rollout(), trace.lens(0), assert.ok(classes.length > 0);
      await vit.classify(image, { attention: true });
      assert.ok(attention.at(0, 0).length > 0); // a later run does not make it run again
    }, counted);
    assert.deepEqual(runs, ["vitw_trace", "vitw_run"]);
  });
}

test("a part that the model does not have is refused by name", async () => {
  const vit = await load(modelPath("pre_gelu_learned"));
  const { image } = golden("pre_gelu_learned")[0];
  const refused = (ablate, code, words) => rejects(() => vit.classify(image, { ablate }), code, words);
  await refused({ heads: [[9, 0]] }, "bad_argument", /ablate\.heads: layer: expected 0 to 2, got 9/);
  await refused({ heads: [[0, 0.5]] }, "bad_argument", /ablate\.heads: head: expected 0 to/);
  await refused({ heads: [3] }, "bad_option", /ablate\.heads: expected an array, got 3/);
  await refused({ mlps: [-1] }, "bad_argument", /ablate\.mlps: expected 0 to 2, got -1/);
  await refused({ norms: 1 }, "bad_option", /ablate\.norms: expected an array, got 1/);
  await refused({ blocks: [1] }, "bad_option", /blocks/);
  await refused(7, "bad_option", /ablate: expected an object/);
  const { trace } = await vit.classify(image, { trace: true });
  for (const [wrong, words] of [
    [() => trace.tokens(4), /stage: expected 0 to 3, got 4/],
    [() => trace.lens(-1), /stage/],
    [() => trace.scores(3, 0), /layer: expected 0 to 2, got 3/],
    [() => trace.queries(0, "mean"), /head/],
    [() => trace.added(0, "norm"), /branch: expected attention or mlp, got norm/],
  ]) assert.throws(wrong, (error) => error.code === "bad_argument" && words.test(error.message));
});
