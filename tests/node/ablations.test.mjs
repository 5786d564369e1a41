// The script that makes the ablation table: rows, names of runs, the table. No run is made.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { allRows, chosenRows, flopsOf, runOf, secondsLeft, summary, table, withTable } from "../../weights/tools/ablations.mjs";

const rowOf = (group, value) => allRows().find((row) => row.group === group && row.value === value);

test("every row of the ablations differs from the base in one thing, and every group has the base once", () => {
  const base = rowOf("position", "learned").model;
  const groups = new Set(allRows().map(({ group }) => group));
  for (const group of groups) {
    const same = allRows().filter((row) => row.group === group && row.isBase);
    assert.equal(same.length, 1, group);
    assert.deepEqual(same[0].model, base);
  }
  for (const { group, value, model, isBase } of allRows()) {
    const changed = Object.keys({ ...base, ...model }).filter((key) => JSON.stringify(model[key]) !== JSON.stringify(base[key]));
    const expected = isBase ? [] : { patch: ["patch_size"], pool: ["pool", "prefix"] }[group] ?? [group];
    assert.deepEqual(changed, expected, `${group} ${value}`);
  }
});

test("an ablation run's name depends on its model, seed, epochs and data, not on its row", () => {
  const key = (row, ...rest) => runOf(row, ...rest).key;
  const depth = rowOf("depth", "3");
  assert.equal(key(depth, 1, 3, "a"), key(rowOf("heads", "4"), 1, 3, "a"));
  const others = [[rowOf("depth", "4"), 1, 3, "a"], [depth, 2, 3, "a"], [depth, 1, 4, "a"], [depth, 1, 3, "b"]];
  for (const other of others) assert.notEqual(key(...other), key(depth, 1, 3, "a"));
});

test("--only chooses ablation rows by group or by value, and refuses a wrong name", () => {
  const names = (only) => chosenRows(only).map(({ group, value }) => `${group}=${value}`);
  assert.deepEqual(names("pool,stem=32/2-64/2"), ["pool=class", "pool=mean", "stem=32/2-64/2"]);
  assert.equal(names(undefined).length, 28);
  for (const wrong of ["depth=9", "pools", ""]) assert.throws(() => chosenRows(wrong), /--only: expected/);
});

test("the operations of a forward pass are those that the C core counts, also with a stem", () => {
  for (const [name, millions] of Object.entries({ digits: 33.56704, "digits-stem": 30.746368, "digits-large": 92.79168 })) {
    const { config } = readSafetensors(readFileSync(new URL(`../../weights/${name}.safetensors`, import.meta.url)));
    assert.equal(flopsOf(config), millions * 1e6);
  }
});

test("a summary of accuracies has mean, standard deviation, least and most, in percent", () => {
  assert.equal(summary([0.97, 0.98, 0.99]), "98.00 ± 1.00 (97.00..99.00)");
  assert.equal(summary([0.98762]), "98.76");
});

test("the ablation table has the rows whose runs are all done, and no base without another row", () => {
  const result = (accuracy) => ({ accuracy, parameters: 12345, flops: 3.45e6 });
  const rows = [rowOf("heads", "4"), rowOf("depth", "3"), rowOf("depth", "4"), rowOf("depth", "5")];
  const keysOf = (row) => [1, 2].map((seed) => `${row.group}${row.value}/${seed}`);
  const results = Object.fromEntries(
    [["heads4", 0.98], ["depth3", 0.98], ["depth4", 0.99]].flatMap(([name, accuracy]) =>
      [[`${name}/1`, result(accuracy)], [`${name}/2`, result(accuracy)]]),
  );
  results["depth5/1"] = result(0.97);
  const lines = table(rows, keysOf, results).split("\n");
  assert.deepEqual(lines.slice(2), [
    "| depth | 3, the base | 98.00 ± 0.00 (98.00..98.00) | 12,345 | 3.5 |",
    "| depth | 4 | 99.00 ± 0.00 (99.00..99.00) | 12,345 | 3.5 |",
  ]);
});

test("a new ablation table replaces the old one between its markers, or goes to the end without markers", () => {
  const once = withTable("# Card\n\ntext\n", "one");
  assert.ok(once.startsWith("# Card\n\ntext\n\n<!--"));
  const twice = withTable(`${once}\nmore\n`, "two");
  assert.ok(!twice.includes("one") && twice.includes("two") && twice.endsWith("\nmore\n"));
  assert.equal(withTable(twice, "two"), twice);
  assert.throws(() => withTable(once.replace("<!-- ablations -->", ""), "x"), /expected <!-- ablations -->/);
});

test("the ablations' time left follows the work left, and a deeper model is more work", () => {
  const run = (group, value) => runOf(rowOf(group, value), 1, 3, "a");
  const done = [{ ...run("depth", "3"), seconds: 30 }];
  const close = (got, want) => assert.ok(Math.abs(got - want) < 1e-9, `${got}, not ${want}`);
  close(secondsLeft([run("depth", "3"), run("depth", "6")], done), 90);
  assert.ok(secondsLeft([run("patch", "2")], done) > 4 * 30);
  assert.equal(secondsLeft([run("depth", "3")], []), undefined);
});
