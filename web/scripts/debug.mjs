// A debug build's additions: modules with a table of C's lines, and a page with source maps.
// web/run/lines.ts reads the table when a module traps.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { Trouble, root, run, which } from "./lib.mjs";

/** The section's name, as in web/run/lines.ts. */
const SECTION = "vitrine.lines";
const CODE = 10;

/**
 * Writes to `to` a module with DWARF and one section more. The section says in which function and
 * line each byte of code is, and into which functions this is inlined. `emscripten` holds emcc.
 */
export async function addLines(from, to, emscripten) {
  const module = readFileSync(join(root, from));
  const { start, size } = codeOf(module, from);
  const places = new Map();
  const rows = [];
  let last;
  (await symbolized(from, size, emscripten)).forEach((answer, byte) => {
    if (answer === last) return;
    last = answer;
    rows.push([start + byte, ...framesOf(answer).map((place) => indexIn(places, place))]);
  });
  if (places.size === 0) throw new Trouble(`${from}: expected DWARF that tells lines, got none`);
  const table = JSON.stringify({ places: [...places.keys()], rows });
  mkdirSync(dirname(join(root, to)), { recursive: true });
  writeFileSync(join(root, to), Buffer.concat([module, section(SECTION, Buffer.from(table))]));
}

function indexIn(map, key) {
  if (!map.has(key)) map.set(key, map.size);
  return map.get(key);
}

/** The answers of llvm-symbolizer, from Emscripten's LLVM or another, for each byte of the code. */
async function symbolized(file, size, emscripten) {
  const { output } = await run(join(emscripten, "em-config"), ["LLVM_ROOT"]);
  const beside = ["-19", ""].map((version) => join(output.trim().split("\n").at(-1), `llvm-symbolizer${version}`));
  const tool = beside.find(existsSync) ?? which("llvm-symbolizer");
  if (!tool) throw new Trouble("a debug build needs llvm-symbolizer, got none: install LLVM");
  const input = Array.from({ length: size }, (_, byte) => `0x${byte.toString(16)}\n`).join("");
  const { stdout, stderr } = spawnSync(tool, [`--obj=${join(root, file)}`, "--functions=short"], { input, encoding: "utf8", maxBuffer: 2 ** 30 });
  const answers = stdout?.trimEnd().split("\n\n") ?? [];
  if (answers.length === size) return answers;
  throw new Trouble(`${tool}: expected ${size} answers for ${file}, got ${answers.length}: ${stderr}`);
}

/** "gelu\n/…/src/stages/mlp.c:42:7\n…", two lines a frame → ["gelu (src/stages/mlp.c:42)", …] */
function framesOf(answer) {
  return [...answer.matchAll(/^(.+)\n(.+):(\d+):\d+$/gm)]
    .filter(([, name]) => name !== "??")
    .map(([, name, path, line]) => {
      const short = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
      return `${name} (${short}${line === "0" ? "" : `:${line}`})`;
    });
}

/** The start and size of a module's code section. DWARF counts from its start. */
function codeOf(module, file) {
  for (let at = 8; at < module.length; ) {
    const id = module[at];
    const { value: size, end: start } = leb(module, at + 1);
    if (id === CODE) return { start, size };
    at = start + size;
  }
  throw new Trouble(`${file}: expected a wasm module with code`);
}

/** Reads an unsigned LEB128. */
function leb(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return { value, end: at };
  }
}

function lebOf(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

/** Makes a custom section. */
function section(name, content) {
  const body = Buffer.concat([lebOf(name.length), Buffer.from(name), content]);
  return Buffer.concat([Buffer.from([0]), lebOf(body.length), body]);
}

/** Takes Rolldown's maps of the package into those of the page. */
const maps = {
  name: "maps",
  load: (id) =>
    existsSync(`${id}.map`) ? { code: readFileSync(id, "utf8"), map: readFileSync(`${id}.map`, "utf8") } : null,
};

/** Vite's config for a readable page with maps to TypeScript, over another build's package. */
export const pageWithMaps = (config, { dist, page }) => ({
  ...config,
  plugins: [maps],
  worker: { plugins: () => [maps] },
  resolve: { alias: { vitrine: join(root, dist, "vit.js") } },
  build: { ...config.build, outDir: join(root, page), sourcemap: true, minify: false },
});
