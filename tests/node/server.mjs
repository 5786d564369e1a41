// The web server of all tests. It answers correctly, wrongly, slowly or not at all.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { typeOf } from "../../web/scripts/serve.mjs";

/**
 * Starts a server on this machine, which answers by `answer(request, response)`; where that fails,
 * it hangs up. Resolves to { address, port, close }; the address has no slash at its end.
 */
export async function openServer(answer) {
  const server = createServer(async (request, response) => {
    try {
      await answer(request, response);
    } catch {
      response.destroy();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  const close = () => new Promise((closed) => {
    server.close(closed);
    server.closeAllConnections();
  });
  return { address: `http://127.0.0.1:${port}`, port, close };
}

/** A port that is free now, for a server that is not ours. */
export async function freePort() {
  const { port, close } = await openServer();
  await close();
  return port;
}

/** Starts a server until the test ends. `routes` maps a path to (response, request) => void, or is an `answer`. */
export async function serve(t, routes) {
  const answer = typeof routes === "function" ? routes : (request, response) => {
    const route = routes[request.url];
    if (route) return route(response, request);
    response.writeHead(404, { "content-type": "text/html" }).end("<!doctype html><h1>No such page");
  };
  const { address, close } = await openServer(answer);
  t.after(close);
  return (path) => `${address}${path}`;
}

/** Answers with a file of the disk, or by 404 where there is none. */
export async function sendFile(response, path, headers = {}) {
  const body = await readFile(path).catch(() => undefined);
  response.writeHead(body ? 200 : 404, { "content-type": typeOf(String(path)), ...headers }).end(body);
}

/** Answers with bytes in several parts, so that there is progress to report. */
export const file =
  (bytes, type = "application/octet-stream", parts = 4) =>
  async (response) => {
    response.writeHead(200, { "content-type": type, "content-length": bytes.length });
    const size = Math.ceil(bytes.length / parts);
    for (let start = 0; start < bytes.length; start += size) {
      response.write(bytes.subarray(start, start + size));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end();
  };
