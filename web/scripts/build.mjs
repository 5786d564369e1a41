// npm run build: builds the wasm modules, the package in dist/ and the page in build/page. Other
// scripts import these steps.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { testDigits, trainingDigits } from "./data.mjs";
import { generate } from "./generate.mjs";
import { isMain, main, root, run, say, step, which } from "./lib.mjs";
import * as setup from "./setup.mjs";
import { WEIGHTS } from "./weights.mjs";

const simd = ["simd128", "relaxed", "simd128-threads", "relaxed-threads"];
const tsc = "node_modules/typescript/bin/tsc";
/** The kinds of builds. A debug build has DWARF, and source maps for C and TypeScript. */
export const release = { preset: "wasm", dist: "dist", page: "build/page", debug: false };
export const debug = { preset: "debug", dist: "build/debug/dist", page: "build/debug/page", debug: true };
/** The wasm modules and their targets in CMake. A debug build has no module that trains, nor one without SIMD. */
const wasmFiles = ({ debug }) => [
  ...simd.flatMap((variant) => [[`vit.${variant}`, `vit_small_wasm-${variant}`], [`vit.full.${variant}`, `vit_wasm-${variant}`]]),
  ...(debug ? [] : [["vit.scalar", "vit_wasm-scalar"], ...["scalar", ...simd].map((variant) => [`vit.train.${variant}`, `vit_train_wasm-${variant}`])]),
].map(([name, target]) => ({ target, file: `${name}.wasm` }));
const builtFile = (file, { preset }) => `build/${preset}/${file}`;
const probe = { target: "vit_probe", file: "probe.wasm" };

/** A preset's build folder, as in CMakePresets.json. */
export const buildFolder = (preset) => join(root, "build", preset.replace("-", "/"));

const environment = (env) => ({ ...(which("ninja") && { CMAKE_GENERATOR: "Ninja" }), ...env });

/** Configures a CMake preset. */
export async function configure(preset, env = {}) {
  const werror = `-DVITRINE_WERROR=${process.env.CI ? "ON" : "OFF"}`;
  const fresh = isForeign(buildFolder(preset), env.EMSCRIPTEN_ROOT) ? ["--fresh"] : [];
  await run("cmake", ["--preset", preset, werror, ...emulator(preset), ...fresh], { env: environment(env) });
}

/** Configures and builds a CMake preset: some `targets`, or everything with the tests. */
export async function cmake(preset, { targets = ["all"], env = {} } = {}) {
  await configure(preset, env);
  const jobs = String(availableParallelism());
  const args = ["--build", "--preset", preset, "--target", ...targets, "--parallel", jobs];
  await run("cmake", args, { env: environment(env) });
}

/**
 * The Node that runs the tests of wasm. In V8 11 (Node 20 and 21) only the optimising compiler
 * computes relaxed SIMD correctly, so the other one is switched off for those.
 */
function emulator(preset) {
  if (preset !== "wasm") return [];
  const old = parseInt(process.versions.node) < 22;
  const flags = old ? ["--experimental-wasm-relaxed-simd", "--no-liftoff"] : [];
  return [`-DCMAKE_CROSSCOMPILING_EMULATOR=${process.execPath}`, `-DVITRINE_RELAXED_NODE=${flags.join(";")}`];
}

