// The API on golden models gives PyTorch's results, in every way it can run.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { writeSafetensors } from "../../web/base/safetensors.mjs";
import { farthest, golden, modelBytes, modelPath, names, ownConfig } from "./golden.mjs";
import { drawing, load, rejects, stroke, ways } from "./support.mjs";

const digits = new URL("../../weights/digits.safetensors", import.meta.url);
const withoutDigits = existsSync(digits) ? false : "weights/digits.safetensors is not here yet";

for (const way of ways) {
  describe(`${way.variant}${way.worker ? " in a worker" : ""}`, () => {
    for (const name of names) {
      test(`${name}: logits, attention and tokens equal PyTorch's`, async () => {
        const vit = await load(modelPath(name), way);
        for (const { image, logits, attention, tokens } of golden(name)) {
          const result = await vit.classify(image, { attention: true });
          assert.ok(farthest(result.logits, logits) <= 2e-5);
          const { layers, heads, tokens: T } = result.attention;
          const maps = Array.from({ length: layers * heads }, (_, index) => [
            ...result.attention.at(Math.floor(index / heads), index % heads),
          ]).flat();
          assert.equal(maps.length, layers * heads * T * T);
          assert.ok(farthest(maps, attention) <= 2e-5);
          const { cls, patches, width } = await vit.embed(image);
          const prefix = vit.config.prefix.length;
          assert.ok(farthest(patches, tokens.subarray(prefix * width)) <= 2e-5);
          if (prefix > 0) assert.ok(farthest(cls, tokens.subarray(0, width)) <= 2e-5);
        }
      });
    }

    test("a batch gives each image's own results to the bit", async () => {
      const vit = await load(modelPath("pre_gelu_learned"), way);
      const images = golden("pre_gelu_learned").map(({ image }) => image);
      const many = Array.from({ length: 150 }, (_, index) => images[index % images.length]);
      const together = await vit.classifyAll(many, { attention: [1] });
      for (const [index, image] of images.entries()) {
        const alone = await vit.classify(image, { attention: [1] });
        for (let copy = index; copy < many.length; copy += images.length) {
          assert.deepEqual(together[copy].logits, alone.logits);
          assert.deepEqual(together[copy].attention.at(1, 0), alone.attention.at(1, 0));
        }
      }
    });

    test("a drawn 1 is read as 1", { skip: withoutDigits }, async () => {
      const vit = await load(digits, way);
      const { classes } = await vit.classify(stroke);
      assert.equal(classes[0].label, "1");
    });
  });
}

test("classes are sorted by falling probability, sum to 1 and have their labels", async () => {
  const vit = await load(modelPath("pre_gelu_learned"));
  const [{ image, logits }] = golden("pre_gelu_learned");
  const { classes, milliseconds } = await vit.classify(image);
  assert.equal(classes.length, logits.length);
  assert.ok(Math.abs(classes.reduce((sum, { p }) => sum + p, 0) - 1) < 1e-12);
  assert.deepEqual(classes.map(({ p }) => p), classes.map(({ p }) => p).sort((a, b) => b - a));
  assert.equal(classes[0].index, logits.indexOf(Math.max(...logits)));
  assert.equal(classes[0].label, vit.config.labels[classes[0].index]);
  assert.ok(milliseconds >= 0);
  assert.deepEqual((await vit.classify(image, { topK: 2 })).classes, classes.slice(0, 2));
});

test("with doubt the last logit says how likely no class is right, and the others share the rest", async () => {
  const own = ownConfig("pre_gelu_learned"), K = own.classes - 1, [{ image, logits }] = golden("pre_gelu_learned");
  for (const worker of [false, true]) {
    const config = { ...own, classes: K, labels: own.labels?.slice(0, K), doubt: true, uncertain_below: 0.9 };
    const vit = await load({ weights: modelPath("pre_gelu_learned"), config }, { worker });
    const { classes, doubt, uncertain, trace, attention, ...got } = await vit.classify(image, { trace: true, relevance: true, attention: true });
    assert.ok(farthest(got.logits, logits) <= 2e-5);
    const likely = 1 / (1 + Math.exp(-got.logits[K])), powers = Array.from(got.logits.subarray(0, K), Math.exp);
    assert.ok(Math.abs(doubt - likely) < 1e-12, `${doubt}`);
    for (const { index, p } of classes) {
      const want = ((1 - likely) * powers[index]) / powers.reduce((a, b) => a + b);
      assert.ok(Math.abs(p - want) < 1e-12, `class ${index}: ${p}, not ${want}`);
    }
    assert.deepEqual([classes.length, uncertain], [K, classes[0].p < 0.9]);
    assert.deepEqual(trace.lens(own.depth).map(({ index }) => index), classes.map(({ index }) => index));
    assert.equal(attention.relevance(classes[0].label).length, attention.grid[0] * attention.grid[1]);
  }
  const plain = await (await load(modelPath("pre_gelu_learned"))).classify(image);
  assert.ok(!("doubt" in plain));
});

