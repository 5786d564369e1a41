// The browser side of the bench: a page of our own server in headless Chromium.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { chromium } from "playwright-core";

const root = new URL("../../", import.meta.url);
const served = /^\/(dist|tests\/bench|node_modules\/onnxruntime-web\/dist)\/[\w.-]+$/;
const types = { ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };

/** { where, rows of contest() } in the Chromium at `executablePath`. */
export async function inChromium(executablePath, file, plan) {
  const server = await serve(file);
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${server.address().port}/`);
    const rows = await page.evaluate(async (plan) => {
      const [{ contest }, { Vit }, ort, response] = await Promise.all([
        import("/tests/bench/contest.mjs"),
        import("/dist/vit.js"),
        import("/node_modules/onnxruntime-web/dist/ort.wasm.min.mjs"),
        fetch("/model"),
      ]);
      return contest(Vit, ort, new Uint8Array(await response.arrayBuffer()), plan);
    }, plan);
    return { where: `Chromium ${browser.version()}`, rows };
  } finally {
    await browser.close();
    server.close();
  }
}

/** An isolated origin: a browser gives its finest clock, 5 µs, to no other. */
async function serve(file) {
  const isolation = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
  };
  const answer = async (path) => {
    if (path === "/") return ["text/html", "<!doctype html><title>bench</title>"];
    if (path === "/model") return ["application/octet-stream", file];
    if (served.test(path)) return [types[extname(path)], await readFile(new URL(`.${path}`, root))];
    throw new Error(`not served: ${path}`);
  };
  const server = createServer((request, response) => {
    answer(new URL(request.url, "http://localhost").pathname).then(
      ([type, body]) => response.writeHead(200, { "Content-Type": type, ...isolation }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  return server;
}
