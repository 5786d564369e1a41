// Memory: only the first run allocates, and 20,000 runs do not make memory grow.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { golden, modelPath } from "./golden.mjs";
import { instancesOf, load, stroke, variants } from "./support.mjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

for (const variant of variants) {
  describe(variant, () => {
    test(`${variant}: classify does not allocate on the wasm heap after the first call`, async () => {
      const weights = modelPath("per_head");
      const [instances, vit] = await instancesOf(() =>
        load({ weights, prepare: { kind: "digit" } }, { variant }),
      );
      const calls = [
        () => vit.classify(stroke),
        () => vit.classify(stroke, { attention: true }),
        () => vit.embed(stroke),
        () => vit.classifyAll([stroke, stroke, stroke]),
        () => vit.classify(golden("per_head")[0].image),
      ];
      for (const call of calls) await call();
      const core = instances.at(-1); // the first instance was for the file's own config
      const before = core.vitw_allocations();
      assert.ok(before > 0);
      for (let round = 0; round < 10; round++) for (const call of calls) await call();
      assert.equal(core.vitw_allocations(), before);
    });
  });
}

test("memory does not grow over 20,000 classifications", async () => {
  const [[core], vit] = await instancesOf(() => load(modelPath("pre_gelu_learned")));
  const images = golden("pre_gelu_learned").map(({ image }) => image);
  const run = async (count) => {
    for (let index = 0; index < count; index++) {
      await vit.classify(images[index % images.length], { attention: index % 10 === 0 });
    }
    await setImmediate(); // the last calls' memory is freed
    collect();
    collect(); // waits until another thread has freed the first one's buffers
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = await run(10_000); // the first runs compile code, which counts as heap, on a busy machine for a while
  const wasm = core.memory.buffer.byteLength;
  const after = await run(20_000);
  assert.equal(core.memory.buffer.byteLength, wasm);
  assert.ok(after - before < 1e6, `${before} bytes became ${after}`);
});
