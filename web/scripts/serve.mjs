// The server of npm start. It serves the files of one folder, to this machine alone. Any program
// here may talk to it, and any page may make a browser talk to it, so it refuses unknown requests.
import { once } from "node:events";
import { open, realpath } from "node:fs/promises";
import { STATUS_CODES, createServer } from "node:http";
import { isIP } from "node:net";
import { extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { HEADERS } from "../base/headers.mjs";
import { Trouble } from "./lib.mjs";

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".gz": "application/gzip",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};
const MOST_PORTS = 100;

/** The media type of a file, by its name. */
export const typeOf = (name) => TYPES[extname(name)] ?? "application/octet-stream";

/** Serves a folder at `port`, or with `orNext` at the next free port; resolves to the server. */
export async function serve(folder, { port = 0, orNext = false } = {}) {
  const root = await realpath(folder);
  const server = createServer({ requireHostHeader: false }, (request, response) =>
    void answer(root, request, response).catch(() => response.destroy()));
  // Input that is not HTTP, or never becomes a request, is answered too.
  const refuse = (code) => (_, from) => {
    const socket = from.socket ?? from;
    socket.on("error", () => {});
    if (socket.writable) socket.end(plain(code));
    else socket.destroy();
  };
  server.on("clientError", (error, socket) => refuse(error.code === "HPE_HEADER_OVERFLOW" ? 431 : 400)(error, socket));
  server.on("upgrade", refuse(400));
  server.on("connect", refuse(405));
  server.on("checkExpectation", refuse(417));
  for (let last = port + (orNext ? MOST_PORTS : 0); ; port++) {
    try {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      return server;
    } catch (error) {
      if (error.code !== "EADDRINUSE" || port >= last) throw error;
    }
  }
}

/** The option --port as a number; undefined if it is left out. */
export function portOf(text) {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) < 65536) return Number(text);
  throw new Trouble(`--port: expected a number from 0 to 65535, got "${text}"`);
}

const headersOf = (code) => ({ ...HEADERS, ...(code === 405 && { Allow: "GET, HEAD" }), "Cache-Control": "no-cache" });

/** A whole answer without a file, for a bare socket. */
function plain(code) {
  const text = `${code} ${STATUS_CODES[code]}\n`;
  const headers = { ...headersOf(code), "Content-Type": "text/plain", "Content-Length": text.length, Connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\n${lines.join("")}\r\n${text}`;
}

async function answer(root, request, response) {
  const { method, headers, url } = request;
  const known = method === "GET" || method === "HEAD";
  const path = pathOf(url);
  const code = !isHere(headers.host) ? 403 : !known ? 405 : path === undefined ? 400 : 200;
  const file = code === 200 ? await fileAt(root, path) : undefined;
  if (!file) {
    const wrong = code === 200 ? 404 : code;
    const text = `${wrong} ${STATUS_CODES[wrong]}\n`;
    return void response.writeHead(wrong, { ...headersOf(wrong), "Content-Type": "text/plain" }).end(method === "HEAD" ? "" : text);
  }
  try {
    const { size } = await file.stat();
    response.writeHead(200, { ...headersOf(200), "Content-Type": typeOf(path), "Content-Length": size });
    if (method === "HEAD" || size === 0) response.end();
    else await pipeline(file.createReadStream({ end: size - 1, autoClose: false }), response);
  } finally {
    await file.close();
  }
}

/** Whether a request names this host. A stranger's domain may resolve to this machine too (DNS rebinding). */
function isHere(host = "") {
  const name = host.replace(/:\d{1,5}$/, "").toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}

/** A request's path, decoded; undefined if it is malformed. */
function pathOf(url) {
  if (!/^\/(?!\/)/.test(url)) return undefined; // a whole address, or `*`
  try {
    const path = decodeURIComponent(url.split("?", 1)[0]);
    return path === "/" ? "/index.html" : path;
  } catch {
    return undefined;
  }
}

/** Opens a file of the folder. Refuses links in the path, and names that begin with a dot. */
async function fileAt(root, path) {
  if (!/^(\/[\w-][\w.@-]*)+$/.test(path)) return undefined;
  const where = join(root, ...path.split("/"));
  try {
    if ((await realpath(where)) !== where) return undefined;
    const file = await open(where);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch {
    // There is no such file.
  }
  return undefined;
}
