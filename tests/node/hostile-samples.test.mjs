// Files made to break the loader, in every build. Each is refused with a message that names the bad
// part, and the next good model still loads. The data's folder `hostile` holds one of each kind.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { modelPath, shared } from "./golden.mjs";
import { load, rejects, stroke, variants } from "./support.mjs";

const folder = shared("hostile");
const skip = folder ? false : "no folder hostile in the data that VITRINE_DATA names";

/** The error of each file. The files headless and labels are good models. */
const REFUSALS = {
  badname: ["bad_tensor", /tensor "evil/],
  class_position: ["bad_tensor", /tensor "pos_embed": expected shape/],
  norm_in: ["bad_tensor", /tensor "patch_embed\.norm_in\.(weight|bias)"/],
  per_head: ["bad_tensor", /attention\.query\.weight": expected shape \(48,48\), got \(47,48\)/],
  pool_int8: ["bad_tensor", /tensor "attn_pool\.kv\.weight": expected F32, F16 or BF16, got I8/],
};
const threaded = ["simd128", "relaxed"].filter((variant) => variants.includes(variant));
const ways = [...variants.map((variant) => ({ variant })), ...threaded.map((variant) => ({ variant, threads: 2 }))];
const called = ({ variant, threads }) => variant + (threads ? `, ${threads} threads` : "");

for (const way of ways) {
  test(`${called(way)}: every hostile sample is refused by name`, { skip }, async () => {
    const samples = readdirSync(folder).filter((name) => name.endsWith(".safetensors"))
      .map((name) => name.replace(".safetensors", ""));
    for (const name of Object.keys(REFUSALS)) {
      assert.ok(samples.includes(name), `${name}.safetensors is not in ${folder}`);
      const bytes = readFileSync(join(folder, `${name}.safetensors`));
      await rejects(() => Vit.load(bytes, way), ...REFUSALS[name]);
    }
    const good = await load(modelPath("per_head"), way);
    assert.ok(good.config.width > 0);
  });

  test(`${called(way)}: a model without a head embeds and does not classify`, { skip }, async () => {
    const vit = await load(readFileSync(join(folder, "headless.safetensors")), way);
    const { pooled } = await vit.embed(stroke);
    assert.ok(pooled.every(Number.isFinite));
    await rejects(() => vit.classify(stroke), "unsupported", /this model has no head/);
  });

  test(`${called(way)}: a model has the labels of its file`, { skip }, async () => {
    const vit = await load(readFileSync(join(folder, "labels.safetensors")), way);
    const { classes } = await vit.classify(stroke);
    assert.deepEqual(classes.map(({ label }) => label).sort(), [...vit.config.labels].sort());
    assert.ok(classes.some(({ label }) => label.includes("\n")));
  });
}
