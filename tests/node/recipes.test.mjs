// The recipes of tests/ecosystem are shown in web/RECIPES.md, and the recipe for Node runs.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { recipes } from "../ecosystem/recipes.mjs";
import { lay, tried } from "../ecosystem/try.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path) => readFileSync(join(root, path), "utf8");

test("web/RECIPES.md shows every recipe's title, command and files unchanged", () => {
  const [, page] = read("web/RECIPES.md").split("\n## Bundlers and engines\n");
  const blocks = [...page.matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, text]) => text);
  const wanted = new Set();
  for (const [name, { title, build, run, serve, shown = [] }] of Object.entries(recipes)) {
    assert.ok(page.includes(`| ${title} |`), title);
    if (!shown.length) continue;
    const commands = [build, run, serve].filter(Boolean).map((command) => command.replaceAll(" && ", "\n"));
    if (commands.length) wanted.add(`${commands.join("\n")}\n`);
    for (const file of shown) wanted.add(read(`tests/ecosystem/${name}/${file}`));
  }
  for (const text of wanted) assert.ok(blocks.includes(text), text);
  for (const text of blocks) assert.ok(wanted.has(text), text);
});

test("every folder of tests/ecosystem belongs to a recipe", () => {
  const folders = readdirSync(join(root, "tests/ecosystem"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const used = Object.entries(recipes).map(([name, { files = name }]) => files);
  assert.deepEqual(folders.map(({ name }) => name).sort(), [...new Set(used)].filter((name) => name !== "typescript").sort());
});

test("the recipe for Node reads the drawn digit", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-recipe-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "vitrine"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  lay("node", recipes.node, folder);
  const [{ label, p }] = await tried(recipes.node, folder);
  assert.equal(label, "1");
  assert.ok(p > 0.9 && p <= 1);
});
