// The server of npm start, by raw sockets. It answers bad input with 4xx or hangs up, goes on
// serving, and serves only the files of its folder.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { HEADERS, POLICY } from "../../web/base/headers.mjs";
import { serve } from "../../web/scripts/serve.mjs";
import { folderOf } from "./folder.mjs";
import "./hostile.mjs"; // fails on an unhandled rejection

/** A page's folder with a secret beside it, and with links to the secret. */
async function start(t) {
  const outside = folderOf(t, { "secret.html": "secret" });
  const page = join(outside, "page");
  for (const folder of ["", "assets", ".git"]) mkdirSync(join(page, folder), { recursive: true });
  const files = { "index.html": "<p>page", "assets/a-1_b.js": "1", "assets/empty.css": "", ".git/config": "secret", "assets/.env": "secret", "assets/big.bin": Buffer.alloc(3e6, 7) };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(page, name), content);
  symlinkSync(join(outside, "secret.html"), join(page, "link.html"));
  symlinkSync("../../secret.html", join(page, "assets", "relative.html"));
  symlinkSync(outside, join(page, "up"));
  symlinkSync("assets", join(page, "inside"));
  symlinkSync("/dev/zero", join(page, "zero"));
  const server = await serve(page);
  t.after(() => (server.closeAllConnections(), server.close()));
  return server;
}

/** The server's answer to these bytes, until it hangs up. It has time that only a hang can take. */
async function send(server, bytes) {
  const socket = connect(server.address().port, "127.0.0.1");
  const pieces = [];
  socket.on("data", (piece) => pieces.push(piece));
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.on("close", resolve));
  await once(socket, "connect");
  socket.write(bytes);
  await Promise.race([closed, after(20_000, undefined, { ref: false })]);
  socket.destroy();
  return Buffer.concat(pieces).toString("latin1");
}

const get = (target, more = "", method = "GET") => `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${more}Connection: close\r\n\r\n`;
const status = (answer) => Number(answer.match(/^HTTP\/1\.1 (\d+) /)?.[1]);

function isSafe(answer, what) {
  const head = answer.slice(0, answer.indexOf("\r\n\r\n")).toLowerCase();
  for (const [name, value] of Object.entries(HEADERS)) {
    assert.ok(head.includes(`${name}: ${value}`.toLowerCase()), `${what}: ${name}`);
  }
  assert.ok(!answer.includes("secret"), what);
}

async function isUp(server) {
  const answer = await send(server, get("/"));
  assert.equal(status(answer), 200);
  assert.ok(answer.endsWith("<p>page"));
}

