// Attention maps of the class token and of patches, and the rollout of PyTorch's attention.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Attention } from "vitrine";
import { farthest, golden, modelPath } from "./golden.mjs";
import { load, rejects } from "./support.mjs";

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

/** Of T numbers, all but the first: the smallest become 0, of equal ones those on the left first. */
function discarded(row, discard) {
  const drop = Math.floor(Math.fround(discard) * row.length + 0.5);
  const rest = [...row.keys()].slice(1).sort((a, b) => row[a] - row[b] || a - b);
  return row.map((value, j) => (rest.indexOf(j) >= 0 && rest.indexOf(j) < drop ? 0 : value));
}

const FUSE = {
  mean: (values) => values.reduce((a, b) => a + b) / values.length,
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
};

/** Rollout of attention (L,h,T,T) in doubles, with whole matrices: Abnar & Zuidema as written. */
function naiveRollout(values, { layers, heads, tokens: T, prefix }, { discard, fuse }, residual = 1) {
  const range = [...Array(T).keys()];
  let product = range.map((i) => range.map((j) => Number(i === j)));
  for (let layer = 0; layer < layers; layer++) {
    const at = (head, i, j) => values[((layer * heads + head) * T + i) * T + j];
    const mixing = range.map((i) => {
      const row = range.map((j) => FUSE[fuse](Array.from({ length: heads }, (_, head) => at(head, i, j))));
      const weights = discarded(row, discard).map((value, j) => value + residual * Number(i === j));
      const sum = weights.reduce((a, b) => a + b);
      return weights.map((value) => (sum > 0 ? value / sum : 0));
    });
    product = range.map((i) =>
      range.map((j) => range.reduce((sum, k) => sum + mixing[i][k] * product[k][j], 0)),
    );
  }
  const map = mean(product.flat(), T, prefix, prefix > 0 ? [0] : range);
  const sum = map.reduce((a, b) => a + b);
  return map.map((value) => (sum > 0 ? value / sum : 0));
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
    const { tokens: T, prefix, grid: [rows, columns], layers, heads } = attention;
    const first = prefix > 0 ? [0] : [...Array(T).keys()];
    const last = attention.at(layers - 1, "mean");
    assert.ok(farthest(attention.fromClass(), mean(last, T, prefix, first)) < 1e-6);
    const one = attention.at(0, heads - 1);
    assert.ok(farthest(attention.fromClass(0, heads - 1), mean(one, T, prefix, first)) < 1e-6);
    const patch = [prefix + (rows - 1) * columns + 1];
    assert.deepEqual([...attention.fromPatch(rows - 1, 1, 0, heads - 1)], [...mean(one, T, prefix, patch)]);
    assert.equal(attention.fromPatch(0, 0).length, rows * columns);
  });

  test(`${name}: rollout is the paper's product of PyTorch's attention, whatever the options`, async () => {
    const attention = await attentionOf(name);
    const theirs = golden(name)[0].attention;
    const options = Object.keys(FUSE).flatMap((fuse) =>
      [0, 0.1, 0.35, 0.5, 0.9, 1].map((discard) => ({ fuse, discard })));
    for (const each of options) {
      const [got, want] = [attention.rollout(each), naiveRollout(theirs, attention, each)];
      assert.equal(got.length, want.length);
      const gap = Math.max(...want.map((value, patch) => Math.abs(value - got[patch])));
      assert.ok(gap < 1e-5, `${JSON.stringify(each)}: ${gap}`);
    }
    assert.deepEqual(attention.rollout(), attention.rollout(options[0]));
  });
}

test("without residual connections rollout adds no identity, whatever the options", async () => {
  const name = "no_residual";
  const attention = await attentionOf(name), theirs = golden(name)[0].attention;
  const built = new Attention(Float32Array.from(theirs), attention.kept, { ...attention, residual: false });
  for (const fuse of Object.keys(FUSE)) {
    for (const discard of [0, 0.35, 0.9, 1]) {
      const want = naiveRollout(theirs, attention, { discard, fuse }, 0);
      for (const each of [attention, built]) {
        const gaps = each.rollout({ discard, fuse }).map((value, patch) => Math.abs(value - want[patch]));
        assert.ok(gaps.length === want.length && Math.max(...gaps) < 1e-5, `${fuse}, ${discard}: ${gaps}`);
      }
    }
  }
});

test("an Attention keeps only the layers that were asked for", async () => {
  const all = await attentionOf("pre_gelu_learned");
  const some = await attentionOf("pre_gelu_learned", [2, 0, 2]);
  assert.deepEqual(some.kept, [0, 2]);
  assert.equal(some.layers, 3);
  assert.deepEqual(some.at(2, 1), all.at(2, 1));
  assert.deepEqual(some.fromClass(), all.fromClass(2));
  await rejects(() => some.at(1, 0), "bad_argument", /attention option \(0, 2\), got 1; add it there/);
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
