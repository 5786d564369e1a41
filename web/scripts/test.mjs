// npm test: runs the tests, from the C core to the page in a browser. npm run test:full runs all.
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import * as build from "./build.mjs";
import { changedFiles, stagesOf } from "./changed.mjs";
import { ctest } from "./ctest.mjs";
import { Trouble, main, root, run, say, select, timed } from "./lib.mjs";
import { findMnist } from "./data.mjs";
import * as fuzz from "./fuzz.mjs";
import { lint } from "./lint.mjs";
import * as setup from "./setup.mjs";

const cores = availableParallelism(), jobs = String(cores);
/** Options for a test program. The longest test prints nothing for about a minute. */
const tests = { show: true, allowFailure: true, silence: 10 };
/** A file of tests that lasts so many seconds hangs. It runs once more, because Node may hang as it ends (nodejs/node#54918). */
const HANGS_AFTER = 300;
const none = { passed: 0, failed: 0, skipped: 0 };
const skipped = (why) => ({ ...none, skipped: 1, why });

/** What Firefox must show; in `full`, the tests of the whole page in which engines differ. */
const firefoxTests = (full) => [
  ...testsIn("tests/browser").filter((path) => (full
    ? /\/(api|page|drawing|slow|story|story-[\w-]+)\.test\.mjs$/
    : /\/(api|drawing)\.test\.mjs$/).test(path)),
  ...testsIn("tests/engines"),
];

/**
 * Each stage: what it tests, its budget in seconds on two quiet cores with everything built from
 * nothing, and a function that builds and runs, and resolves to { passed, failed, skipped, files }.
 * `full` is what npm run test:full asks for. A stage without a budget runs only there.
 */
