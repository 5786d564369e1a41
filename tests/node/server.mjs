// A small web server for tests of loading. It answers correctly, wrongly, slowly or not at all.
import { once } from "node:events";
import { createServer } from "node:http";

/** Starts a server until the test ends. `routes` maps a path to (response, request) => void. */
export async function serve(t, routes) {
  const server = createServer((request, response) => {
    const route = routes[request.url];
    if (route) return route(response, request);
    response.writeHead(404, { "content-type": "text/html" }).end("<!doctype html><h1>No such page");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (path) => `http://127.0.0.1:${server.address().port}${path}`;
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
