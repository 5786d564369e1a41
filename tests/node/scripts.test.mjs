// What the scripts of web/scripts share.
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { onAllCores, select } from "../../web/scripts/lib.mjs";

test("an option selects names in the list's order, all or the standard ones without a text, and refuses an unknown one", () => {
  const all = ["a", "b", "c"];
  assert.deepEqual(select("only", "c,a", all), ["a", "c"]);
  assert.deepEqual(select("only", undefined, all), all);
  assert.deepEqual([select("only", undefined, all, ["b"]), select("only", "c", all, ["b"])], [["b"], ["c"]]);
  for (const text of ["a,d", ""]) assert.throws(() => select("only", text, all), /^Error: --only: expected some of a,b,c, got "d?"$/);
});

test("jobs share the cores, their results are in order, and after a failure no other job begins", async () => {
  const cores = availableParallelism(), jobs = Array.from({ length: 3 * cores }, (_, at) => at);
  let running = 0, most = 0, begun = 0;
  const work = async (at) => {
    begun++;
    most = Math.max(most, ++running);
    for (let turns = jobs.length - at; turns > 0; turns--) await undefined; // later jobs take less
    running--;
    return 10 * at;
  };
  assert.deepEqual(await onAllCores(jobs, work), jobs.map((at) => 10 * at));
  assert.deepEqual([most, running, begun], [cores, 0, jobs.length]);

  begun = 0;
  const failing = async (at) => {
    begun++;
    if (at === 0) throw new Error("the first");
    await new Promise(setImmediate);
  };
  await assert.rejects(onAllCores(jobs, failing), /the first/);
  await new Promise(setImmediate);
  assert.equal(begun, cores);
});
