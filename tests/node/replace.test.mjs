// Activation patching: heads with other queries, keys or values than their own.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { farthest, golden, modelPath } from "./golden.mjs";
import { load, rejects, ways } from "./support.mjs";

const NEAR = 2e-5;
const PARTS = ["queries", "keys", "values"];

/** All that a layer's heads read in a traced run. */
const layerOf = (trace, layer, { heads }) =>
  Array.from({ length: heads }, (_, head) => ({
    layer, head, queries: trace.queries(layer, head), keys: trace.keys(layer, head), values: trace.values(layer, head),
  }));

for (const way of ways) {
  describe(`${way.variant}${way.worker ? " in a worker" : ""}`, () => {
    for (const name of ["pre_gelu_learned", "relative", "per_head_qknorm", "stem"]) {
      test(`${name}: a head's own rows change nothing, and one image's rows in another add what they added`, async () => {
        const vit = await load(modelPath(name), way);
        const { image } = golden(name)[0];
        const other = image.map((value) => 0.5 - value);
        const [one, two] = await vit.classifyAll([image, other], { trace: true });
        for (let layer = 0; layer < vit.config.depth; layer++) {
          const replace = layerOf(one.trace, layer, vit.config);
          const same = await vit.classify(image, { trace: true, replace });
          assert.deepEqual(same.logits, one.logits);
          const patched = await vit.classify(other, { trace: true, replace });
          assert.deepEqual(patched.trace.added(layer, "attention"), one.trace.added(layer, "attention"));
          assert.deepEqual(patched.trace.scores(layer, 0), one.trace.scores(layer, 0));
          assert.notDeepEqual(patched.logits, two.logits);
          const plain = (await vit.classify(other, { replace })).logits;
          assert.ok(farthest(plain, patched.logits) <= NEAR * Math.max(1, ...plain.map(Math.abs)));
        }
        assert.deepEqual((await vit.classify(other, { trace: true })).logits, two.logits);
      });
    }

    test("one head with values of 0 is that head left out", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const { image } = golden("pre_gelu_learned")[0];
      const { trace } = await vit.classify(image, { trace: true });
      const values = trace.values(1, 0).fill(0);
      const replaced = (await vit.classify(image, { replace: [{ layer: 1, head: 0, values }] })).logits;
      const without = (await vit.classify(image, { ablate: { heads: [[1, 0]] } })).logits;
      assert.ok(farthest(replaced, without) <= NEAR);
    });

    test("a batch's images all get the rows, a later map and its relevance too, and the rows may change once the call has begun", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const images = golden("pre_gelu_learned").map(({ image }) => image);
      const many = Array.from({ length: 130 }, (_, i) => images[i % images.length]); // three batches
      const { trace } = await vit.classify(images[0], { trace: true });
      for (const part of PARTS) {
        const rows = trace[part](0, 1).map((value, i) => value + (i % 3));
        const replace = [{ layer: 0, head: 1, [part]: rows }];
        const alone = [];
        for (const image of images) alone.push(await vit.classify(image, { replace, attention: true, relevance: true }));
        const under = vit.classifyAll(many, { replace, attention: true });
        rows.fill(0), (replace[0].layer = 1);
        (await under).forEach(({ logits, attention }, i) => {
          const want = alone[i % images.length];
          assert.ok(farthest(logits, want.logits) <= NEAR, `${part}, image ${i}`);
          if (i >= 128) assert.ok(farthest(attention.at(0, 1), want.attention.at(0, 1)) <= NEAR);
        });
        const { index } = alone[0].classes[0];
        const whole = await vit.classify(images[0], { relevance: true });
        assert.notDeepEqual(alone[0].attention.relevance(index), whole.attention.relevance(index));
      }
    });
  });
}

test("rows that no head can take are refused by name, and the next call is whole", async () => {
  const vit = await load(modelPath("pre_gelu_learned"));
  const { image } = golden("pre_gelu_learned")[0];
  const { trace, logits } = await vit.classify(image, { trace: true });
  const keys = trace.keys(0, 0), { length } = keys;
  for (const [replace, code, words] of [
    [7, "bad_option", /replace: expected an array, got 7/],
    [[3], "bad_option", /replace: expected an object/],
    [[{ layer: 0, head: 0, query: keys }], "bad_option", /"query"/],
    [[{ layer: 3, head: 0, keys }], "bad_argument", /replace: layer: expected 0 to 2, got 3/],
    [[{ layer: 0, keys }], "bad_argument", /replace: head: expected/],
    [[{ layer: 0, head: 0, keys: [1, 2] }], "bad_argument", new RegExp(`replace.keys: expected a Float32Array of ${length}`)],
    [[{ layer: 0, head: 0, keys: keys.subarray(1) }], "bad_argument", new RegExp(`got ${length - 1}$`)],
    [[{ layer: 0, head: 0, keys: keys.slice().fill(NaN, 3, 4) }], "bad_argument", /finite numbers.* got NaN or infinity/],
    [[{ layer: 0, head: 0, values: keys.slice().fill(3e38) }, { layer: 1, head: 0, keys }], "bad_image", /not finite/],
  ]) {
    await rejects(() => vit.classify(image, { replace }), code, words);
    assert.deepEqual((await vit.classify(image, { trace: true })).logits, logits);
  }
  assert.deepEqual((await vit.classify(image, { replace: [] , trace: true })).logits, logits);
  assert.deepEqual((await vit.classify(image, { replace: [{ layer: 0, head: 0 }], trace: true })).logits, logits);
});
