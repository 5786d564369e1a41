// npm run train, of models that are trained in two runs: the second run's recipe. No run is made.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { finishing } from "../../web/scripts/finish.mjs";

const weights = new URL("../../weights/", import.meta.url);
const json = (name) => JSON.parse(readFileSync(new URL(name, weights), "utf8"));
const finished = readdirSync(weights).filter((name) => name.endsWith(".finish.json"))
  .map((name) => name.slice(0, -".finish.json".length));

test("the second run has the first's recipe but for the changes, and its fitted numbers", () => {
  const first = { model: { width: 8, temperature: 1 }, training: { epochs: 9, batch: 4, augment: { shift: 1, settle: 0.4 } } };
  const before = structuredClone(first);
  const changes = { training: { epochs: 2, augment: { settle: 0.6 } } };
  assert.deepEqual(finishing(first, changes, { width: 9, temperature: 0.7, uncertain_below: 0.8 }), {
    model: { width: 8, temperature: 0.7, uncertain_below: 0.8 },
    training: { epochs: 2, batch: 4, augment: { shift: 1, settle: 0.6 } },
  });
  assert.deepEqual(first, before);
  const told = finishing(first, { ...changes, model: { temperature: 0.6 } }, { temperature: 0.7, uncertain_below: 0.8 });
  assert.deepEqual(told.model, { width: 8, temperature: 0.6, uncertain_below: 0.8 });
});

test("the second run of a model learns from all, shorter and slower, with a temperature that was fitted", () => {
  const known = new Set(Object.keys(json("digits-large.recipe.json").training).concat(Object.keys(json("digits-plain.recipe.json").training)));
  assert.deepEqual(finished.toSorted(), ["digits", "digits-plain"]);
  for (const name of finished) {
    assert.ok(existsSync(new URL(`${name}.recipe.json`, weights)));
    const first = json(`${name}.recipe.json`), changes = json(`${name}.finish.json`);
    const { model, training } = finishing(first, changes, { temperature: 2, uncertain_below: 0.5 });
    assert.equal(training.validation, 0);
    assert.equal(model.temperature === 2, first.training.validation > 0, "fitted to the validation part, or told");
    assert.equal(model.uncertain_below === 0.5, first.training.validation > 0);
    assert.ok(training.epochs < first.training.epochs && training.learning_rate < first.training.learning_rate);
    for (const key of Object.keys(training)) assert.ok(known.has(key), key);
  }
});
