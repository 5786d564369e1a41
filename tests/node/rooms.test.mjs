// The rooms of src/ and web/: what a room includes or imports lies in it or below it, so that each can
// be read without those above.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The files of a folder and of those in it, as paths from the folder. */
function filesOf(folder, ending) {
  return readdirSync(join(root, folder), { recursive: true }).map(String)
    .filter((name) => ending.test(name)).sort();
}

/** Floor by floor, from the ground. A floor is a list of rooms, or of files of the topmost room. */
function floorOf(floors, file) {
  const room = dirname(file);
  const named = floors.findIndex((all) => all.includes(file));
  const floor = named >= 0 ? named : floors.findIndex((all) => all.includes(room));
  assert.notEqual(floor, -1, `${file} lies in no room that this test knows`);
  return floor;
}

/** A pair of files for each that reaches into a room above its own. */
function upward(floors, pairs) {
  return pairs.filter(([from, to]) => floorOf(floors, from) < floorOf(floors, to))
    .map(([from, to]) => `${from} → ${to}`);
}

const C_FLOORS = [
  ["vit.h"],
  ["base"],
  ["kernels"],
  ["shapes.h", "params.h", "model.h", "image"],
  ["stages"],
  ["file"],
  ["shapes.c", "params.c", "model.c", "vit.c"],
  ["train", "wasm"],
  ["cli"],
];

/** Every `#include "…"`: beside the file, or from src/. */
function includes(files) {
  return files.flatMap((from) => {
    const text = readFileSync(join(root, "src", from), "utf8");
    return [...text.matchAll(/^\s*#\s*include "([^"]+)"/gm)].map(([, name]) => {
      const beside = normalize(join(dirname(from), name));
      return [from, files.includes(beside) ? beside : name];
    });
  });
}

describe("rooms of src/", () => {
  const files = filesOf("src", /\.[ch]$/);
  const pairs = includes(files);

  test("what is included is a file of src/", () => {
    assert.ok(pairs.length > 100);
    assert.deepEqual(pairs.filter(([, to]) => !files.includes(to)), []);
  });

  test("no room includes one above it", () => assert.deepEqual(upward(C_FLOORS, pairs), []));

  test("an include that goes up would be found", () => {
    assert.deepEqual(upward(C_FLOORS, [["base/error.c", "stages/mlp.h"], ["cli/main.c", "vit.h"]]),
      ["base/error.c → stages/mlp.h"]);
  });
});

const TYPESCRIPT_FLOORS = [
  ["errors.ts"],
  ["base"],
  ["config.ts", "images.ts"],
  ["run"],
  ["attention.ts", "load/pickle", "load/translate", "load/refusal.ts"],
  ["load"],
  ["vit.ts"],
];

/** Every `from "./…js"` and `import("./…js")`. */
function imports(files) {
  return files.flatMap((from) => {
    const text = readFileSync(join(root, "web", from), "utf8");
    return [...text.matchAll(/(?:\bfrom |\bimport\()"(\.[^"]+)\.js"/g)]
      .map(([, name]) => [from, normalize(join(dirname(from), `${name}.ts`))]);
  });
}

describe("rooms of web/", () => {
  const files = filesOf("web", /^(\w+|(base|load|run)\/.*)\.ts$/);
  const pairs = imports(files);

  test("what is imported is a file of web/", () => {
    assert.ok(pairs.length > 100);
    assert.deepEqual(pairs.filter(([, to]) => !files.includes(to)), []);
  });

  test("no room imports one above it", () => assert.deepEqual(upward(TYPESCRIPT_FLOORS, pairs), []));
});
