// npm run train, of models that are trained in two runs: the second run's recipe. No run is made.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { finishing } from "../../weights/tools/finish.mjs";

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
});

test("a model of two runs has a fitted temperature, and its second run is shorter and slower", () => {
  assert.deepEqual(finished.toSorted(), ["digits", "digits-large", "digits-stem"]);
  for (const name of finished) {
    assert.ok(existsSync(new URL(`${name}.recipe.json`, weights)));
    const first = json(`${name}.recipe.json`);
    const { model, training } = finishing(first, json(`${name}.finish.json`), { temperature: 2, uncertain_below: 0.5 });
    assert.equal(first.training.validation > 0, first.model.temperature === undefined,
      "its temperature is fitted to the validation part, or the recipe has the one of such a run");
    assert.ok(training.epochs < first.training.epochs && training.learning_rate < first.training.learning_rate);
    assert.equal(training.validation, name === "digits" ? 5000 : 0);
    const steps = ["sharpness", "sharpness_batch"]; // what a second run may add
    assert.deepEqual(new Set(Object.keys(training)), new Set([...Object.keys(first.training), ...steps]), "no other key is new");
    assert.deepEqual(new Set(Object.keys(model)), new Set([...Object.keys(first.model), ...(training.validation > 0 ? [] : ["temperature", "uncertain_below"])]));
  }
});