/** Whether a build folder was configured elsewhere, or with another Emscripten. */
function isForeign(folder, emscripten = "") {
  const cache = join(folder, "CMakeCache.txt");
  if (!existsSync(cache)) return false;
  const text = readFileSync(cache, "utf8");
  return !text.includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${root}\n`) || !text.includes(emscripten);
}

/** Builds all modules of a kind in one graph; resolves to the environment that CMake needs for wasm. */
export async function wasm(kind = release) {
  generate();
  const { folder, version } = await setup.emscripten();
  const env = { EMSCRIPTEN_ROOT: folder, EM_NODE_JS: process.execPath };
  const files = wasmFiles(kind);
  await step(`wasm modules in build/${kind.preset}`, {
    inputs: ["src", "CMakeLists.txt", "CMakePresets.json"],
    key: `${folder} ${version}`,
    outputs: [probe, ...files].map(({ file }) => builtFile(file, kind)),
  }, () => cmake(kind.preset, { targets: [probe, ...files].map(({ target }) => target), env }));
  return env;
}

/** Modules that vit.js loads only when it needs them (web/load/bundles.ts), and their sources. */
const lazyModules = { foreign: "foreign/foreign", pickle: "foreign/pickle/pickle", structure: "foreign/structure/structure", rare: "foreign/structure/rare", decoder: "foreign/structure/decoder", examples: "foreign/examples", settings: "foreign/settings", decoders: "foreign/decoders", impostors: "load/impostors", entities: "text/entities" };

/**
 * Builds dist/. The API is one file, training another. The workers, the modules that load later and the command are
 * files of their own, and the command's program, cli.js, is a line. The API's types and the wasm modules lie beside them.
 */
export async function dist(kind = release) {
  generate();
  const folder = join(root, kind.dist);
  const sources = readdirSync(join(root, "web")).filter((name) => /\.ts$|^tsconfig|^(base|engine|foreign|generated|load|text|train)$/.test(name));
  await step(`package in ${kind.dist}`, {
    inputs: [
      ...sources.map((name) => `web/${name}`),
      "web/cli",
      ...[probe, ...wasmFiles(kind)].map(({ file }) => builtFile(file, kind)),
      "web/scripts/build.mjs",
      "package-lock.json",
    ],
    outputs: [
      ...(kind.debug ? [] : ["dist/vitrine.d.ts", ...SUBPATHS.flatMap((name) => [`dist/${name}.d.ts`, `${name}/package.json`])]),
      ...["vit", "vitrine", "search", "all", "folder", "text", "worker", ...(kind.debug ? [] : ["train", "train-worker"]), "cli", "commands", ...Object.keys(lazyModules)].map((name) => `${kind.dist}/${name}.js`),
      ...wasmFiles(kind).map(({ file }) => `${kind.dist}/${file}`),
    ],
  }, async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await Promise.all([bundles(kind), kind.debug || types()]);
    for (const { file } of wasmFiles(kind)) {
      copyFileSync(join(root, builtFile(file, kind)), join(folder, file));
      if (kind.debug) writeFileSync(join(folder, `${file}.map`), mapWithSources(builtFile(file, kind)));
    }
  });
}

/** A module's source map with the text of its C files, because no server has them. */
function mapWithSources(file) {
  const map = JSON.parse(readFileSync(join(root, `${file}.map`), "utf8"));
  const textOf = (path) => (existsSync(path) ? readFileSync(path, "utf8") : null); // the C library's are not here
  return JSON.stringify({ ...map, sourcesContent: map.sources.map((source) => textOf(join(root, dirname(file), source))) });
}

/**
 * Lets folder.js, text.js and search.js, which are loaded later or never, import what they share with vit.js from it, and
 * rare.js and decoder.js from structure.js: without that import, it would be a file of its own. But the writer of files, which vit.js has no use for, search.js has itself.
 */
const beside = {
  name: "beside",
  resolveId: (id, importer) => (/safetensors\.mjs$/.test(id) && importer?.endsWith("/web/search.ts") ? `${WRITER}?own` : undefined),
  load: (id) => (id === `${WRITER}?own` ? readFileSync(WRITER, "utf8") : undefined),
  transform: (code, id) => {
    const [, name] = id.match(/\/web\/(.*)\.ts$/) ?? [];
    return BESIDE[name] && { code: `import "${BESIDE[name]}"; ${code}`, map: null };
  },
};
const BESIDE = { "load/folder": "../vit.js", "text/text": "../vit.js", search: "./vit.js", "foreign/structure/rare": "./structure.js", "foreign/structure/decoder": "./structure.js" };
const WRITER = join(root, "web/base/safetensors.mjs");

async function bundles(kind) {
  // The others import what they share with vit.js from it, so that vit.js stays one file.
  const library = { vit: "web/vit.ts", vitrine: "web/vitrine.ts", search: "web/search.ts", all: "web/all.ts", folder: "web/load/folder.ts", text: "web/text/text.ts", ...(!kind.debug && { train: "web/train.ts" }) };
  await bundle(kind, library, {
    external: /\/(folder|text|entities|foreign|pickle|structure|rare|settings|decoders?|examples|impostors)\.js$/,
    paths: (id) => id.replace(/.*\//, "./"),
    plugins: [beside],
  });
  await bundle(kind, { worker: "web/engine/worker.ts" });
  if (!kind.debug) await bundle(kind, { "train-worker": "web/engine/train-worker.ts" });
  const { structure, rare, decoder, ...others } = Object.fromEntries(Object.entries(lazyModules).map(([name, path]) => [name, `web/${path}.ts`]));
  await bundle(kind, { structure, rare, decoder }, { plugins: [beside] });
  for (const [name, path] of Object.entries(others)) await bundle(kind, { [name]: path });
  await bundle(kind, { commands: "web/cli/commands.ts" }, {
    platform: "node",
    external: ["vitrine", "vitrine/train", "sharp"],
    paths: { vitrine: "./vitrine.js", "vitrine/train": "./train.js" },
  });
  await bundle(kind, { cli: "web/cli/main.ts" }, { platform: "node", external: /\/commands\.ts$/, paths: () => "./commands.js" });
  chmodSync(join(root, kind.dist, "cli.js"), 0o755);
}

/** Checks the package's types and the command's, and puts the package's into dist. */
async function types() {
  await run(process.execPath, [tsc, "-p", "web/tsconfig.json"]);
  keepTypesOf(["vitrine.d.ts", ...SUBPATHS.map((name) => `${name}.d.ts`)]);
  subpaths();
  await run(process.execPath, [tsc, "-p", "web/cli/tsconfig.json"]);
}

/** What `vitrine/NAME` is, beside `vitrine` itself. */
const SUBPATHS = ["all", "train"];

/** Makes the folders by which tools that read no `exports` find a subpath, such as TypeScript's node10. */
function subpaths() {
  for (const name of SUBPATHS) {
    const [main, types] = ["js", "d.ts"].map((ending) => `../dist/${name}.${ending}`);
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, "package.json"), JSON.stringify({ type: "module", main, types }));
  }
}

/** Removes from dist the declarations, and their maps, that none of the `entries` reaches. */
function keepTypesOf(entries) {
  const reached = new Set(entries);
  for (const name of reached) {
    const text = readFileSync(join(root, "dist", name), "utf8");
    for (const [, next] of text.matchAll(/from "(\.[^"]+)\.js"/g)) reached.add(join(dirname(name), `${next}.d.ts`));
  }
  for (const name of readdirSync(join(root, "dist"), { recursive: true })) {
    if (/\.d\.ts(\.map)?$/.test(name) && !reached.has(name.replace(/\.map$/, ""))) rmSync(join(root, "dist", name));
  }
}

/**
 * Bundles modules with all their imports, each into one file. The files stay readable, also in
 * stack traces, and keep the comments for bundlers. Users minify them themselves.
 */
async function bundle(kind, modules, { platform = "neutral", external = [], paths = {}, plugins = [] } = {}) {
  const { rolldown } = await import("rolldown");
  const bundled = await rolldown({
    input: Object.fromEntries(Object.entries(modules).map(([name, path]) => [name, join(root, path)])),
    platform,
    external,
    plugins,
    preserveEntrySignatures: "allow-extension",
    tsconfig: join(root, "web", "tsconfig.json"),
    transform: {
      define: {
        PROBE_WASM: JSON.stringify(readFileSync(join(root, builtFile(probe.file, kind)), "hex")),
      },
    },
  });
  const { output } = await bundled.generate({
    dir: join(root, kind.dist),
    entryFileNames: "[name].js",
    paths,
    sourcemap: true,
    comments: { legal: false, annotation: true, jsdoc: false }, // types and maps have the rest
  });
  for (const { fileName, code, source } of output) {
    // Some bundlers find new URL("…", import.meta.url) and import("…") only with these quotes.
    const text = code?.replace(/(new URL\(|\bimport\()`([^`$]+)`/g, '$1"$2"')
      .replace(/\bimport\("[\w./]*\/(\w+\.js)"\)/g, 'import("./$1")') ?? source;
    writeFileSync(join(root, kind.dist, fileName), text);
  }
}