test("a result's input is the image that the model got", async () => {
  for (const worker of [false, true]) {
    const vit = await load({ weights: modelPath("per_head"), prepare: { kind: "digit" } }, { worker });
    const images = golden("per_head").map(({ image }) => image);
    const results = await vit.classifyAll(images);
    for (const [index, { input }] of results.entries()) assert.deepEqual(input, images[index]);
    const { input } = await vit.classify(stroke);
    assert.deepEqual((await vit.classify(input)).input, input);
    const mass = input.reduce((a, b) => a + b);
    const row = input.reduce((sum, ink, at) => sum + ink * Math.floor(at / 28), 0) / mass;
    const column = input.reduce((sum, ink, at) => sum + ink * (at % 28), 0) / mass;
    assert.ok(Math.hypot(row - 13.5, column - 13.5) < 1, `centred by mass: ${row}, ${column}`);
  }
});

test("an empty list of images gives an empty list of results", async () => {
  const vit = await load(modelPath("per_head"));
  assert.deepEqual(await vit.classifyAll([]), []);
});

test("in a model without prefix tokens, cls is the mean of the patches", async () => {
  const vit = await load(modelPath("post_relu_sincos1d_mean"));
  const [{ image }] = golden("post_relu_sincos1d_mean");
  const { cls, patches, width, grid } = await vit.embed(image);
  const count = grid[0] * grid[1];
  assert.equal(patches.length, count * width);
  const mean = Array.from({ length: width }, (_, column) => {
    let sum = 0;
    for (let row = 0; row < count; row++) sum += patches[row * width + column];
    return sum / count;
  });
  assert.ok(farthest(cls, mean) < 1e-6);
});

test("results are copies that a later call does not change", async () => {
  const vit = await load(modelPath("pre_gelu_learned"));
  const [first, second] = golden("pre_gelu_learned");
  const result = await vit.classify(first.image, { attention: true });
  const logits = result.logits.slice();
  const map = result.attention.at(0, 0);
  await vit.classify(second.image, { attention: true });
  assert.deepEqual(result.logits, logits);
  assert.deepEqual(result.attention.at(0, 0), map);
  result.attention.at(0, 0).fill(7);
  assert.deepEqual(result.attention.at(0, 0), map);
});

test("a model's config is full and frozen", async () => {
  const vit = await load(modelPath("per_head"));
  assert.deepEqual(vit.config.image_size, [28, 28]);
  assert.equal(vit.config.attention, "per_head");
  assert.throws(() => (vit.config.image_size[0] = 5), TypeError);
  assert.throws(() => (vit.config.width = 5), TypeError);
});

/** A golden model with changes in its config. */
const withConfig = (name, more, options) =>
  load({ weights: modelPath(name), config: { ...ownConfig(name), ...more } }, options);

test("probabilities are softmax(logits / temperature), and a temperature changes neither logits nor order", async () => {
  const name = "pre_gelu_learned";
  const images = golden(name).map(({ image }) => image);
  const plain = await (await load(modelPath(name))).classifyAll(images);
  for (const temperature of [0.25, 0.6137, 1, 8, 1e-3]) {
    const vit = await withConfig(name, { temperature });
    assert.equal(vit.config.temperature, temperature);
    for (const [at, { classes, logits }] of (await vit.classifyAll(images)).entries()) {
      assert.deepEqual(logits, plain[at].logits);
      assert.deepEqual(classes.map(({ index }) => index).slice(0, 1), plain[at].classes.map(({ index }) => index).slice(0, 1));
      for (const { index, p } of classes) {
        const share = (z) => Math.exp((z - logits[index]) / temperature);
        const want = 1 / logits.reduce((sum, z) => sum + share(z), 0);
        assert.ok(Math.abs(p - want) <= 1e-12, `${p}, not ${want}`);
      }
    }
  }
});

