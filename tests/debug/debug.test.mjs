// npm start -- --debug: modules with DWARF and source maps, and a page whose maps lead to C and TypeScript.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch, skip } from "../browser/browsers.mjs";
import { DIGITS, draw, prediction, visit } from "../browser/harness.mjs";

const dist = new URL("../../build/debug/dist/", import.meta.url);

test("a trap's stack names C's functions", async () => {
  const env = { emscripten_notify_memory_growth() {} };
  const { instance } = await WebAssembly.instantiate(readFileSync(new URL("vit.simd128.wasm", dist)), { env });
  assert.throws(() => instance.exports.vitw_free(0xffff_0000), ({ stack }) => /\bvitw_free \(wasm:/.test(stack));
});

test("a module has DWARF, and a source map with the text of its C files", () => {
  for (const name of ["vit.simd128.wasm", "vit.relaxed-threads.wasm"]) {
    const module = readFileSync(new URL(name, dist)).toString("latin1");
    assert.ok(module.includes(".debug_line") && module.includes(`${name}.map`), name);
    const { sources, sourcesContent } = JSON.parse(readFileSync(new URL(`${name}.map`, dist), "utf8"));
    const at = sources.findIndex((source) => source.endsWith("/src/stages/attention.c"));
    assert.equal(sourcesContent[at], readFileSync(new URL("../../src/stages/attention.c", import.meta.url), "utf8"), name);
  }
});

test("npm start -- --debug serves a page that reads a digit, and whose maps lead to TypeScript and C", { skip }, async (t) => {
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const program = spawn(process.execPath, ["web/scripts/start.mjs", "--debug", "--port", "0"], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  const browser = await launch();
  t.after(async () => {
    await browser.close();
    program.kill();
    if (program.exitCode === null) await once(program, "exit");
  });
  let address;
  for await (const line of createInterface(program.stdout)) {
    address = line.match(/Vitrine is at (\S+)/)?.[1];
    if (address) break;
  }
  assert.ok(address, "npm start printed no address");
  const { page, trouble, close } = await visit(browser, { address });
  const modules = [];
  page.on("response", (response) => response.url().endsWith(".wasm") && modules.push(response.url()));
  await page.reload();
  await draw(page, DIGITS[3]);
  assert.equal((await prediction(page)).label, "3");
  const scripts = await page.locator("script[type=module][src], link[rel=modulepreload]")
    .evaluateAll((all) => all.map((one) => one.src ?? one.href).filter((address) => !/\/(preload-helper|rolldown-runtime)-/.test(address))); // the bundler's own
  const names = modules.map((module) => new URL(module.replace(/-[\w-]{8}\.wasm$/, ".wasm.map"), module).href);
  assert.ok(names.length > 0, "no module was fetched");
  const maps = await Promise.all([...scripts.map((script) => `${script}.map`), ...names].map(async (map) => (await fetch(map)).json()));
  const sources = maps.flatMap((map) => map.sources);
  for (const name of ["web/vit.ts", "web/engine/model-session.ts", "web/demo/main.ts", "src/stages/attention.c"]) {
    assert.ok(sources.some((source) => source.endsWith(`/${name}`)), name);
  }
  assert.deepEqual(trouble, []);
  await close();
});