/** Builds build/page by Vite: web/demo with the package and the models. */
export async function page(kind = release) {
  await step(`page in ${kind.page}`, {
    inputs: [
      "web/base",
      "web/cli/examples.ts",
      "web/demo",
      kind.dist,
      ...WEIGHTS.map((name) => `weights/${name}.safetensors`),
      "weights/explain.safetensors.gz",
      ...["myvit", "digits"].map((name) => `weights/${name}.recipe.json`),
      "package.json",
      "package-lock.json",
      "LICENSE",
    ],
    // See web/demo/mnist.mjs and web/demo/preview.mjs.
    key: [testDigits() !== undefined, trainingDigits() !== undefined, process.env.VITRINE_ADDRESS].join(),
    outputs: [`${kind.page}/index.html`],
  }, async () => {
    const { build } = await import("vite");
    const checked = kind.debug ? [] : ["web/demo", "web/demo/offline"].map((folder) =>
      run(process.execPath, [tsc, "-p", `${folder}/tsconfig.json`]));
    const rolldownOptions = { checks: { pluginTimings: false } };
    const config = { ...pageConfig, logLevel: "warn", build: { rolldownOptions } };
    await Promise.all([...checked, build(kind.debug ? pageWithMaps(config, kind) : config)]);
    if (!kind.debug) return;
    for (const { file } of wasmFiles(kind)) // where the modules look for them
      copyFileSync(join(root, kind.dist, `${file}.map`), join(root, kind.page, "assets", `${file}.map`));
  });
}

/** Hands Rolldown's maps of the package on to the page. */
const maps = {
  name: "maps",
  load: (id) =>
    existsSync(`${id}.map`) ? { code: readFileSync(id, "utf8"), map: readFileSync(`${id}.map`, "utf8") } : null,
};

/** Vite's config for a readable page with maps to TypeScript, over the debug build's package. */
const pageWithMaps = (config, { dist, page }) => ({
  ...config,
  plugins: [maps],
  worker: { plugins: () => [maps] },
  resolve: { alias: { vitrine: join(root, dist, "vit.js") } },
  build: { ...config.build, outDir: join(root, page), sourcemap: true, minify: false },
});

export const pageFolder = join(root, release.page);

/** The page's Vite config. */
export const pageConfig = { configFile: join(root, "web", "demo", "vite.config.ts") };

/** Installs the packages that all steps except CMake's need. */
export async function packages() {
  setup.node();
  await setup.npmPackages();
}

/** Installs all that a build needs: npm's packages and Emscripten, at the same time. */
export async function tools() {
  await Promise.all([packages(), setup.emscripten()]);
}

if (isMain(import.meta)) {
  await main(async () => {
    const { values } = parseArgs({ options: { help: { type: "boolean" } } });
    if (values.help) return say("npm run build: the wasm modules, the package in dist, the page in build/page");
    await tools();
    await wasm();
    await dist();
    await page();
  });
}
