// "Train one yourself, here" on the page: the recipes that its panel makes, and its file of MNIST.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Trainer } from "../../dist/train.js";
import { Vit } from "../../dist/vit.js";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { COUNTS, packDigits, PIXELS, unpackDigits } from "../../web/base/digits.mjs";
import { importTypescript } from "../../web/scripts/typescript.mjs";

const recipe = await importTypescript("web/demo/story/chapters/learning/live/recipe.ts");
const { RECENT, recentLoss } = await importTypescript("web/demo/story/chapters/learning/live/run.ts");
const { biasOf, byOffset, cosines, positionsOf, turnedBy } = await importTypescript("web/demo/story/vectors.ts");

/** Trains a step on an image of each class. Returns what `take` makes of the trainer, or the model's config. */
async function train(choices, take = ({ config }) => config) {
  const trainer = await Trainer.create({ recipe: recipe.recipeOf(choices) });
  try {
    const labels = Array.from({ length: 10 }, (_, digit) => digit);
    await trainer.add(labels.map((digit) => new Float32Array(PIXELS).fill(digit / 10)), labels);
    for await (const { loss } of trainer.run({ epochs: 1 })) assert.ok(Number.isFinite(loss));
    return await take(trainer);
  } finally {
    trainer.dispose();
  }
}

test("every choice of the panel makes a recipe that trains", async () => {
  const { PRESETS, OFFERED, BREAKS, headsFor } = recipe;
  let count = 0;
  for (const preset of Object.values(PRESETS)) {
    const all = [
      {}, { augment: true }, { residual: false },
      ...OFFERED.width.flatMap((width) => headsFor(width).map((heads) => ({ width, heads }))),
      ...OFFERED.depth.map((depth) => ({ depth })),
      ...OFFERED.position.flatMap((position) => OFFERED.patch.map((patch) => ({ position, patch }))),
      ...Object.values(BREAKS).map((change) => change(preset)),
    ];
    for (const some of all) {
      const { width, depth, heads, patch, position, residual } = { ...preset, ...some };
      const config = await train({ ...preset, ...some });
      assert.deepEqual(
        [config.width, config.depth, config.heads, config.patch_size[0], config.position, config.residual],
        [width, depth, heads, patch, position, residual], JSON.stringify(some));
      count++;
    }
  }
  assert.ok(count > 80, `${count} recipes`);
});

test("positions that are computed from a trace are those of the file", async () => {
  const traced = (position) => train({ ...recipe.PRESETS.myvit, position, patch: 7 }, async (trainer) => {
    const weights = await trainer.save(), vit = await Vit.load(weights);
    const image = Float32Array.from({ length: PIXELS }, (_, at) => (at % 7) / 7);
    const { trace } = await vit.classify(image, { trace: true });
    vit.dispose();
    return { trace, tensors: readSafetensors(weights).tensors };
  });
  const close = (got, want) => {
    assert.equal(got.length, want.length);
    got.forEach((value, at) => assert.ok(Math.abs(value - want[at]) < 1e-4, `${at}: ${value}, not ${want[at]}`));
  };
  const learned = await traced("learned");
  close(positionsOf(learned.trace), learned.tensors.get("pos_embed").data);
  assert.equal(cosines(positionsOf(learned.trace).subarray(8), 8).length, 16 * 16);
  const { trace, tensors } = await traced("relative");
  for (const [layer, head] of [[0, 0], [1, 1]]) {
    const { data } = tensors.get(`blocks.${layer}.attn.rel_pos.relative_position_bias_table`); // its last offset is furthest down and right
    close(byOffset(biasOf(trace, layer, head), 1, 4, 4), Array.from({ length: 49 }, (_, at) => data[(48 - at) * 2 + head]));
  }
  // All patches of the image are the same, so in the first block their scores differ by rotary positions alone.
  const turned = (await traced("rotary")).trace, [row, column] = [1, 2], token = 1 + 4 * row + column;
  for (const head of [0, 1]) {
    const scores = turned.scores(0, head).subarray(17 * token, 17 * token + 17);
    const change = turnedBy(turned, 0, head, token, 100, { gridRows: 4, gridCols: 4 });
    const differences = Array.from({ length: 16 }, (_, patch) => change[7 * (Math.floor(patch / 4) - row + 3) + (patch % 4) - column + 3]);
    assert.ok(Math.max(...differences.map(Math.abs)) > 1e-3, `${differences}`);
    close(differences, Array.from(scores.subarray(1), (score) => score - scores[token]));
  }
});

test("the presets and their breaks: each changes one thing only", () => {
  const { PRESETS, BREAKS } = recipe;
  assert.deepEqual(BREAKS.positions(PRESETS.ours), { position: "none" });
  assert.deepEqual(BREAKS.residual(PRESETS.myvit), { residual: false });
  assert.deepEqual(BREAKS.head(PRESETS.myvit), { heads: 1 });
  assert.ok(Math.abs(BREAKS.rate(PRESETS.myvit).rate - 0.15) < 1e-12);
  assert.deepEqual(BREAKS.rate({ ...PRESETS.ours, rate: 5 }), { rate: 10 }, "no more than the trainer takes");
});

test("the shown loss is the mean over the images of the last steps, of which an epoch's last has fewer", () => {
  const batch = 4, images = 30, steps = 8, recent = recentLoss(batch, images); // 7 batches of 4, and one of 2
  const sizes = Array.from({ length: 3 * steps }, (_, at) => (at % steps === steps - 1 ? 2 : 4));
  const losses = sizes.map((_, at) => 2 / (1 + at) + (at % 3));
  const mean = (from, to) => {
    let [sum, all] = [0, 0];
    for (let at = from; at <= to; at++) [sum, all] = [sum + sizes[at] * losses[at], all + sizes[at]];
    return sum / all;
  };
  for (let at = 0; at < sizes.length; at++) {
    const got = recent.add({ step: (at % steps) + 1, loss: mean(at - (at % steps), at) }); // as a trainer says it
    assert.ok(Math.abs(got - mean(Math.max(0, at - RECENT + 1), at)) < 1e-9, `step ${at}: ${got}`);
    assert.equal(recent.steps, Math.min(at + 1, RECENT));
  }
});

test("a packed digit comes back within half a level of 15, with its label", () => {
  const part = (count, seed) => ({
    images: Uint8Array.from({ length: count * PIXELS }, (_, i) => (i * seed + (i >> 3)) % 256),
    labels: Uint8Array.from({ length: count }, (_, i) => (i * seed) % 10),
  });
  const raw = { train: part(COUNTS.train, 37), test: part(COUNTS.test, 91) };
  const packed = packDigits(raw), back = unpackDigits(packed);
  for (const [name, at] of [["train", 0], ["train", 1], ["train", COUNTS.train - 1], ["test", 0], ["test", COUNTS.test - 1]]) {
    assert.deepEqual(back[name].labels, raw[name].labels);
    const image = back[name].image(at);
    image.forEach((value, i) => {
      const want = raw[name].images[at * PIXELS + i] / 255;
      assert.ok(Math.abs(value - want) <= 0.5 / 15 + 1e-6, `${name} ${at}, pixel ${i}: ${value}, not ${want}`);
    });
  }
  assert.throws(() => unpackDigits(packed.subarray(1)), /expected MNIST's 11000 images/);
});
