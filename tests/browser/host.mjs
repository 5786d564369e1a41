/** A static host. It can be down, in trouble or slow. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pageFolder } from "../../web/scripts/build.mjs";
import { typeOf } from "../../web/scripts/serve.mjs";
import { openServer } from "../node/server.mjs";

const TICK_MS = 25;

export const DOWN = "down";

/**
 * Serves `folder` under the path `at`. For each request `rule(path)` may give or promise DOWN, a
 * status, or the answer's speed in bytes a second. `requests` are the paths so far. Its only headers
 * are type and length, and with `lasting` one that lets the browser keep the hashed files.
 */
export async function openHost({ at = "/", folder = pageFolder, lasting = false } = {}) {
  const host = { folder, lasting, requests: [], rule: () => undefined };
  const { address, close } = await openServer((request, response) => answer(host, at, request, response));
  return Object.assign(host, { address: address + at, close });
}

async function answer(host, at, request, response) {
  const { pathname } = new URL(request.url, host.address);
  const path = pathname === at ? "index.html" : pathname.slice(at.length);
  host.requests.push(path);
  const rule = await host.rule(path);
  if (rule === DOWN) return void response.destroy();
  if (rule >= 400 && rule < 600) return void response.writeHead(rule).end("trouble");
  const body = pathname.startsWith(at) && (await readFile(join(host.folder, path)).catch(() => undefined));
  if (!body) return void response.writeHead(404).end();
  const caching = host.lasting && path.startsWith("assets/") && { "cache-control": "max-age=31536000, immutable" };
  response.writeHead(200, { "content-type": typeOf(path), "content-length": body.length, ...caching });
  if (rule) await trickle(response, body, Math.ceil((rule * TICK_MS) / 1000));
  response.end(rule ? undefined : body);
}

async function trickle(response, body, piece) {
  for (let from = 0; from < body.length && !response.destroyed; from += piece) {
    response.write(body.subarray(from, from + piece));
    await pause(TICK_MS);
  }
}

/** Waits until `predicate` resolves to true. page.waitForFunction does not await a promise. */
export async function until(page, predicate, argument) {
  for (const end = Date.now() + 30_000; !(await page.evaluate(predicate, argument)); await pause(50)) {
    assert.ok(Date.now() < end, `it never came to ${predicate}`);
  }
}

/** Waits until the page's files and its model are stored. */
export async function stored(page) {
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  await until(page, async () => {
    const keys = await Promise.all(
      (await caches.keys()).map(async (name) => (await caches.open(name)).keys()),
    );
    return keys.flat().some(({ url }) => /digits-(?!int8|plain|large)[^/]*\.safetensors$/.test(url));
  });
}
