// node tests/bench/search.mjs [COUNT WIDTH]: an Index's search against the same in float32, in plain JavaScript, in turn.
import { cpus } from "node:os";
import { Index } from "vitrine";
import { seeded } from "../../web/base/scramble.mjs";
import { median } from "./figures.mjs";

const [count = 10_000, width = 512] = process.argv.slice(2).map(Number), ROUNDS = 40;
const random = seeded(1), vector = () => Float32Array.from({ length: width }, () => random() + random() + random() - 1.5);
const vectors = Array.from({ length: count }, vector), index = new Index(width);
vectors.forEach((values, at) => index.add(String(at), values));
const lengths = vectors.map((values) => Math.hypot(...values));

/** Four sums, because one would wait for itself. The query's length changes no order. */
function inFloat(query) {
  const found = vectors.map((values, at) => {
    let a = 0, b = 0, c = 0, d = 0, x = 0;
    for (; x + 3 < width; x += 4) {
      a += values[x] * query[x];
      b += values[x + 1] * query[x + 1];
      c += values[x + 2] * query[x + 2];
      d += values[x + 3] * query[x + 3];
    }
    for (; x < width; x++) a += values[x] * query[x];
    return { id: String(at), score: (a + b + c + d) / lengths[at] };
  });
  return found.sort((a, b) => b.score - a.score).slice(0, 10);
}

const sides = { Index: (query) => index.search(query, 10), float32: inFloat }, times = { Index: [], float32: [] };
let same = 0;
for (let round = 0; round < ROUNDS; round++) {
  const query = vector(), ids = {};
  for (const [side, search] of Object.entries(sides)) {
    const start = performance.now();
    ids[side] = search(query).map(({ id }) => id);
    if (round >= ROUNDS / 4) times[side].push(performance.now() - start); // before that they warm up
  }
  same += ids.Index.filter((id) => ids.float32.includes(id)).length;
}
console.log(`${count} vectors of ${width}; Node ${process.versions.node}, ${cpus()[0].model}`);
for (const [side, all] of Object.entries(times)) console.log(`${side.padEnd(8)} median ${median(all).toFixed(2)} ms, best ${Math.min(...all).toFixed(2)} ms`);
console.log(`ratio ${(median(times.float32) / median(times.Index)).toFixed(2)}, the same in the first ten: ${((10 * same) / ROUNDS).toFixed(1)} %`);