test("npm start's server serves the folder's files with their types and the policy in a header", async (t) => {
  const server = await start(t);
  const types = { "/": "text/html; charset=utf-8", "/index.html?x=%": "text/html; charset=utf-8", "/assets/a-1_b.js": "text/javascript; charset=utf-8", "/assets/empty.css": "text/css; charset=utf-8", "/assets/big.bin": "application/octet-stream", "/%69ndex.html": "text/html; charset=utf-8" };
  for (const [path, type] of Object.entries(types)) {
    const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`);
    assert.equal(response.status, 200, path);
    assert.equal(response.headers.get("content-type"), type);
    assert.equal(response.headers.get("content-security-policy"), POLICY);
    const body = await response.arrayBuffer();
    assert.equal(Number(response.headers.get("content-length")), body.byteLength, path);
  }
  const head = await send(server, get("/", "", "HEAD"));
  isSafe(head, "HEAD");
  assert.ok(head.endsWith("\r\n\r\n"));
  const html = readFileSync(new URL("../../web/demo/index.html", import.meta.url), "utf8");
  assert.doesNotMatch(html, /Content-Security-Policy/, "the policy has one source");
});

test("npm start's server answers malformed requests with 4xx and keeps running", async (t) => {
  const server = await start(t);
  const requests = {
    "a lone percent": get("/%"), "half a letter": get("/%c0"), "an overlong slash": get("/%c0%ae%c0%ae/"), "no letter": get("/%zz"),
    "two slashes": get("//"), "another host": get("//evil.example/x"), "three slashes": get("///"), "a whole address": get("http://localhost/"),
    "an address of nothing": get("http://"), "an address that is none": get("http://["), "a host that is none": get("//["), "a star": get("*", "", "OPTIONS"), "options": get("/", "", "OPTIONS"), "a post": get("/", "Content-Length: 3\r\n", "POST") + "abc",
    "a trace": get("/", "", "TRACE"), "connect": get("evil.example:80", "", "CONNECT"), "a delete": get("/index.html", "", "DELETE"),
    "an upgrade": "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "no HTTP": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "zeros": Buffer.alloc(100), "a line of nonsense": "hello\r\n\r\n",
    "no version": "GET /\r\n\r\n", "a version of its own": "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", "a blank in the path": get("/a b"), "control characters": get("/\x01"),
    "large headers": get("/", `X: ${"x".repeat(1e5)}\r\n`), "a long path": get(`/${"x".repeat(1e5)}`), "many headers": get("/", "X: y\r\n".repeat(20000)),
    "no host": "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "an empty host": "GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", "an expectation": get("/", "Expect: wonders\r\n"),
    "two lengths": get("/", "Content-Length: 1\r\nContent-Length: 2\r\n"), "a length and chunks": get("/", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), "broken chunks": get("/", "Transfer-Encoding: chunked\r\n", "POST") + "zz\r\n",
    "a folded header": "GET / HTTP/1.1\r\n Host: localhost\r\n\r\n", "a zero in the path": get("/%00"), "a line break in the path": get("/%0d%0aX: y"),
  };
  for (const [what, request] of Object.entries(requests)) {
    const answer = await send(server, Buffer.isBuffer(request) ? request : Buffer.from(request, "latin1"));
    assert.ok(status(answer) >= 400 && status(answer) < 500, `${what}: ${JSON.stringify(answer.slice(0, 80))}`);
    isSafe(answer, what);
    await isUp(server);
  }
});

test("npm start's server serves no files outside the folder, with a leading dot or behind a link", async (t) => {
  const server = await start(t);
  const up = ["..", "%2e%2e", ".%2e", "%2E.", "..;", "...", "%252e%252e", "..%00", "%c0%ae%c0%ae"];
  const slashes = ["/", "%2f", "\\", "%5c", "//", "/./"];
  const paths = [
    "/link.html", "/assets/relative.html", "/up/secret.html", "/up/page/index.html", "/inside/a-1_b.js", "/zero", "/.git/config", "/assets/.env", "/assets/%2eenv",
    "/assets", "/assets/", "/index.html/", "/index.html/x", "/x", "/secret.html", "/index.html%00.js", "/INDEX.HTML", "/con", "/file:///etc/passwd", "/C:/x", "/assets\\a-1_b.js",
    ...up.flatMap((dots) => slashes.flatMap((slash) => [`/${dots}${slash}secret.html`, `/assets${slash}${dots}${slash}${dots}${slash}secret.html`, `/${`${dots}${slash}`.repeat(12)}etc/passwd`])),
  ];
  for (const path of paths) {
    const answer = await send(server, get(path));
    assert.ok([400, 404].includes(status(answer)), `${path}: ${answer.slice(0, 60)}`);
    isSafe(answer, path);
    assert.doesNotMatch(answer, /root:/);
  }
  await isUp(server);
});

test("npm start's server refuses requests for another host name (DNS rebinding)", async (t) => {
  const server = await start(t);
  const { port } = server.address();
  const ask = (host) => send(server, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  for (const host of ["evil.example", `evil.example:${port}`, "localhost.evil.example", "notlocalhost", "127.0.0.1.evil.example", "evil.example#localhost", "evil@localhost", "1", "localhost, evil.example"]) {
    const answer = await ask(host);
    assert.equal(status(answer), 403, host);
    isSafe(answer, host);
  }
  for (const host of ["localhost", `LocalHost:${port}`, "127.0.0.1", `[::1]:${port}`, `127.0.0.1:${port}`, "page.localhost"]) {
    assert.equal(status(await ask(host)), 200, host);
  }
});

test("npm start's server listens on this machine only", async (t) => {
  const server = await start(t);
  assert.equal(server.address().address, "127.0.0.1");
  const others = Object.values(networkInterfaces()).flat().filter(({ internal, family }) => !internal && family === "IPv4");
  for (const { address } of others) {
    const socket = connect(server.address().port, address);
    await assert.rejects(once(socket, "connect"), /ECONNREFUSED/);
  }
});

test("npm start's server keeps running when sockets hang up at any moment", async (t) => {
  const server = await start(t);
  for (const bytes of ["", "G", "GET /assets/big.bin HTTP/1.1\r\n", get("/assets/big.bin"), get("/assets/big.bin").repeat(20), get("/%")]) {
    for (const reset of [false, true]) {
      for (const delay of [0, 1, 5]) {
        const socket = connect(server.address().port, "127.0.0.1");
        socket.on("error", () => {});
        await once(socket, "connect");
        socket.write(bytes);
        await after(delay);
        if (reset) socket.resetAndDestroy();
        else socket.destroy();
      }
    }
  }
  await isUp(server);
  const whole = await (await fetch(`http://localhost:${server.address().port}/assets/big.bin`)).arrayBuffer();
  assert.equal(whole.byteLength, 3e6);
});

test("npm start's server reports a port in use, or takes the next free one", async (t) => {
  const server = await start(t);
  const { port } = server.address();
  const folder = new URL("../../web", import.meta.url).pathname;
  await assert.rejects(serve(folder, { port }), { code: "EADDRINUSE", port });
  const next = await serve(folder, { port, orNext: true });
  assert.ok(next.address().port > port);
  next.close();
});
