// One block by hand, as the story's chapter computes it, beside what the model adds to its tokens.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { modelBytes, names, ownConfig } from "./golden.mjs";

const { insideOf, linear } = await importTypescript("web/demo/story/chapters/block/compute.ts");

/** Any image: values in [0, 1) from a fixed seed. */
function image([rows, cols], channels) {
  let seed = 1;
  return Float32Array.from({ length: rows * cols * channels }, () => (seed = (seed * 48271) % 2147483647) / 2147483647);
}

describe("a block by hand", () => {
  const golden = names
    .filter((name) => ownConfig(name).depth > 0 && !["half", "bfloat"].includes(name)) // no model of the page has halves
    .map((name) => [name, modelBytes(name)]);
  const shipped = ["digits", "digits-stem", "digits-large", "myvit"].map((name) =>
    [name, readFileSync(new URL(`../../weights/${name}.safetensors`, import.meta.url))]);

  for (const [name, bytes] of [...shipped, ...golden]) {
    test(`${name}: norm, hidden units and MLP give what the model adds`, async () => {
      const vit = await Vit.load(bytes), { config } = vit, { width } = config;
      const { trace } = await vit.classify(image(config.image_size, config.channels), { trace: true });
      vit.dispose();
      const { tensors } = readSafetensors(bytes), weights = (name) => tensors.get(name)?.data;
      for (let layer = 0; layer < config.depth; layer++) {
        const [before, after, attention, mlp] =
          [trace.tokens(layer), trace.tokens(layer + 1), trace.added(layer, "attention"), trace.added(layer, "mlp")];
        for (const token of [0, after.length / width - 1]) {
          const at = (list) => list.slice(token * width, (token + 1) * width);
          const inside = insideOf(config, weights, layer, at(before), at(attention));
          const top = Math.max(1, ...at(mlp).map(Math.abs));
          inside.mlp.forEach((value, i) => assert.ok(Math.abs(value - at(mlp)[i]) <= 1e-4 * top, `layer ${layer}, token ${token}, ${i}: ${value}, ${at(mlp)[i]}`));
          if (config.norm !== "post") continue;
          inside.norms[1].y.forEach((value, i) => assert.ok(Math.abs(value - at(after)[i]) <= 1e-4 * Math.max(1, Math.abs(value)), `the norm on the road, ${i}`));
        }
      }
    });
  }

  test("a row of a matrix without a bias is a dot product", () =>
    assert.deepEqual([...linear(Float32Array.of(1, 2), Float32Array.of(3, 4, 5, -6), undefined)], [11, -7]));
});
