// The rooms (folders) of src/, web/, weights/tools/ and tests/. A file includes or imports only files
// of its own room or of rooms below it. So a room can be read without those above it. No files include
// or import each other in a circle. src/README.md is checked too.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The files of a folder and its subfolders, as paths from the folder. */
function filesOf(folder, ending) {
  return readdirSync(join(root, folder), { recursive: true }).map(String)
    .filter((name) => ending.test(name)).sort();
}

/**
 * The floors, from the lowest. A floor is a list of rooms, with the folders in them, or of files. A file without
 * its ending is a module of C: a header lies on the floor of its source.
 */
function floorOf(floors, file) {
  const names = [file, file.replace(/\.[ch*]$/, "")];
  for (let room = dirname(file); room !== "."; room = dirname(room)) names.push(room);
  const floor = names.map((name) => floors.findIndex((all) => all.includes(name))).find((found) => found >= 0) ?? -1;
  assert.notEqual(floor, -1, `${file} lies in no room that this test knows`);
  return floor;
}

/** The pairs of files in which the first reaches into a room above its own. */
function upward(floors, pairs) {
  return pairs.filter(([from, to]) => floorOf(floors, from) < floorOf(floors, to))
    .map(([from, to]) => `${from} → ${to}`);
}

/** The pairs that are part of a circle, or lead to one: those that are left when what leads nowhere is taken away. */
function circles(pairs) {
  const from = new Set(pairs.map(([name]) => name));
  const rest = pairs.filter(([, to]) => from.has(to));
  return rest.length < pairs.length ? circles(rest) : rest.map((pair) => pair.join(" → "));
}

/** The headers of the manual are lowest, although many rooms define what they declare. */
const C_FLOORS = [
  ["config.def", "draw.h", "edition.h", "overlay.h", "save.h", "tape.h", "trace.h", "vit.h", "vit_config.h"],
  ["base"],
  ["kernels"],
  ["shapes", "params", "model", "image"],
  ["stages"],
  ["text"],
  ["state", "trace", "vit"],
  ["file"],
  ["train", "wasm"],
  ["cli"],
];

/** Every `#include "…"`, beside the file or from src/. */
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
  const files = filesOf("src", /\.([ch]|def)$/);
  const pairs = includes(files);

  test("every included file of src/ exists", () => {
    assert.ok(pairs.length > 100);
    assert.deepEqual(pairs.filter(([, to]) => !files.includes(to)), []);
  });

  test("no room of src/ includes a file from a room above it", () => assert.deepEqual(upward(C_FLOORS, pairs), []));

  test("no modules of src/ include each other in a circle", () => {
    const module = (file) => (C_FLOORS[0].includes(file) ? file : file.replace(/\.[ch]$/, ""));
    const between = pairs.map((pair) => pair.map(module)).filter(([from, to]) => from !== to);
    assert.deepEqual(circles(between), []);
    assert.deepEqual(circles([["a", "b"], ["b", "c"], ["c", "b"]]), ["a → b", "b → c", "c → b"]);
  });

  test("the check of src/ finds an include that goes up", () => {
    assert.deepEqual(upward(C_FLOORS, [["base/error.c", "stages/mlp.h"], ["cli/main.c", "vit.h"]]),
      ["base/error.c → stages/mlp.h"]);
  });
});

/** The rooms of what is JavaScript, from the lowest. */
const FLOORS = [
  ["web/vit-error.ts", "web/base/kind.ts", "web/errors.ts"],
  ["web/base"],
  ["web/generated"],
  ["web/config.ts", "web/images.ts"],
  ["web/foreign", "web/text/entities.ts"],
  ["web/load", "web/train"],
  ["web/engine"],
  ["web/attention.ts", "web/classes.ts", "web/overlay.ts", "web/read-attention.ts", "web/search.ts", "web/trace.ts"],
  ["web/calls.ts"],
  ["web/objects.ts"],
  ["web/text"],
  ["web/vit.ts", "web/vitrine.ts", "web/all.ts"],
  ["web/train.ts"],
  ["web/cli"],
  ["web/scripts"],
  ["web/demo"],
  ["weights/tools"],
  ["tests/node/server.mjs"],
  ["tests/ecosystem"],
  ["tests/node"],
  ["tests/browser"],
  ["tests/bench", "tests/debug", "tests/engines", "tests/fuzz", "tests/golden"],
  ["web/scripts/bench.mjs", "web/scripts/ecosystem.mjs", "web/scripts/test.mjs"], // they run the tests
];

