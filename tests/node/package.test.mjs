// The package: one export list, only the files a user needs, small, typed with or without a DOM.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { variants as here } from "./support.mjs";

/** The package's wasm modules by variant, with and without threads. */
const variants = ["scalar", "simd128", "relaxed"];
const threaded = ["simd128-threads", "relaxed-threads"];
/** Those of the full edition. scalar has one edition, so it is among both. */
const full = [...variants.slice(1), ...threaded].map((build) => `full.${build}`);

const root = new URL("../../", import.meta.url);
const read = (path) => readFileSync(new URL(path, root));
const lines = (path) => read(path).toString().trim().split("\n");
const run = (file, ...args) => promisify(execFile)(file, args, { cwd: fileURLToPath(root) });

/** The package's JavaScript for training. */
const training = ["train.js", "train-worker.js"];

/** The strings of a list in a file of web. */
function listed(name, file) {
  const body = read(`web/${file}`).toString().match(new RegExp(`const ${name} = \\[(.*?)\\]`, "s"))[1];
  return [...body.matchAll(/"(\w+)"/g)].map(([, word]) => word);
}

for (const [prefix, session, list, file] of [["vit", "model-session.ts", "EXPORTS", "exports"], ["vit.train", "training-session.ts", "TRAINING_EXPORTS", "exports.training"]]) test(`src/wasm/${file} and exports.threads, the modules, instance.ts and ${session} name the same functions`, async () => {
  const instance = "engine/instance.ts";
  const exports = [...listed("HEAP_EXPORTS", instance), ...listed(list, `engine/${session}`)];
  const asEmscripten = (names) => names.map((name) => `_${name}`);
  assert.deepEqual(lines(`src/wasm/${file}`), asEmscripten(exports));
  assert.deepEqual(lines("src/wasm/exports.threads"), asEmscripten(listed("THREAD_EXPORTS", instance)));
  for (const build of [...variants, ...threaded, ...(prefix === "vit" ? full : [])]) {
    if (!here.includes(build.replace("full.", "").split("-")[0])) continue; // this engine cannot even list its exports
    const module = await WebAssembly.compile(read(`dist/${prefix}.${build}.wasm`));
    const exportNames = WebAssembly.Module.exports(module).map(({ name }) => name);
    const threads = build.endsWith("-threads");
    const more = threads ? [...listed("THREAD_EXPORTS", instance), "__stack_pointer"] : ["memory"];
    for (const name of [...exports, ...more]) assert.ok(exportNames.includes(name), `${build}: ${name}`);
    const importNames = WebAssembly.Module.imports(module).map(({ name }) => name);
    const memory = threads ? ["memory"] : [];
    assert.deepEqual(importNames.sort(), ["emscripten_notify_memory_growth", ...memory], build);
  }
});

/** The files that npm would pack. */
const packed = JSON.parse((await run("npm", "pack", "--dry-run", "--json", "--ignore-scripts")).stdout)[0].files.map(({ path }) => path);

test("npm pack holds only the files that a user needs", () => {
  const allowed = [
    /^dist\/((engine|generated|load|train)\/)?[\w-]+\.d\.ts(\.map)?$/,
    /^web\/(((engine|generated|load|train)\/)?[\w-]+\.ts|(README|RECIPES|REFERENCE)\.md)$/,
    /^(all|train)\/package\.json$/,
    /^dist\/(vit|vitrine|search|all|worker|train|train-worker|folder|text|entities|foreign|pickle|structure|rare|decoder|settings|decoders|examples|impostors|cli|commands)\.js(\.map)?$/,
    /^dist\/vit(\.train|\.full(?!\.scalar))?\.(scalar|(simd128|relaxed)(-threads)?)\.wasm$/,
    /^weights\/digits(-int8)?\.safetensors$/,
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  ];
  for (const path of packed)
    assert.ok(allowed.some((pattern) => pattern.test(path)), path);
  const modules = [...variants, ...full, ...threaded].flatMap((build) => [`dist/vit.${build}.wasm`, `dist/vit.train.${build.replace("full.", "")}.wasm`]);
  for (const path of ["dist/vit.js", "dist/vitrine.js", "dist/search.js", "dist/train.js", "dist/train.d.ts", "dist/train-worker.js", "dist/vitrine.d.ts", "dist/worker.js", "dist/pickle.js", "dist/structure.js", "dist/rare.js", "dist/decoder.js", "dist/settings.js", "dist/decoders.js", "dist/examples.js", "dist/folder.js", "dist/text.js", "dist/entities.js", "dist/foreign.js", "dist/impostors.js", "dist/cli.js", "dist/commands.js", ...modules]) {
    assert.ok(packed.includes(path), path);
  }
});

