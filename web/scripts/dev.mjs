// npm run dev: serves the page by Vite, and rebuilds what a change affects.
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import * as build from "./build.mjs";
import { main, root, say } from "./lib.mjs";
import { portOf } from "./serve.mjs";

const help = `npm run dev [-- --port N]

Builds what is missing, as npm start does, and serves the page by Vite at this port (default: 5173,
or the next that is free). A change of web/demo reloads the page. A change of the package (web) or
of C (src) is built first; an error is shown on the page.`;

/** The step that a file's change needs; undefined: none of ours. */
function stepOf(path) {
  if (/^src\/.*\.([ch]|def)$|^CMake/.test(path)) return "wasm";
  return /^web\/(?!demo\/|scripts\/).*\.ts$|^web\/demo\/heat\.ts$/.test(path) ? "dist" : undefined;
}

/** Builds on each change, one build at a time, and reloads the page. */
function rebuildOnChange(server) {
  const pending = new Set();
  let building = false;
  const work = async () => {
    if (building) return;
    building = true;
    while (pending.size) {
      const includesC = pending.has("wasm");
      pending.clear();
      try {
        if (includesC) await build.wasm();
        await build.dist();
        server.moduleGraph.invalidateAll();
        server.ws.send({ type: "full-reload" });
      } catch (error) {
        console.error(`✗ ${error.message}`);
        server.ws.send({ type: "error", err: { message: error.message, stack: "" } });
      }
    }
    building = false;
  };
  server.watcher.add(["src", "web"].map((folder) => join(root, folder)));
  server.watcher.on("all", (_, path) => {
    const step = stepOf(relative(root, path));
    if (!step) return;
    pending.add(step);
    void work();
  });
}

await main(async () => {
  const { values } = parseArgs({ options: { port: { type: "string" }, help: { type: "boolean" } } });
  if (values.help) return say(help);
  const port = portOf(values.port);
  await build.tools();
  await build.wasm();
  await build.dist();
  const { createServer } = await import("vite");
  const ignored = ["dist", "build"].map((folder) => join(root, folder, "**"));
  const server = await createServer({
    ...build.pageConfig,
    server: { port: port ?? 5173, strictPort: port !== undefined, watch: { ignored } },
  });
  await server.listen();
  rebuildOnChange(server);
  say(`\nVitrine is at ${server.resolvedUrls.local[0]}   (Ctrl-C ends it)`);
});