/** Every `from "./…"` and `import("./…")`, and what a script imports of TypeScript, that is a file of the repository. */
function imports(files) {
  return files.flatMap((from) => {
    const text = readFileSync(join(root, from), "utf8");
    const beside = [...text.matchAll(/(?:\bfrom |\bimport |\bimport\()"(\.[^"?]+)/g)].map(([, name]) => normalize(join(dirname(from), name)));
    const fromRoot = [...text.matchAll(/\bimportTypescript\("([^"]+)"/g)].map(([, name]) => name);
    return [...beside, ...fromRoot].flatMap((name) => {
      const to = [name, name.replace(/\.js$/, ".ts")].find((path) => files.includes(path));
      return to ? [[from, to]] : [];
    });
  });
}

describe("rooms of web/, weights/tools/ and tests/", () => {
  const files = ["web", "weights/tools", "tests"]
    .flatMap((folder) => filesOf(folder, /\.(ts|mjs|js)$/).map((name) => `${folder}/${name}`));
  const pairs = imports(files);

  test("every imported file of web/ exists", () => {
    assert.ok(pairs.length > 1000, String(pairs.length));
    const missing = files.filter((file) => /^web\/(?!demo|scripts)/.test(file)).flatMap((from) => {
      const text = readFileSync(join(root, from), "utf8");
      return [...text.matchAll(/\bfrom "(\.[^"]+)\.js"/g)].map(([, name]) => normalize(join(dirname(from), `${name}.ts`)));
    }).filter((name) => !files.includes(name));
    assert.deepEqual(missing, []);
  });

  test("every name of the table is a room or a file", () => {
    const lacking = FLOORS.flat().filter((name) => !files.some((file) => file === name || file.startsWith(`${name}/`)));
    assert.deepEqual(lacking, []);
  });

  test("no room imports a file from a room above it", () => assert.deepEqual(upward(FLOORS, pairs), []));

  test("no files import each other in a circle", () => assert.deepEqual(circles(pairs), []));

  test("only tests, and the tool that measures the page's lesson, import from web/demo", () => {
    const others = pairs.filter(([from, to]) => floorOf(FLOORS, to) === floorOf(FLOORS, "web/demo/main.ts")
      && !/^(web\/demo|tests)\/|^weights\/tools\/teach\.mjs$/.test(from));
    assert.deepEqual(others, []);
  });

  test("the check finds an import that goes up, and a file in no room", () => {
    const up = [["web/load/source.ts", "web/engine/heap.ts"], ["web/demo/story/rail.ts", "web/base/json.ts"]];
    assert.deepEqual(upward(FLOORS, up), ["web/load/source.ts → web/engine/heap.ts"]);
    assert.throws(() => floorOf(FLOORS, "web/attic/trunk.ts"), /no room/);
  });
});