test("the changelog begins with this version, in at most 80 lines", () => {
  const [, version, notes] = String(read("CHANGELOG.md")).match(/^## (\S+).*\n([^]*?)(?=^## )/m);
  assert.equal(version, JSON.parse(read("package.json")).version);
  assert.ok(notes.split("\n").length <= 80);
});

test("every file that the package exports exists", async () => {
  for (const target of Object.values(JSON.parse(read("package.json")).exports)) {
    for (const path of typeof target === "string" ? [target] : Object.values(target)) {
      assert.ok(read(path).length > 0, path);
    }
  }
});

/** The gzipped size of a file. JavaScript is minified first, as by a bundler. */
async function weigh(name) {
  const code = name.endsWith(".js") ? await minified(name) : read(`dist/${name}`);
  return gzipSync(code, { level: 9 }).length;
}

async function minified(name) {
  const bundle = await rolldown({ input: fileURLToPath(new URL(`dist/${name}`, root)), external: /./, platform: "neutral" });
  const { output } = await bundle.generate({ minify: true, comments: false });
  return output[0].code;
}

for (const [name, most, what] of [
  ["pickle", 8800, "reads PyTorch's files"],
  ["foreign", 19100, "reads other libraries' checkpoints"],
  ["structure", 8000, "reads models of nobody's names"],
  ["settings", 900, "reads settings beside the weights"],
  ["decoders", 3850, "reads decoders that write text"],
  ["examples", 1660, "settles what is open by examples"],
  ["impostors", 1970, "recognises other files"],
  ["entities", 7800, "knows HTML's names of characters"],
]) {
  test(`the bundle that ${what} is at most ${most} bytes, minified and gzipped, and imports nothing`, async (t) => {
    const bytes = await weigh(`${name}.js`);
    t.diagnostic(`${name}.js: ${bytes} bytes minified and gzipped`);
    assert.ok(bytes <= most);
    assert.doesNotMatch(await minified(`${name}.js`), /\bimport\b(?! \w+(, \w+)*\n)/); // a line of Python is no import
    assert.match(read(`dist/${name === "entities" ? "text" : "vit"}.js`).toString(), new RegExp(`\\bimport\\("\\./${name}\\.js"\\)`));
    assert.doesNotMatch(read("dist/vit.js").toString(), new RegExp(`from\\s*["'\`]\\./${name}`));
  });
}

for (const [name, most, what, beside = "vit"] of [["folder", 2700, "opens folders"], ["text", 9750, "runs texts and objects"], ["rare", 2950, "reads what is rare in models of nobody's names", "structure"], ["decoder", 2500, "reads a decoder in such a model", "structure"]]) {
  test(`the bundle that ${what} is at most ${most} bytes, minified and gzipped, and imports ${beside}.js alone`, async (t) => {
    const bytes = await weigh(`${name}.js`);
    t.diagnostic(`${name}.js: ${bytes} bytes minified and gzipped`);
    assert.ok(bytes <= most);
    assert.deepEqual([...(await minified(`${name}.js`)).matchAll(/\bfrom\s*["'`](.*?)["'`]/g)].map(([, name]) => name), [`./${beside}.js`]);
    assert.match(read("dist/vit.js").toString(), new RegExp(`\\bimport\\("\\./${name}\\.js"\\)`));
  });
}

test("the index is at most 2600 bytes, minified and gzipped, and a page that does not import it never loads it", async (t) => {
  const bytes = await weigh("search.js");
  t.diagnostic(`search.js: ${bytes} bytes minified and gzipped`);
  assert.ok(bytes <= 2600);
  assert.doesNotMatch(read("dist/vit.js").toString(), /\bclass Index\b|writeSafetensors/);
  const bundleOf = async (name) => {
    const main = { name: "main", resolveId: (id) => (id === "main" ? id : undefined), load: (id) => (id === "main" ? `export { ${name} } from "vitrine";` : undefined) };
    const bundle = await rolldown({ input: "main", cwd: fileURLToPath(root), external: /vit\.js$/, plugins: [main] });
    return (await bundle.generate({})).output[0].code;
  };
  assert.match(await bundleOf("Index"), /\bclass Index\b/);
  assert.doesNotMatch(await bundleOf("Vit"), /\bclass Index\b|throughProxies/);
});

test("all JavaScript of a page, minified, and one wasm module are at most 80.5 KB, gzipped, by plain SIMD 78, and of the full edition 96.4", async (t) => {
  const scripts = readdirSync(new URL("dist", root)).filter((name) => /(?<!^cli|^all|^commands|^vitrine|^search|^pickle|^folder|^text|^entities|^foreign|^structure|^rare|^settings|^decoders?|^examples|^impostors|^train|^train-worker)\.js$/.test(name));
  const javascript = (await Promise.all(scripts.map(weigh))).reduce((sum, bytes) => sum + bytes, 0);
  for (const build of [...variants, ...threaded, ...full]) {
    const total = javascript + (await weigh(`vit.${build}.wasm`));
    t.diagnostic(`${build}: ${total} bytes gzipped, ${javascript} of them JavaScript`);
    const most = /scalar|full/.test(build) ? 96_400 : build === "simd128" ? 78_000 : 80_500;
    assert.ok(total <= most, `${build}: ${total} bytes, ${javascript} of them JavaScript`);
  }
});

test("what training adds to a page, minified, with one wasm module, is at most 111 KB, gzipped", async (t) => {
  const [javascript, worker] = await Promise.all(training.map(weigh));
  t.diagnostic(`train-worker.js, only with the option worker or threads: ${worker} bytes more`);
  assert.ok(worker <= 4000);
  for (const build of [...variants, ...threaded]) {
    const total = javascript + (await weigh(`vit.train.${build}.wasm`));
    t.diagnostic(`train ${build}: ${total} bytes gzipped, ${javascript} of them JavaScript`);
    assert.ok(total <= 111_000, `${build}: ${total} bytes, ${javascript} of them JavaScript`);
  }
});

test("nothing of training is loaded by a page that only classifies", async () => {
  for (const name of ["vit", "worker"]) assert.doesNotMatch(await minified(`${name}.js`), /train|vitt_/);
  assert.match(await minified("train.js"), /from\s*["'`]\.\/vit\.js/);
});

test("the installed JavaScript is readable: short lines, names, and the comments for bundlers", () => {
  for (const name of ["vit", "worker", "train", "train-worker", "foreign", "pickle", "structure", "commands"]) {
    const source = read(`dist/${name}.js`).toString();
    const longest = Math.max(...source.split("\n").map((line) => (line.includes("data:") ? 0 : line.length)));
    assert.ok(longest < 4500, `${name}: a line of ${longest}`); // the probe's module is a long line
    assert.ok(source.split("\n").length > 200, name);
  }
  for (const name of ["vit", "worker", "train-worker"]) {
    const source = read(`dist/${name}.js`).toString();
    assert.match(source, /import\(\s*\/\* @vite-ignore \*\/\s*\/\* webpackIgnore: true \*\/\s*name\s*\)/);
    for (const [call] of source.matchAll(/\bimport\((?!\$\{script\})[^)]*\)/g)) { // that one is a text, a worker's
      assert.match(call, /^import\(("\.\/\w+\.js"|\s*\/\*[^]*name\s*)\)$/, "nothing else that a bundler would follow");
    }
  }
});

test("package.json tells older tools the places of code and types, and the author", () => {
  const { main, types, unpkg, jsdelivr, author, exports } = JSON.parse(read("package.json"));
  assert.equal(main, exports["."].default);
  assert.deepEqual([unpkg, jsdelivr], Array(2).fill("./dist/vit.js")); // one file, which a page loads without a bundler
  assert.equal(types, exports["."].types);
  assert.ok(author);
});

test("the command is a program of its own that imports only the library, Node and sharp", async () => {
  const { bin, dependencies, peerDependenciesMeta } = JSON.parse(read("package.json"));
  assert.equal(dependencies, undefined);
  assert.equal(peerDependenciesMeta.sharp.optional, true);
  const source = await minified("commands.js"); // without comments
  assert.match(read(bin.vitrine).toString(), /^#!\/usr\/bin\/env node\n/);
  assert.equal(statSync(new URL(bin.vitrine, root)).mode & 0o111, 0o111);
  const imported = (code) => [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["'`]([^"'`]+)["'`]/g)].map(([, name]) => name);
  const others = imported(source).filter((name) => !name.startsWith("node:"));
  assert.deepEqual([...new Set(others)].sort(), ["./train.js", "./vitrine.js", "sharp"]);
  assert.deepEqual(imported(await minified("cli.js")), ["./commands.js"]);
  assert.doesNotMatch(source, /\bprocess\b/, "its streams and signals are given");
  assert.doesNotMatch(source, /from\s*["'`]\.\/train/, "only who trains loads it");
  for (const name of ["vit", "worker"]) assert.doesNotMatch(await minified(`${name}.js`), /\bsharp\b/);
});

/** The declarations in dist. */
const declared = readdirSync(new URL("dist", root), { recursive: true }).filter((name) => name.endsWith(".d.ts"));

test("the package's types are only the public ones", () => {
  const names = declared.flatMap((file) =>
    [...read(`dist/${file}`).toString().matchAll(/^\s*(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const|enum) (\w+)/gm)]
      .map(([, name]) => name));
  assert.deepEqual([...new Set(names)].sort(), [
    "Ablation", "Answers", "Attention", "AttentionShape", "BuildName", "Bytes", "Class", "Classification", "ClassifyOptions", "CompiledModule", "DetectOptions", "DetectedObject", "Detection", "Disposable", "Dom",
    "Drawing", "EmbedOptions", "Embedding", "Epoch", "Example", "Fetch", "Folder", "Found", "Freeze", "Head", "ImageInput", "Index", "IndexOptions", "LoadOptions", "Log", "Mapping", "Measured", "OverlayOptions", "Part", "PenPoint", "Pixels",
    "Placement", "Prepare", "ReadAttention", "ReadOptions", "ReadResult", "ReadToken", "Reading", "Recipe", "Replacement", "RolloutOptions", "RunOptions", "Score", "ScoreOptions", "Source", "Step", "SymbolConstructor", "TeachOptions", "TextConfig", "TextEmbedding", "TextInput", "Tokenizer", "Trace", "Trainer", "TrainerOptions",
    "TrainerSource", "Variant", "Vit", "VitConfig", "VitError",
    "VitErrorCode", "WasmFiles", "WasmSource", "WeightsSource", "drawOverlay", "quantize", "score", "teach",
  ]);
});

test("the declarations compile before TypeScript 5.7, which made typed arrays generic", () => {
  for (const name of declared) assert.doesNotMatch(read(`dist/${name}`).toString(), /Array<(Shared)?ArrayBuffer/, name);
});

test("every declaration maps to a source in the package", () => {
  assert.ok(declared.length > 0);
  for (const name of declared) {
    const { sources } = JSON.parse(read(`dist/${name}.map`));
    assert.match(read(`dist/${name}`).toString(), new RegExp(`sourceMappingURL=${basename(name)}\\.map$`));
    for (const path of sources) assert.ok(packed.includes(new URL(path, `file:///dist/${name}`).pathname.slice(1)), `${name}: ${path}`);
  }
  const mapped = declared.map((name) => `web/${name.replace(".d.ts", ".ts")}`).sort();
  assert.deepEqual(packed.filter((path) => /^web\/.*\.ts$/.test(path)).sort(), mapped, "the package holds no other sources");
});

/** The newest TypeScript. `npm run ecosystem` tries older versions and node10. */
const tsc = async (...args) => {
  const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--types", "node", ...args];
  const files = ["consumer", "consumer-node", "consumer-newest"].map((name) => `tests/node/${name}.ts`);
  await run(process.execPath, "node_modules/typescript/bin/tsc", ...options, ...files).catch(({ stdout }) => assert.fail(stdout));
};

// Resolution and lib do not depend on each other, so not every pair is compiled.
for (const [resolution, module, lib] of [["node16", "node16", "es2022"], ["nodenext", "nodenext", "es2022,dom"], ["bundler", "esnext", "es2022,dom"]]) {
  test(`the types compile in a strict program with moduleResolution ${resolution} and lib ${lib}`, () =>
    tsc("--module", module, "--moduleResolution", resolution, "--lib", lib));
}

test("a release has no parts of a debug build: no DWARF, no source map of a module", () => {
  for (const name of readdirSync(new URL("dist", root)).filter((name) => /\.(js|wasm)$/.test(name))) {
    const text = read(`dist/${name}`).toString("latin1");
    assert.doesNotMatch(text, /\.debug_|\.wasm\.map/, name);
  }
});
