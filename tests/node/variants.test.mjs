// The build that "auto" takes, by the results and the speed of the probe (src/wasm/probe.c).
import assert from "node:assert/strict";
import { test } from "node:test";
import { headerOf, joinFile } from "../../web/base/safetensors.mjs";
import { modelBytes } from "./golden.mjs";
import { during, fresh, variants, wasmBytes } from "./support.mjs";

const builds = ["relaxed", "simd128", "scalar", "relaxed-threads", "simd128-threads"];
const bytesOf = new Map(builds.map((build) => [build, wasmBytes(build)]));
const weights = modelBytes("per_head");

/** The start of a file that says that it is int8. */
function int8File() {
  return joinFile(headerOf([["patch_embed.proj.weight", { dtype: "I8", shape: [1], size: 1 }]], { vitrine: "{}" }), new Uint8Array(1));
}

/**
 * Loads `file` in an engine with a simulated probe and clock. A tile takes `plain` or `fused`
 * milliseconds of a clock that ticks every `tick`, and an int8 tile takes what `int8` says. Returns
 * the compiled builds in order, the probe's milliseconds, and `inPairs`, the module's int8 setting.
 */
async function chosen({
  knows = true,
  check = () => 2,
  plain = 0.01,
  fused = 0.01,
  int8 = () => 0.01,
  tick = 0.001,
  file = weights,
  loads = 1,
  variant = "auto",
}) {
  const { Vit } = await fresh();
  let time = 0;
  const fake = {
    check: () => ((time += 0.002), check()),
    tile: (isFused) => (time += isFused ? fused : plain),
    tile_int8: (inPairs) => (time += int8(inPairs, time)),
  };
  const { Module, Instance, compile, instantiate, validate } = WebAssembly;
  const isProbe = (bytes) => bytes.length > 500; // the module that tests for plain SIMD is tiny
  const fakes = {
    validate: (bytes) => (isProbe(bytes) ? knows : validate(bytes)),
    Module: new Proxy(Module, { construct: (_, [bytes]) => (isProbe(bytes) ? fake : new Module(bytes)) }),
    Instance: new Proxy(Instance, {
      construct: (_, [module, imports]) =>
        module === fake ? { exports: fake } : new Instance(module, imports),
    }),
    compile: (bytes) => {
      compiled.push(builds.find((build) => bytesOf.get(build).equals(Buffer.from(bytes))));
      return compile(bytesOf.get("scalar")); // every engine takes it
    },
  };
  fakes.instantiate = async (...args) => {
    const { exports } = await instantiate(...args);
    const vitw_begin = (...words) => ((inPairs = words[5]), exports.vitw_begin(...words));
    return { exports: { ...exports, vitw_begin } };
  };
  let inPairs;
  const compiled = [];
  const now = () => Math.floor(time / tick) * tick;
  const codes = [];
  const load = async () => {
    for (let count = 0; count < loads; count++) {
      await Vit.load(file, { variant }).then((vit) => vit.dispose(), ({ code }) => codes.push(code));
    }
  };
  const work = Object.entries(fakes).reduce(
    (inner, [name, value]) => () => during(WebAssembly, name, value, inner),
    () => during(performance, "now", now, load),
  );
  await work();
  return { compiled, measured: time, codes, inPairs: inPairs === 1 };
}

test("auto takes plain SIMD in an engine without relaxed SIMD", async () => {
  assert.deepEqual((await chosen({ knows: false })).compiled, ["simd128"]);
});

test("auto never takes relaxed SIMD that computes wrong results", async () => {
  for (const file of [weights, int8File()]) {
    assert.deepEqual((await chosen({ check: () => 0, file })).compiled, ["simd128"]);
    let calls = 0;
    const wrongLater = () => (calls++ < 5 ? 2 : 0); // as code that is optimised later might
    const { compiled } = await chosen({ check: wrongLater, file });
    assert.deepEqual(compiled, ["relaxed", "simd128"]);
  }
});

test("auto takes relaxed SIMD if its tile is at least as fast", async () => {
  assert.deepEqual((await chosen({ plain: 0.012, fused: 0.01 })).compiled, ["relaxed"]);
  assert.deepEqual((await chosen({ plain: 0.01, fused: 0.012 })).compiled, ["relaxed", "simd128"]);
  assert.deepEqual((await chosen({ plain: 0.01, fused: 0.03 })).compiled, ["relaxed", "simd128"]);
});

test("auto does not measure a multiply-add that rounds twice, because it gains nothing", async () => {
  const { compiled, measured } = await chosen({ check: () => 1, fused: 0.001 });
  assert.deepEqual(compiled, ["simd128"]);
  assert.ok(measured < 0.1, `${measured} ms`);
});

test("an int8 model takes the relaxed dot product if its results are right", async () => {
  const file = int8File();
  assert.deepEqual((await chosen({ file, check: () => 1 })).compiled, ["relaxed"]);
  assert.deepEqual((await chosen({ file, fused: 0.03 })).compiled, ["relaxed"]);
});

test("an int8 dot product takes two steps if that is faster", async () => {
  const inPairs = async (int8) => (await chosen({ file: int8File(), int8 })).inPairs;
  assert.equal(await inPairs((two) => (two ? 0.02 : 0.025)), true);
  assert.equal(await inPairs((two) => (two ? 0.025 : 0.02)), false);
  // The engine optimises the code at about the last timing of one of the two.
  for (let at = 1; at < 5; at += 0.1) {
    const slow = (time) => (time < at ? 2 : 1);
    assert.equal(await inPairs((two, time) => slow(time) * (two ? 0.02 : 0.015)), false, `${at}`);
  }
});

test("auto measures once, for at most 5 ms, with every clock", async () => {
  for (const tick of [0.001, 0.005, 0.1, 1]) {
    const int8 = await chosen({ tick, file: int8File(), loads: 3 });
    assert.ok(int8.measured > 1 && int8.measured <= 5, `int8: ${int8.measured} ms`);
    for (const fused of [0.005, 0.05]) {
      const { compiled, measured } = await chosen({ tick, fused, plain: 0.02, loads: 3 });
      assert.ok(measured > 1 && measured <= 5, `${measured} ms with a tick of ${tick}`);
      const slow = tick < 1 && fused > 0.02; // a clock of milliseconds cannot measure this
      assert.deepEqual(compiled, slow ? ["relaxed", "simd128"] : ["relaxed"]);
    }
  }
});

test("the variant relaxed is refused by name if the engine's relaxed SIMD is wrong or missing", async () => {
  for (const engine of [{ knows: false }, { check: () => 0 }]) {
    const { compiled, codes } = await chosen({ ...engine, variant: "relaxed" });
    assert.deepEqual([compiled, codes], [[], ["unsupported"]]);
  }
  // The loaded module refuses the rest, and here this is always the scalar module.
  const { compiled } = await chosen({ check: () => 1, variant: "relaxed" });
  assert.deepEqual(compiled, ["relaxed"]);
});

test("the probe in this engine chooses a build that loads", async () => {
  const vit = await (await fresh()).Vit.load(weights);
  assert.ok(variants.includes(vit.variant));
  vit.dispose();
});