describe("src/README.md", () => {
  const files = filesOf("src", /\.([ch]|def)$/);
  const text = (file) => readFileSync(join(root, "src", file), "utf8");
  const readme = text("README.md");
  const [rooms] = readme.match(/^\| room [^]*?\n\n/m);
  const bare = (code) => code.replace(/\/\*[^]*?\*\/|\/\/.*|"(\\.|[^"\\])*"/g, " ");

  /** A function's text, from its name to the end of its body; undefined if it is not in the file. */
  function bodyOf(place) {
    const [file, name] = place.split(":");
    const quoted = name.replace(/[#$]/g, "\\$&");
    const start = file.endsWith(".ts")
      ? `^( *)(?:(?:export |static |async |function )*)${quoted}\\((?!.*;$)[^]*?` // not an interface's line
      : `^()[a-z][\\w *]*\\b${quoted}\\([^;{]*\\) \\{\n[^]*?`;
    return text(file).match(new RegExp(`${start}^\\1\\}`, "m"))?.[0];
  }

  /** The entries of the walks, each with the one that it is indented below. */
  function entries() {
    const above = [];
    return [...readme.matchAll(/^( *)- `([^`]+:[^`]+)`/gm)].map(([, indent, place]) => {
      above.length = indent.length / 2;
      const entry = { place, above: above.at(-1), body: bare(bodyOf(place) ?? "") };
      above.push(entry);
      return entry;
    });
  }

  test("each function in src/README.md's walks is defined in the named file", () => {
    const places = [...readme.matchAll(/`([\w./]+\.(?:c|h|ts):#?\w+)`/g)].map(([, place]) => place);
    assert.ok(places.length >= 60, `only ${places.length}`);
    assert.deepEqual(places.filter((place) => !bodyOf(place)), []);
  });

  test("each hop of src/README.md's walks is a call, in the order of the walk", () => {
    const below = entries().filter(({ above }) => above);
    const wrong = below.filter(({ place, above }) => {
      const name = new RegExp(`(?<!\\w)${place.split(":").at(-1)}(?!\\w)`);
      above.reached ??= above.body.indexOf("{");
      const next = above.body.slice(above.reached).search(name);
      above.reached += next;
      return next < 0;
    });
    assert.deepEqual(wrong.map(({ place, above }) => `${above.place} → ${place}`), []);
    assert.ok(below.length >= 60, `only ${below.length}`);
  });

  test("src/README.md has a row for every room of src/, from the top down", () => {
    const rows = [...rooms.matchAll(/^\| ((?:`[\w./*]+` ?)+)\|/gm)].map(([, cell]) => cell.match(/`[^`]+`/g));
    const floors = rows.map(([first]) => {
      const name = first.slice(1, -1);
      return floorOf(C_FLOORS, name.endsWith("/") ? `${name}x` : name);
    });
    assert.deepEqual(floors, floors.toSorted((a, b) => b - a));
    const roomNames = rows.flat().map((name) => name.slice(1, -1));
    const lacking = files.filter((file) => !roomNames.some((name) => file.startsWith(name.replace("*", ""))));
    assert.deepEqual(lacking, C_FLOORS[0]);
  });

  test("the tests that src/README.md names for a room exist", () => {
    const tests = [...rooms.matchAll(/`(\w+_test\.c)`/g)].map(([, name]) => name);
    assert.ok(tests.length >= 15);
    const there = filesOf("tests/c", /_test\.c$/);
    assert.deepEqual(tests.filter((name) => !there.includes(name)), []);
  });

  test("only the rooms that src/README.md names use the heap, print or use a disk", () => {
    const users = (pattern) =>
      [...new Set(files.filter((file) => pattern.test(bare(text(file)))).map((file) => file.replace(/\/.*/, "/")))].sort();
    assert.deepEqual(users(/\b(malloc|calloc|realloc|free)\(/), ["cli/", "file/", "train/", "wasm/"]);
    assert.deepEqual(users(/\b(printf|fprintf|puts|exit)\(/), ["cli/"]);
    assert.deepEqual(users(/\b(fopen|open|fread|fwrite|rename)\(/), ["cli/", "train/"]);
    const own = files.filter((file) => file.startsWith("train/") && /^#include <(unistd|fcntl|zlib|pthread|sys\/.*)\.h>$/m.test(text(file)));
    const [, library] = readFileSync(join(root, "CMakeLists.txt"), "utf8").match(/add_library\(vit_train_files STATIC([^)]*)\)/);
    assert.deepEqual(own.toSorted(), library.trim().split(/\s+/).map((name) => name.replace("src/", "")).toSorted());
  });

  test("each file that a comment in src/ names exists in the repository", () => {
    const all = ["src", "tests", "web", "weights"].flatMap((room) => filesOf(room, /./).map((name) => `${room}/${name}`));
    const missing = files.flatMap((file) => {
      const comments = (text(file).match(/\/\*[^]*?\*\/|\/\/.*/g) ?? []).join("\n").replace(/#include.*/g, "");
      return [...comments.matchAll(/(?<![\w./-])[\w./-]*\w\.(?:c|h|ts|mjs|py|md)\b(?![\w.(])/g)]
        .filter(([name]) => !all.some((path) => path === name || path.endsWith(`/${name}`)))
        .map(([name]) => `${file}: ${name}`);
    });
    assert.deepEqual(missing, []);
  });
});
