// README.md for npm's page: npm really packs it, from a copy of the files that npm needs.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pageOf, portable } from "../../web/scripts/readme.mjs";
import { folderOf } from "./folder.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const page = "https://git.example.org/someone/vitrine";
const run = promisify(execFile);

/** A folder that npm packs like ours, but without a build. */
function copy(t, more) {
  const folder = folderOf(t);
  mkdirSync(join(folder, "web/scripts"), { recursive: true });
  for (const path of ["README.md", "web/scripts/lib.mjs", "web/scripts/readme.mjs"]) copyFileSync(join(root, path), join(folder, path));
  const described = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const scripts = Object.fromEntries(["prepack", "postpack"].map((name) =>
    [name, described.scripts[name].replace("node web/scripts/build.mjs && ", "")]));
  for (const key of ["repository", "homepage", "bugs"]) delete described[key];
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...described, scripts, ...more }));
  return folder;
}

/** The output of npm pack, and the packed README. */
async function packed(folder) {
  const { stdout, stderr } = await run("npm", ["pack"], { cwd: folder });
  const { stdout: inside } = await run("tar", ["xzOf", `vitrine-${version}.tgz`, "package/README.md"], { cwd: folder });
  return { output: stdout + stderr, inside };
}

test("npm pack says which keys package.json lacks, and packs a README without relative links", async (t) => {
  const folder = copy(t, { homepage: page });
  const { output, inside } = await packed(folder);
  assert.match(output, /package\.json does not say: repository, bugs\./);
  assert.doesNotMatch(inside, /\]\((?!https?:|#)/);
  assert.doesNotMatch(inside, /page\.png/);
  assert.match(inside, /\bRECIPES\.md\b/);
  assert.equal(readFileSync(join(folder, "README.md"), "utf8"), readme, "as it was");
});

test("with a repository the packed README's links and picture lead to the repository's files", async (t) => {
  const repository = { type: "git", url: `git+${page}.git` };
  const { output, inside } = await packed(copy(t, { repository, homepage: page, bugs: page }));
  assert.doesNotMatch(output, /does not say|No repository/);
  assert.ok(inside.includes(`](${page}/raw/HEAD/web/page.png)`));
  const paths = [...inside.matchAll(/\]\(https:\/\/git\.example\.org\/someone\/vitrine\/(?:raw|blob)\/HEAD\/([^)#]+)/g)];
  assert.equal(paths.length, [...readme.matchAll(/\]\((?!https?:|#)[\w./-]+(?:#[\w-]+)?\)/g)].length);
  for (const [, path] of paths) assert.ok(existsSync(join(root, path)), path);
});

test("npm pack puts back the README of an interrupted pack, but not over a README changed since", async (t) => {
  const folder = copy(t, {});
  const step = (name) => run(process.execPath, ["web/scripts/readme.mjs", name], { cwd: folder });
  const now = () => readFileSync(join(folder, "README.md"), "utf8");
  await step("prepack");
  assert.notEqual(now(), readme);
  await step("prepack");
  await step("postpack");
  assert.equal(now(), readme);
  await step("prepack");
  writeFileSync(join(folder, "README.md"), "new\n");
  await step("postpack");
  assert.equal(now(), "new\n");
});

test("code in the README that looks like a link stays as it is", () => {
  const code = "`a[0](b)`\n```js\nlist[i](x);\n![not](a.png)\n```\n";
  for (const address of [page, undefined]) assert.equal(portable(code, address), code);
});

test("the repository's address is found in every form that package.json allows", () => {
  const forms = {
    "someone/vitrine": "https://github.com/someone/vitrine",
    "gitlab:someone/vitrine": "https://gitlab.com/someone/vitrine",
    "bitbucket:someone/vitrine": "https://bitbucket.org/someone/vitrine",
    "git@git.example.org:someone/vitrine.git": page,
    "git+ssh://git@git.example.org/someone/vitrine.git": page,
    [`git+${page}.git`]: page,
    [page]: page,
  };
  for (const [form, expected] of Object.entries(forms)) {
    assert.equal(pageOf(form), expected);
    assert.equal(pageOf({ type: "git", url: form }), expected);
  }
  assert.equal(pageOf(undefined), undefined);
});