/** Each patch's four pixels are its token. The classes are the mean first and the mean last pixel. */
const withoutBlocks = () => {
  const tensor = (shape, numbers) => ({ shape, data: Float32Array.from(numbers) });
  const config = {
    image_size: [4, 4], patch_size: [2, 2], channels: 1, width: 4, depth: 0, heads: 1, mlp_width: 1, classes: 2,
    position: "none", pool: "mean", prefix: [], final_norm: false,
  };
  const tensors = new Map([
    ["patch_embed.proj.weight", tensor([4, 1, 2, 2], [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])],
    ["patch_embed.proj.bias", tensor([4], [0, 0, 0, 0])],
    ["head.weight", tensor([2, 4], [1, 0, 0, 0, 0, 0, 0, 1])],
    ["head.bias", tensor([2], [0, 1])],
  ]);
  return writeSafetensors({ config, tensors });
};

for (const way of ways) {
  test(`a model without blocks answers, and nothing attends, ${way.variant}${way.worker ? " in a worker" : ""}`, async () => {
    const vit = await load(withoutBlocks(), way);
    const image = Float32Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    const { logits, attention } = await vit.classify(image, { attention: true });
    assert.deepEqual([...logits], [(1 + 3 + 9 + 11) / 4, (6 + 8 + 14 + 16) / 4 + 1]);
    assert.equal(attention, undefined);
    assert.deepEqual([...(await vit.embed(image)).patches.subarray(0, 8)], [1, 2, 5, 6, 3, 4, 7, 8]);
    await rejects(() => vit.classify(image, { attention: [0] }), "bad_option", /expected none, because this model has no blocks/);
  });
}

test("a model whose class token no block fills is refused", async () => {
  const change = { depth: 0 };
  await rejects(() => withConfig("pre_gelu_learned", change), "bad_config", /depth.*class token/);
});

test("an answer is uncertain if its p is below the model's threshold, for every topK", async () => {
  const name = "pre_gelu_learned";
  const [{ image }] = golden(name);
  const plain = await load(modelPath(name));
  assert.deepEqual([plain.config.temperature, plain.config.uncertain_below], [1, 0]);
  const { classes, uncertain } = await plain.classify(image);
  assert.equal(uncertain, false);
  const { p } = classes[0];
  const cases = [
    [p + 1e-6, 1, true],
    [p - 1e-6, 1, false],
    [p + 1e-6, 0.5, false], // the temperature makes it surer
    [p - 1e-6, 2, true],
    [1, 1, true],
    [0, 100, false],
  ];
  for (const worker of [false, true]) {
    for (const [uncertain_below, temperature, want] of cases) {
      const vit = await withConfig(name, { uncertain_below, temperature }, { worker });
      const results = await vit.classifyAll([image, image], { topK: 1 });
      for (const result of results) assert.equal(result.uncertain, want);
    }
  }
});

test("a separate config replaces the file's, as an object, JSON, a Blob or a Response", async () => {
  const weights = modelBytes("per_head");
  const own = ownConfig("per_head");
  const changed = { ...own, labels: own.labels.map((label) => `the ${label}`) };
  const json = JSON.stringify(changed);
  for (const config of [changed, json, new Blob([json]), new Response(json)]) {
    const vit = await load({ weights, config });
    assert.deepEqual(vit.config.labels, changed.labels);
  }
  const { attention, norm, final_norm, ...short } = own;
  const vit = await load({ weights, config: { ...short, attention, final_norm } });
  assert.equal(vit.config.norm, "pre");
});

test("a separate prepare makes digits of drawings, dark on light or light on dark", async () => {
  for (const worker of [false, true]) {
    const vit = await load({ weights: modelPath("per_head"), prepare: { kind: "digit" } }, { worker });
    assert.deepEqual(vit.config.prepare, { kind: "digit" });
    const light = { ...stroke, data: stroke.data.map((byte, index) => (index % 4 === 3 ? 255 : 255 - byte)) };
    const moved = drawing(200, 160, (x, y) => {
      const at = (y - 20) * stroke.width + (x - 60);
      return x >= 60 && x < 180 && y >= 20 && y < 140 && stroke.data[at * 4] === 0;
    });
    const want = (await vit.classify(stroke)).logits;
    assert.deepEqual((await vit.classify(light)).logits, want);
    assert.deepEqual((await vit.classify(moved)).logits, want);
  }
});
