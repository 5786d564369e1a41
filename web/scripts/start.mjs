// npm start: builds what a fresh clone lacks and serves the page.
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as build from "./build.mjs";
import { Trouble, main, root, say } from "./lib.mjs";
import { portOf, serve } from "./serve.mjs";

const help = `npm start [-- --port N] [--debug]

Installs what is missing (npm packages; on Debian as root CMake and Emscripten too),
builds the wasm modules, the package and the page, serves the page and prints its
address. What is up to date is not done again.

  --port N   serve at this port (default: 5173, or the next that is free)
  --debug    a build with DWARF and source maps: the browser's developer tools show C
             and TypeScript, and a trap's stack names C's functions
  --help     this text`;

/** Serves a built page at `port`, or without one at the first free port from 5173 on. */
async function servePage(folder, port) {
  const orNext = port === undefined;
  const server = await serve(folder, { port: port ?? 5173, orNext }).catch((error) => {
    throw error.code === "EADDRINUSE"
      ? new Trouble(`port ${error.port} is in use: name another with --port, or leave --port out`)
      : error;
  });
  return `http://localhost:${server.address().port}/`;
}

await main(async () => {
  const { values } = parseArgs({
    options: { port: { type: "string" }, debug: { type: "boolean" }, help: { type: "boolean" } },
  });
  if (values.help) return say(help);
  const port = portOf(values.port);
  const kind = values.debug ? build.debug : build.release;
  await build.tools();
  await build.wasm(kind);
  await build.dist(kind);
  await build.page(kind);
  say(`\nVitrine is at ${await servePage(join(root, kind.page), port)}   (Ctrl-C ends it)`);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(0));
});
