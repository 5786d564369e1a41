// npm start -- --debug: a page that reads digits, and says C's functions and lines when its module traps.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch, skip } from "../browser/browsers.mjs";
import { DIGITS, draw, prediction, visit } from "../browser/harness.mjs";
import { serve } from "../../web/scripts/serve.mjs";
import { isTrapOfImages } from "./places.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const ill = here("ill.mjs");
let browser, program, address;

before(async () => {
  if (skip) return;
  program = spawn(process.execPath, ["web/scripts/start.mjs", "--debug", "--port", "0"], { cwd: here("../.."), stdio: ["ignore", "pipe", "inherit"] });
  browser = await launch();
  for await (const line of createInterface(program.stdout)) {
    address = line.match(/Vitrine is at (\S+)/)?.[1];
    if (address) break;
  }
  assert.ok(address, "npm start printed no address");
});

after(async () => {
  await browser?.close();
  if (program?.exitCode !== null) return;
  program.kill();
  await once(program, "exit");
});

test("npm start -- --debug serves a page that reads a digit, and whose maps lead to TypeScript", { skip }, async () => {
  const { page, trouble, close } = await visit(browser, { address });
  await draw(page, DIGITS[3]);
  assert.equal((await prediction(page)).label, "3");
  const scripts = await page.locator("script[type=module][src], link[rel=modulepreload]")
    .evaluateAll((all) => all.map((one) => one.src ?? one.href).filter((address) => !address.includes("/preload-helper-"))); // Vite's own
  const maps = await Promise.all(scripts.map(async (script) => (await fetch(`${script}.map`)).json()));
  const sources = maps.flatMap((map) => map.sources);
  for (const name of ["web/vit.ts", "web/run/wasm.ts", "web/demo/main.ts"]) {
    assert.ok(sources.some((source) => source.endsWith(`/${name}`)), name);
  }
  assert.deepEqual(trouble, []);
  await close();
});

test("the page says a trap by C's functions and lines in its status line and on the console", { skip }, async () => {
  const { page, trouble, close } = await visit(browser, { address, before: (page) => page.addInitScript({ path: ill }) });
  await page.evaluate(() => void (globalThis.ill = "images"));
  await draw(page, DIGITS[7].slice(0, 1)).catch(() => {});
  await page.locator("#status.failed").waitFor();
  isTrapOfImages(await page.locator("#status span").first().textContent());
  const said = trouble.find((text) => text.includes("RuntimeError")).replace(/ in .*/, ""); // Chromium puts the message before the frames
  isTrapOfImages(said);
  if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
  await close();
});

test("a trap in a browser's worker names C's functions and lines in the error", { skip }, async (t) => {
  const server = await serve(here("../../build/debug/dist"));
  t.after(() => (server.closeAllConnections(), server.close()));
  const page = await browser.newPage();
  await page.route("**/worker.js", async (route) => {
    const response = await route.fetch();
    const body = `{ ${readFileSync(ill, "utf8")} }\nglobalThis.ill = "images";\n${await response.text()}`;
    await route.fulfill({ response, body });
  });
  await page.goto(`http://localhost:${server.address().port}/vit.js`);
  const bytes = [...readFileSync(here("../../weights/digits.safetensors"))];
  const message = await page.evaluate(async (bytes) => {
    const { Vit } = await import("/vit.js");
    const vit = await Vit.load(Uint8Array.from(bytes), { worker: true });
    const data = new Uint8Array(28 * 28).fill(255).fill(0, 200, 400);
    return vit.classify({ data, width: 28, height: 28, channels: 1 }).catch((error) => error.message);
  }, bytes);
  isTrapOfImages(String(message));
});