const stages = {
  lint: ["format and rules, as npm run lint", 45, (full) => lint({ deep: full })],
  c: ["C, natively under ASan and UBSan", 60, async (full) => {
    await setup.native();
    return cTests("sanitize", full);
  }],
  native: ["C, natively as released", 32, async (full) => {
    await setup.native();
    return cTests("native", full);
  }],
  fuzz: ["hostile files by libFuzzer", 45, async (full) => {
    const bits = await fuzz.buildAll();
    const missing = [64, 32].filter((each) => !bits.includes(each));
    const counts = bits.length ? await fuzz.shortly(full && 60, bits) : none;
    const why = missing.length && `Clang's libFuzzer does not run here with ${missing.join(" and ")} bits`;
    return { ...counts, skipped: missing.length, why };
  }],
  wasm: ["C, compiled to wasm, under Node", 85, async (full) => {
    const env = await build.wasm();
    return cTests("wasm", full, env);
  }],
  mutants: ["hostile files in wasm", 15, async (full) => {
    await setup.native();
    await timed("build of fuzz_mutants", () => build.cmake("native", { targets: ["fuzz_mutants"] }));
    await build.wasm();
    const node = await setup.currentNode();
    const counts = await script("tests/fuzz/wasm-mutants.mjs", [full ? "60" : "10"], node);
    return node ? counts : { ...counts, ...skipped("no current Node here, so the mutants ran under this one"), passed: counts.passed };
  }],
  node: ["API under Node", 105, async (full) => {
    await buildPackage();
    const env = full ? { VITRINE_FULL: "1" } : {};
    return nodeTests([...testsIn("tests/node"), ...testsIn("tests/bench")], env, { together: cores + 1 }); // a test waits for a process or a timer now and then
  }],
  package: ["package: publint, arethetypeswrong", 8, async () => {
    await buildPackage();
    return sum([
      await check("publint", []),
      await check("attw", ["--pack", ".", "--profile", "esm-only", "--entrypoints", ".", "train", "all", "--format", "ascii"]),
    ]);
  }],
  page: ["page in Chromium", 220, async () => {
    const chromium = await setup.chromium();
    if (!chromium) return skipped("no Chromium here: install one, or name it in $CHROMIUM");
    await buildPage();
    return inChromium(chromium, testsIn("tests/browser"));
  }],
  firefox: ["API and page in Firefox", 55, async (full) => {
    const firefox = await setup.firefox();
    if (!firefox) return skipped("no Firefox here: install one, or name it in $FIREFOX");
    await buildPage();
    return nodeTests(firefoxTests(full), { VITRINE_BROWSER: "firefox", FIREFOX: firefox });
  }],
  webkit: ["API and page in WebKitGTK", 25, async () => {
    const webkit = await setup.webkit();
    if (!webkit) return skipped("no WebKitGTK here: install webkit2gtk-driver and xvfb");
    await buildPage();
    return nodeTests(["tests/browser/api.test.mjs", ...testsIn("tests/engines")], { VITRINE_BROWSER: "webkit", WEBKIT: webkit });
  }],
  debug: ["debug build: C and TypeScript in the developer tools", 25, async () => {
    await build.packages();
    for (const step of [build.wasm, build.dist, build.page]) await step(build.debug);
    return nodeTests(testsIn("tests/debug"), { CHROMIUM: (await setup.chromium()) ?? "" });
  }],
  bundlers: ["the packed package in bundlers and engines", undefined, async () => {
    await buildPackage();
    return script("web/scripts/ecosystem.mjs", []);
  }],
  golden: ["a model of full size beside torchvision, and the Python that errors advise", undefined, async () => {
    const python = await setup.torchvision();
    if (!python) return skipped("no torchvision here: install it (Debian: python3-torchvision)");
    await buildPackage();
    const folder = mkdtempSync(join(tmpdir(), "vitrine-full-"));
    try {
      await timed("a ViT-B/16 by torchvision", () => run(python, ["tests/golden/full.py", folder]));
      return sum([await script("tests/golden/advice.mjs", [python]), await script("tests/golden/full.mjs", [folder])]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }],
};

const packageStages = ["node", "package", "page", "firefox", "webkit", "debug", "bundlers", "golden"];
/** What is downloaded, and the stages that need it. All downloads begin at once, beside what the first stages compute. */
const downloads = [
  [setup.npmPackages, ["lint", ...packageStages]],
  [setup.emscripten, ["wasm", "mutants", ...packageStages]],
  [setup.currentNode, ["mutants"]],
];

const names = Object.keys(stages);
const everyday = names.filter((name) => stages[name][1] !== undefined);

const help = `npm test [-- --only ${everyday.join(",")}]
npm test -- --changed [COMMIT]
npm run test:full [-- --only ${names.join(",")}]

Installs what is missing as npm start does (and, on Debian as root, a C compiler, zlib,
OpenBLAS, Chromium, Firefox, WebKitGTK), builds, and runs the tests:

${names.map((name) => `  ${name.padEnd(9)} ${stages[name][0]}`).join("\n")}

  --only     some stages
  --changed  the stages that the files changed since COMMIT can touch (HEAD: what is not committed)

npm run test:full runs the last two stages too, all C tests in each build, the whole story in
Firefox, more lessons in signs, all of MNIST's test images in Node, and searches for hostile files longer.`;

const sum = (counts) => counts.reduce((total, count) => ({
  passed: total.passed + count.passed,
  failed: total.failed + count.failed,
  skipped: total.skipped + count.skipped,
}), none);

async function buildPackage() {
  await build.packages();
  await build.wasm();
  await build.dist();
}

async function buildPage() {
  await buildPackage();
  await build.page();
}

/** Every *.test.mjs of a folder. */
const testsIn = (folder) => readdirSync(join(root, folder)).sort()
  .filter((name) => name.endsWith(".test.mjs")).map((name) => join(folder, name));

/** Runs the C tests of a preset. vit_tests prints "N passed, N failed" for each file. */
async function cTests(preset, full, env) {
  // what other stages use is built as released
  const targets = preset === "sanitize" ? ["vit_tests"] : undefined;
  await timed(`build of ${preset}`, () => build.cmake(preset, { env, targets }));
  const data = findMnist();
  const more = { ...env, ...(data && { VITRINE_DATA: data }), ...(full && { VITRINE_FULL: "1" }), UBSAN_OPTIONS: "print_stacktrace=1" };
  const some = full ? [] : ["--label-exclude", "^again$"];
  const files = await ctest(["--preset", preset, "--parallel", jobs, ...some], { ...tests, env: more });
  if (files.length === 0) throw new Trouble(`ctest ran no test of the preset ${preset}`);
  for (const { test, reason } of files.flatMap(({ skips }) => skips)) say(`– ${test}: ${reason}`);
  return { ...sum(files), files: files.map(({ name, seconds }) => [name, seconds]) };
}

/**
 * Runs *.test.mjs by node --test, as many processes at a time as there are cores unless `together` says otherwise.
 * Each file has a process of its own, or the files share that many `processes`.
 */
async function nodeTests(files, env = {}, { together = cores, processes } = {}) {
  if (files.length === 0) throw new Trouble("no *.test.mjs to run");
  const folder = mkdtempSync(join(tmpdir(), "vitrine-"));
  const report = join(folder, "report.json");
  const reported = async (scripts) => {
    await run(process.execPath, [
      "--test", `--test-concurrency=${together}`, `--test-timeout=${HANGS_AFTER * 1000}`,
      `--test-reporter=${process.env.CI ? "tap" : "spec"}`, "--test-reporter-destination=stdout",
      "--test-reporter=./web/scripts/reporter.mjs", `--test-reporter-destination=${report}`,
      ...scripts,
    ], { ...tests, env });
    return JSON.parse(readFileSync(report, "utf8"));
  };
  try {
    const { files: seconds, hung, ...counts } = await reported(processes ? inGroups(files, processes, folder) : files);
    const slowest = Object.entries(seconds).map(([path, each]) => [basename(path), each]);
    if (hung.length === 0) return { ...counts, files: slowest };
    say(`! no end after ${HANGS_AFTER} seconds, so once more: ${hung.join(", ")}`);
    const again = await reported(hung);
    return { ...sum([counts, again, { ...none, failed: again.hung.length }]), files: slowest };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes scripts that import a few test files each, those of the most bytes first, because they take longest. */
function inGroups(files, count, folder) {
  const bySize = files.map((path) => join(root, path)).sort((a, b) => statSync(b).size - statSync(a).size);
  return Array.from({ length: Math.min(count, files.length) }, (_, at) => {
    const script = join(folder, `${at}.mjs`);
    writeFileSync(script, bySize.filter((_, i) => i % count === at).map((path) => `import ${JSON.stringify(pathToFileURL(path))};\n`).join(""));
    return script;
  });
}

/** Runs tests in one Chromium, in which each process has contexts of its own. Few load Playwright, which takes half a second. */
async function inChromium(executable, files) {
  const { launchServer } = await import("../../tests/browser/browsers.mjs");
  const server = await launchServer(executable);
  try {
    const env = { VITRINE_BROWSER: "chromium", CHROMIUM: executable, VITRINE_BROWSER_SERVER: server.wsEndpoint() };
    return await nodeTests(files, env, { together: cores + 1, processes: 15 }); // a test waits for the browser now and then
  } finally {
    await server.close();
  }
}

/** Runs one of our scripts as a test. */
async function script(path, args, node = process.execPath) {
  const { code } = await run(node, [path, ...args], tests);
  return { ...none, [code === 0 ? "passed" : "failed"]: 1 };
}

/** Runs a command of node_modules that checks the package as a test. */
async function check(command, args) {
  const { code } = await run(join(root, "node_modules", ".bin", command), args, { ...tests, env: { NO_COLOR: "1" } });
  return { ...none, [code === 0 ? "passed" : "failed"]: 1 };
}

/** The stages of `--changed`, in order. */
async function changedStages(since) {
  const files = await changedFiles(since);
  const some = stagesOf(files);
  const selection = everyday.filter((name) => some.has(name));
  say(`${files.length} changed files: ${selection.join(",") || "no stage"}`);
  return selection;
}

/** Runs a stage. A failed stage is printed and counted, and the others still run. */
async function attempt(name, full) {
  const [title, budget, body] = stages[name];
  const start = performance.now();
  say(`\n━━ ${title}`);
  const counts = await body(full).catch((error) => ({
    ...none,
    failed: 1,
    why: error instanceof Trouble ? error.message : error.stack,
  }));
  if (counts.why) say(`${counts.failed ? "✗" : "–"} ${counts.why}`);
  const seconds = (performance.now() - start) / 1000;
  const slowest = (counts.files ?? []).sort((a, b) => b[1] - a[1]).slice(0, 10);
  if (slowest.length) say(`  slowest: ${slowest.map(([file, each]) => `${file} ${each.toFixed(1)} s`).join(", ")}`);
  say(`  ${seconds.toFixed(1)} s in all`);
  return { name, title, budget, ...counts, seconds };
}

function table(results, full) {
  const row = (cells) => cells[0].padEnd(44) + cells.slice(1).map((cell) => String(cell).padStart(9)).join("");
  say(`\n${row(["", "passed", "failed", "skipped", "seconds", "budget"])}`);
  for (const { title, passed, failed, skipped, seconds, budget } of results) {
    say(row([title, passed, failed, skipped, seconds.toFixed(1), full ? "" : budget]));
  }
  const late = full ? [] : results.filter(({ seconds, budget }) => seconds > budget);
  if (late.length) say(`\n! over budget: ${late.map(({ name, seconds, budget }) => `${name} ${seconds.toFixed(0)} s of ${budget}`).join(", ")}`);
  const total = sum(results);
  say(`\n${total.passed} passed, ${total.failed} failed`);
  return total.failed;
}

await main(async () => {
  const { values, positionals } = parseArgs({
    options: { only: { type: "string" }, changed: { type: "boolean" }, full: { type: "boolean" }, help: { type: "boolean" } },
    allowPositionals: true,
  });
  if (values.help) return say(help);
  if (positionals.length > (values.changed ? 1 : 0)) throw new Trouble(`expected options only, got "${positionals[0]}"; see npm test -- --help`);
  setup.node();
  const selection = values.changed ? await changedStages(positionals[0]) : select("only", values.only, names, values.full ? names : everyday);
  for (const [download, needed] of downloads) {
    if (needed.some((name) => selection.includes(name))) download().catch(() => {}); // a stage that awaits it fails
  }
  const results = [];
  for (const name of selection) results.push(await attempt(name, values.full));
  process.exitCode = table(results, values.full) ? 1 : 0;
});
