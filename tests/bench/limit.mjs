// This core's limit: the GFLOP/s of limit.c, built with plain and with relaxed SIMD.

const SLICES = 40;
const STEPS = 2 ** 19; // about a millisecond

/** The best GFLOP/s of many short slices of any build. `modules`: the bytes of each build. A build
 *  that the engine refuses does not count. */
export async function limit(modules) {
  let best = 0;
  for (const bytes of modules.filter((bytes) => WebAssembly.validate(bytes))) {
    const { exports } = (await WebAssembly.instantiate(bytes)).instance;
    const operations = STEPS * exports.operations_a_step();
    for (let slice = 0; slice < SLICES; slice++) {
      const start = performance.now();
      const sum = exports.run(STEPS, 1, 1);
      const seconds = (performance.now() - start) / 1000;
      if (!Number.isFinite(sum)) throw new Error(`limit.c: expected a number, got ${sum}`);
      best = Math.max(best, operations / seconds / 1e9);
      await new Promise((resolve) => setTimeout(resolve)); // lets the engine swap in optimised code
    }
  }
  return best;
}
