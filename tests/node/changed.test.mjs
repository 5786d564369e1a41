// npm test -- --changed: the table of folders and the stages that they can touch.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { stagesOf, touches } from "../../web/scripts/changed.mjs";
import { root } from "../../web/scripts/lib.mjs";

test("every folder of the repository stands in the table of stages, and every row names something", { skip: !existsSync(join(root, ".git")) && "no git checkout here" }, () => {
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  const folders = new Set(files.map((file) => dirname(file)).filter((folder) => folder !== "."));
  const isIn = (folder) => Object.keys(touches).some((row) => row && (folder === row || folder.startsWith(`${row}/`)));
  assert.deepEqual([...folders].filter((folder) => !isIn(folder)), [], "a folder below none of the rows");
  const inTests = [...folders].filter((folder) => /^tests\/[^/]+$/.test(folder));
  assert.deepEqual(inTests.filter((folder) => !(folder in touches)), [], "each folder of tests has a row");
  assert.deepEqual(Object.keys(touches).filter((row) => !existsSync(join(root, row))), [], "a row that names nothing");
});

test("the stages of the table are those of npm test", () => {
  const help = execFileSync(process.execPath, ["web/scripts/test.mjs", "--help"], { cwd: root, encoding: "utf8" });
  const everyday = help.match(/^npm test \[-- --only (\S+)\]$/m)[1].split(",");
  assert.deepEqual([...new Set(Object.values(touches).flat())].sort(), everyday.toSorted());
});

test("the row with the longest name counts, and several files add up", () => {
  assert.deepEqual(stagesOf([]), new Set());
  assert.deepEqual(stagesOf(["web/cli/main.ts"]), new Set(["lint", "node", "package"]));
  assert.deepEqual(stagesOf(["tests/fuzz/corpus/run/a1", "tests/debug/debug.test.mjs"]), new Set(["lint", "fuzz", "mutants", "debug"]));
  assert.ok(stagesOf(["CMakeLists.txt"]).has("native"));
  assert.ok(!stagesOf(["web/client.ts"]).has("native"), "web/client.ts does not lie in web/cli");
});
