// web/RECIPES.md shows what the recipes of tests/ecosystem hold, and the recipe for Node runs.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { recipes } from "../ecosystem/recipes.mjs";
import { lay, tryRecipe } from "../ecosystem/try.mjs";
import { folderOf } from "./folder.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path) => readFileSync(join(root, path), "utf8");
const [, page] = read("web/RECIPES.md").split("\n## Bundlers and engines\n");

/** The second column of the table, by the first. */
const rows = new Map([...page.matchAll(/^\| (.+?) \| (.*?) \|/gm)].map(([, title, cell]) => [title, cell]));

/** The code that a recipe's row shows, with that of the row that it begins with: "as TITLE". */
function codesOf(title) {
  const cell = rows.get(title) ?? assert.fail(`no row: ${title}`);
  const [, other] = cell.match(/^as ([^`]+?)(?:, with|$)/) ?? [];
  return [...(other ? codesOf(other) : []), ...[...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code)];
}

test("web/RECIPES.md shows the two programs whole", () => {
  const blocks = [...page.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, text]) => text);
  assert.deepEqual(blocks, ["page", "node"].map((name) => read(`tests/ecosystem/${name}/main.js`)));
});

const flat = (text) => text.replace(/\s+/g, " ");

for (const recipe of Object.values(recipes)) {
  test(`web/RECIPES.md shows what differs for ${recipe.title}, and the recipe holds it`, (t) => {
    const folder = folderOf(t);
    lay(recipe, folder);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = files.map(({ parentPath, path, name }) => `${name}\n${readFileSync(join(parentPath ?? path, name), "utf8")}`);
    const content = flat([...texts, recipe.build, recipe.run, recipe.serve].join("\n"));
    const codes = codesOf(recipe.title);
    for (const code of codes) assert.ok(content.includes(flat(code)), code);
    for (const line of Object.values(recipe.lines ?? {})) {
      assert.ok(codes.includes(line), line);
      assert.ok(content.includes(line), `main.js has no place for ${line}`);
    }
  });
}

test("every row of the table and every folder of tests/ecosystem belongs to a recipe", () => {
  const titles = Object.values(recipes).map(({ title }) => title);
  assert.deepEqual([...rows.keys()].filter((title) => !titles.includes(title)), ["tool or engine"]);
  const folders = readdirSync(join(root, "tests/ecosystem"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const used = new Set(Object.values(recipes).flatMap(({ files }) => files).filter((path) => !path.startsWith("..")));
  assert.deepEqual(folders.map(({ name }) => name).sort(), [...used].sort());
});

test("the recipe for Node reads the drawn digit", async (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "vitrine"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  lay(recipes.node, folder);
  const [{ label, p }] = await tryRecipe(recipes.node, folder);
  assert.equal(label, "1");
  assert.ok(p > 0.9 && p <= 1);
});
