// The package: one export list, only what a user needs, small, and typed with or without a DOM.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { EXPORTS, WORDS } from "../../dist/wasm.js";
import { variants } from "./support.mjs";

const root = new URL("../../", import.meta.url);
const read = (path) => readFileSync(new URL(path, root));
const run = (file, ...given) => promisify(execFile)(file, given, { cwd: fileURLToPath(root) });

test("src/wasm.exports, the modules and wasm.ts name the same functions", async () => {
  const listed = read("src/wasm.exports").toString().trim().split("\n");
  assert.deepEqual(
    listed,
    EXPORTS.map((name) => `_${name}`),
  );
  for (const variant of variants) {
    const module = await WebAssembly.compile(read(`dist/vit.${variant}.wasm`));
    const given = WebAssembly.Module.exports(module).map(({ name }) => name);
    for (const name of [...EXPORTS, "memory"]) assert.ok(given.includes(name), name);
    const wanted = WebAssembly.Module.imports(module).map(({ name }) => name);
    assert.deepEqual(wanted, ["emscripten_notify_memory_growth"]);
  }
});

test("wasm.ts reads the words of the C session in their order", () => {
  const source = read("src/wasm.c").toString();
  const body = source
    .match(/static struct session \{([^}]*)\} session;/)[1]
    .replace(/\/\*.*?\*\//gs, "");
  const fields = body.split(";").flatMap((line) =>
    line
      .split(",")
      .map((part) => part.match(/(\w+)\s*$/)?.[1])
      .filter(Boolean),
  );
  assert.deepEqual(fields, [...WORDS]);
});

test("npm pack holds only what a user needs", async () => {
  const { stdout } = await run("npm", "pack", "--dry-run", "--json", "--ignore-scripts");
  const [{ files }] = JSON.parse(stdout);
  const allowed = [
    /^dist\/\w+\.(js|d\.ts)$/,
    /^dist\/vit\.(simd128|scalar)\.wasm$/,
    /^weights\/digits\.safetensors$/,
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  ];
  for (const { path } of files)
    assert.ok(
      allowed.some((pattern) => pattern.test(path)),
      path,
    );
  const paths = files.map(({ path }) => path);
  for (const path of ["dist/vit.js", "dist/vit.d.ts", "dist/worker.js", "dist/vit.simd128.wasm"]) {
    assert.ok(paths.includes(path), path);
  }
});

test("all JavaScript and one module weigh at most 60 KB, gzipped", async (t) => {
  const { stdout } = await run("npm", "pack", "--dry-run", "--json", "--ignore-scripts");
  const scripts = JSON.parse(stdout)[0]
    .files.map(({ path }) => path)
    .filter((path) => path.endsWith(".js"));
  const weigh = (path) => gzipSync(read(path), { level: 9 }).length;
  const javascript = scripts.reduce((sum, path) => sum + weigh(path), 0);
  for (const variant of variants) {
    const total = javascript + weigh(`dist/vit.${variant}.wasm`);
    t.diagnostic(`${variant}: ${total} bytes gzipped, ${javascript} of them JavaScript`);
    assert.ok(total <= 60_000, `${variant}: ${total} bytes, ${javascript} of them JavaScript`);
  }
});

for (const [what, lib] of [
  ["without", "es2022"],
  ["with", "es2022,dom"],
]) {
  test(`the types hold in a strict program ${what} a DOM`, async () => {
    await run(
      process.execPath,
      "node_modules/typescript/bin/tsc",
      "--noEmit",
      "--strict",
      "--exactOptionalPropertyTypes",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--lib",
      lib,
      "--types",
      "node",
      "tests/node/consumer.ts",
    ).catch(({ stdout }) => assert.fail(stdout));
  });
}
