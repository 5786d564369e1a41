// Attention maps of the class token and of patches, and the rollout compared with the C core's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { farthest, golden, modelPath } from "./golden.mjs";
import { instancesOf, load, rejects } from "./support.mjs";

async function attentionOf(name, layers = true) {
  const vit = await load(modelPath(name));
  return (await vit.classify(golden(name)[0].image, { attention: layers })).attention;
}

/** The mean of the given rows of (T,T), patches only. */
function mean(map, T, prefix, rows) {
  return Float64Array.from(
    { length: T - prefix },
    (_, patch) => rows.reduce((sum, row) => sum + map[row * T + prefix + patch], 0) / rows.length,
  );
}

/** Rollout in doubles with whole matrices, as Abnar & Zuidema write it. */
function naiveRollout(attention) {
  const { layers, heads, tokens: T, prefix } = attention;
  const range = [...Array(T).keys()];
  let product = range.map((i) => range.map((j) => Number(i === j)));
  for (let layer = 0; layer < layers; layer++) {
    const maps = Array.from({ length: heads }, (_, head) => attention.at(layer, head));
    const mixing = range.map((i) =>
      range.map(
        (j) => (maps.reduce((sum, map) => sum + map[i * T + j], 0) / heads + Number(i === j)) / 2,
      ),
    );
    product = range.map((i) =>
      range.map((j) => range.reduce((sum, k) => sum + mixing[i][k] * product[k][j], 0)),
    );
  }
  const map = mean(product.flat(), T, prefix, prefix > 0 ? [0] : range);
  const sum = map.reduce((a, b) => a + b);
  return map.map((value) => value / sum);
}

/** Rollout by src/stages/overlay.c. */
async function coreRollout(attention, discard, fuse) {
  const [[core]] = await instancesOf(async () => load(modelPath("per_head")));
  const { layers, heads, tokens: T, prefix } = attention;
  const values = Array.from({ length: layers * heads }, (_, index) => [
    ...attention.at(Math.floor(index / heads), index % heads),
  ]).flat();
  const [from, scratch, map] = [values.length, 3 * T * T, T].map((count) =>
    core.vitw_alloc(4 * count),
  );
  new Float32Array(core.memory.buffer, from, values.length).set(values);
  const fused = ["mean", "max", "min"].indexOf(fuse);
  core.vit_overlay_rollout(map, scratch, from, layers, heads, T, prefix, discard, fused);
  return new Float32Array(core.memory.buffer, map, T - prefix).slice();
}

const models = ["pre_gelu_learned", "post_relu_sincos1d_mean", "registers_scale_qknorm"];

for (const name of models) {
  test(`${name}: every row of an attention map sums to 1`, async () => {
    const attention = await attentionOf(name);
    const { tokens: T, grid, prefix } = attention;
    assert.equal(T, prefix + grid[0] * grid[1]);
    for (let layer = 0; layer < attention.layers; layer++) {
      for (const head of [0, attention.heads - 1, "mean"]) {
        const map = attention.at(layer, head);
        for (let row = 0; row < T; row++) {
          const sum = map.subarray(row * T, (row + 1) * T).reduce((a, b) => a + b);
          assert.ok(Math.abs(sum - 1) < 1e-6);
        }
      }
    }
  });

  test(`${name}: fromClass and fromPatch are rows of the map that at returns`, async () => {
    const attention = await attentionOf(name);
    const {
      tokens: T,
      prefix,
      grid: [rows, columns],
      layers,
      heads,
    } = attention;
    const first = prefix > 0 ? [0] : [...Array(T).keys()];
    const last = attention.at(layers - 1, "mean");
    assert.ok(farthest(attention.fromClass(), mean(last, T, prefix, first)) < 1e-6);
    const one = attention.at(0, heads - 1);
    assert.ok(farthest(attention.fromClass(0, heads - 1), mean(one, T, prefix, first)) < 1e-6);
    const patch = [prefix + (rows - 1) * columns + 1];
    assert.deepEqual(
      [...attention.fromPatch(rows - 1, 1, 0, heads - 1)],
      [...mean(one, T, prefix, patch)],
    );
    assert.equal(attention.fromPatch(0, 0).length, rows * columns);
  });

  test(`${name}: rollout is the product of the paper by Abnar & Zuidema`, async () => {
    const attention = await attentionOf(name);
    assert.ok(farthest(attention.rollout(), naiveRollout(attention)) < 1e-5);
  });

  test(`${name}: rollout equals the C core's to the bit with all options`, async () => {
    const attention = await attentionOf(name);
    for (const fuse of ["mean", "max", "min"]) {
      for (const discard of [0, 0.1, 0.35, 0.5, 0.9, 1]) {
        const want = await coreRollout(attention, discard, fuse);
        assert.deepEqual(attention.rollout({ discard, fuse }), want, `${fuse} ${discard}`);
      }
    }
  });
}

test("an Attention keeps only the layers that were asked for", async () => {
  const all = await attentionOf("pre_gelu_learned");
  const some = await attentionOf("pre_gelu_learned", [2, 0, 2]);
  assert.deepEqual(some.kept, [0, 2]);
  assert.equal(some.layers, 3);
  assert.deepEqual(some.at(2, 1), all.at(2, 1));
  assert.deepEqual(some.fromClass(), all.fromClass(2));
  await rejects(() => some.at(1, 0), "bad_argument", /kept \(0, 2\), got 1/);
  await rejects(() => some.rollout(), "bad_argument", /all 3 layers, got 0, 2/);
});

test("classify gives attention only when it was asked for", async () => {
  const vit = await load(modelPath("per_head"));
  const [{ image }] = golden("per_head");
  assert.ok(!("attention" in (await vit.classify(image))));
  assert.ok(!("attention" in (await vit.classify(image, { attention: false }))));
  assert.ok(!("attention" in (await vit.classify(image, { attention: [] }))));
});

test("an Attention refuses indices and options out of range", async () => {
  const attention = await attentionOf("pre_gelu_learned");
  const wrong = [
    [() => attention.at(3, 0), /layer: expected 0 to 2, got 3/],
    [() => attention.at(-1, 0), /layer/],
    [() => attention.at(0, 3), /head: expected 0 to 2/],
    [() => attention.at(0, "max"), /head/],
    [() => attention.fromPatch(3, 0), /row: expected 0 to 2/],
    [() => attention.fromPatch(0, 0.5), /column/],
    [() => attention.rollout({ discard: 2 }), /discard: expected 0 to 1/],
    [() => attention.rollout({ discard: NaN }), /discard/],
    [() => attention.rollout({ fuse: "sum" }), /fuse: expected mean, max or min/],
  ];
  for (const [call, message] of wrong) await rejects(call, "bad_argument", message);
  await rejects(() => attention.rollout({ fused: "max" }), "bad_option", /"fused"/);
});
