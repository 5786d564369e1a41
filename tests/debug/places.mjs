// Judges what a trap names by the C sources alone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const PLACE = /(\w+) \((src\/[\w/]+\.[ch]):(\d+)\)/g;

/** What a text names, the innermost first: each line must lie in its function's body. */
export function placesIn(text) {
  const places = [...text.matchAll(PLACE)].map(([, name, file, line]) => ({ name, file, line: Number(line) }));
  for (const place of places) isInside(place);
  return places;
}

/** A function begins at its name in a line that is not indented, and ends with a brace that is not. */
function isInside({ name, file, line }) {
  const lines = sourceOf(file);
  const where = `${name} (${file}:${line})`;
  assert.ok(line <= lines.length, where);
  const heads = lines.flatMap((text, at) => (new RegExp(`^\\w.*\\b${name}\\(`).test(text) && at < line ? [at] : []));
  assert.notEqual(heads.length, 0, `${where}: no such function above this line`);
  const end = lines.indexOf("}", heads.at(-1)) + 1;
  assert.ok(line <= end, `${where}: the function ends in line ${end}`);
}

const sourceOf = (file) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8").split("\n");

/** Each function is called in the line that is named of the next. */
export function isChain(places) {
  places.slice(1).forEach(({ file, line }, index) => {
    const { name } = places[index];
    assert.match(sourceOf(file)[line - 1], new RegExp(`\\b${name}\\(`), `${file}:${line} calls ${name}`);
  });
}

/** A trap of a run whose images are beyond the heap. */
export function isTrapOfImages(text) {
  assert.match(text, /memory access out of bounds/);
  const places = placesIn(text);
  assert.deepEqual(places.map(({ name }) => name), ["all_finite", "vit_run", "vitw_run"], text);
  isChain(places);
}
