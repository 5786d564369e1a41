/** Adds the service worker after the build, because it must know every built file. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import type { Plugin } from "vite";
import { DOCUMENTS, SOURCE } from "../source.mjs";

const worker = fileURLToPath(new URL("./worker.ts", import.meta.url));
/** No visit needs them. */
const EXCLUSIONS = ["preview.png", SOURCE, DOCUMENTS];

const isFile = (entry: { isFile(): boolean }) => entry.isFile();

export function offline(): Plugin {
  let folder: string;
  return {
    name: "offline",
    apply: "build",
    configResolved({ root, build }) {
      folder = resolve(root, build.outDir);
    },
    async closeBundle() {
      const page = join(folder, "index.html");
      const names = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter(isFile)
        .map(({ parentPath, name }) => join(parentPath, name));
      const build = fingerprint(names);
      // The service worker knows the build too.
      writeFileSync(page, readFileSync(page, "utf8").replace("<head>", `<head>\n    <meta name="vitrine-build" content="${build}">`));
      const files = names
        .filter((name) => name !== page && !EXCLUSIONS.some((one) => name === join(folder, one)))
        .map((name) => name.slice(folder.length + 1).replaceAll(sep, "/"));
      await writeWorker(join(folder, "sw.js"), { BUILD: build, FILES: files });
    },
  };
}

/** A hash of all contents, so that even another text on the page makes another build. */
function fingerprint(names: string[]): string {
  const hash = createHash("sha256");
  for (const name of names.toSorted()) hash.update(readFileSync(name));
  return hash.digest("hex").slice(0, 16);
}

/** Writes one classic script, because some browsers refuse a service worker that imports. */
async function writeWorker(file: string, values: Record<string, unknown>): Promise<void> {
  const define = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
  const bundle = await rolldown({ input: worker, transform: { define } });
  await bundle.write({ file, format: "iife", minify: true });
  await bundle.close();
}
