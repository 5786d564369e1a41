// npm test: runs all tests, from the C core to the page in a browser.
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs, stripVTControlCharacters } from "node:util";
import * as build from "./build.mjs";
import { ctest } from "./ctest.mjs";
import { Trouble, main, root, run, say, timed } from "./lib.mjs";
import { findMnist } from "./data.mjs";
import * as fuzz from "./fuzz.mjs";
import { lint } from "./lint.mjs";
import * as setup from "./setup.mjs";

const jobs = String(availableParallelism());
/** Options for a test program. The longest test prints nothing for about a minute. */
const tests = { show: true, allowFailure: true, silence: 10 };

/** The tests in which engines differ, and the story's. All of tests/browser would take many minutes. */
const firefoxTests = () => readdirSync(join(root, "tests/browser")).map((name) => `tests/browser/${name}`)
  .filter((path) => /\/(api|page|drawing|slow|story|story-[\w-]+)\.test\.mjs$/.test(path));

/** Each stage builds what it tests, runs it, and resolves to { passed, failed, skipped }. */
const stages = {
  lint: ["format and rules, as npm run lint", () => lint()],
  c: ["C, natively under ASan and UBSan", async () => {
    await setup.native();
    return cTests("sanitize");
  }],
  native: ["C, natively as released", async () => {
    await setup.native();
    return cTests("native");
  }],
  fuzz: ["hostile files by libFuzzer", async () => {
    const bits = await fuzz.buildAll();
    const missing = [64, 32].filter((each) => !bits.includes(each));
    const counts = bits.length ? await fuzz.shortly(4, bits) : none;
    const why = missing.length && `Clang's libFuzzer does not run here with ${missing.join(" and ")} bits`;
    return { ...counts, skipped: missing.length, why };
  }],
  wasm: ["C, compiled to wasm, under Node", async () => {
    const env = await build.wasm();
    const counts = [];
    for (const variant of ["scalar", "simd128", "relaxed"]) counts.push(await cTests(`wasm-${variant}`, env));
    return sum(counts);
  }],
  mutants: ["hostile files in wasm", async () => {
    await setup.native();
    await timed("build of fuzz_mutants", () => build.cmake("native", { target: "fuzz_mutants" }));
    await build.wasm();
    const node = await setup.currentNode();
    const counts = await script("tests/fuzz/wasm-mutants.mjs", ["20"], node);
    return node ? counts : { ...counts, skipped: 1, why: "no current Node here, so the mutants ran under this one" };
  }],
  node: ["API under Node", async () => {
    await buildPackage();
    return nodeTests(["tests/node", "tests/bench"]);
  }],
  package: ["package: publint, arethetypeswrong", async () => {
    await buildPackage();
    return sum([
      await check("publint", []),
      await check("attw", ["--pack", ".", "--profile", "esm-only", "--entrypoints", ".", "--format", "ascii"]),
    ]);
  }],
  page: ["page in Chromium", async () => {
    const chromium = await setup.chromium();
    if (!chromium) {
      return { ...none, skipped: 1, why: "no Chromium here: install one, or name it in $CHROMIUM" };
    }
    await buildPackage();
    await build.page();
    return nodeTests(["tests/browser"], { VITRINE_BROWSER: "chromium", CHROMIUM: chromium });
  }],
  firefox: ["API and page in Firefox", async () => {
    const firefox = await setup.firefox();
    if (!firefox) {
      return { ...none, skipped: 1, why: "no Firefox here: install one, or name it in $FIREFOX" };
    }
    await buildPackage();
    await build.page();
    return nodeTests(firefoxTests(), { VITRINE_BROWSER: "firefox", FIREFOX: firefox });
  }],
  webkit: ["API and page in WebKitGTK", async () => {
    const webkit = await setup.webkit();
    if (!webkit) {
      return { ...none, skipped: 1, why: "no WebKitGTK here: install webkit2gtk-driver and xvfb" };
    }
    await buildPackage();
    await build.page();
    return nodeTests(["tests/browser/api.test.mjs", "tests/webkit"], { VITRINE_BROWSER: "webkit", WEBKIT: webkit });
  }],
  debug: ["debug build: traps by C's lines", async () => {
    await build.packages();
    for (const step of [build.wasm, build.dist, build.page]) await step(build.debug);
    return nodeTests(["tests/debug"], { CHROMIUM: (await setup.chromium()) ?? "" });
  }],
};
const names = Object.keys(stages);

const help = `npm test [-- --only ${names.join(",")}]

Installs what is missing as npm start does (and, on Debian as root, a C compiler, zlib,
libpng, OpenBLAS, Chromium, Firefox, WebKitGTK), builds, and runs the tests:

${names.map((name) => `  ${name.padEnd(8)} ${stages[name][0]}`).join("\n")}`;

const none = { passed: 0, failed: 0, skipped: 0 };
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

/** Runs the C tests. Each is a program that prints "N passed, N failed". */
async function cTests(preset, env) {
  await timed(`build of ${preset}`, () => build.cmake(preset, { env }));
  const data = findMnist();
  const more = { ...env, ...(data && { VITRINE_DATA: data }), UBSAN_OPTIONS: "print_stacktrace=1" };
  const programs = await ctest(["--preset", preset, "--parallel", jobs], { ...tests, env: more });
  if (programs.length === 0) throw new Trouble(`ctest ran no test of the preset ${preset}`);
  for (const { test, reason } of programs.flatMap(({ skips }) => skips)) say(`– ${test}: ${reason}`);
  return sum(programs);
}

async function nodeTests(folders, env = {}) {
  const files = folders.flatMap((folder) => folder.endsWith(".test.mjs") ? [folder] :
    readdirSync(join(root, folder)).sort()
      .filter((name) => name.endsWith(".test.mjs"))
      .map((name) => join(folder, name)));
  if (files.length === 0) throw new Trouble(`no *.test.mjs in ${folders.join(", ")}`);
  const reporter = process.env.CI ? "tap" : "spec";
  const { output } = await run(process.execPath,
    ["--test", `--test-reporter=${reporter}`, ...files], { ...tests, env });
  const plain = stripVTControlCharacters(output);
  const [passed, failed, cancelled, skipped] = ["pass", "fail", "cancelled", "skipped"].map((word) =>
    Number(plain.match(new RegExp(`^(?:#|ℹ) ${word} (\\d+)$`, "m"))?.[1] ?? NaN));
  if (Number.isNaN(passed + failed)) throw new Trouble("node --test gave no summary");
  return { passed, failed: failed + cancelled, skipped };
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

function chosen(only) {
  if (only === undefined) return names;
  const wanted = only.split(",");
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Trouble(`--only: expected some of ${names.join(",")}, got "${unknown}"`);
  }
  return wanted;
}

/** Runs a stage. A failed stage is printed and counted, and the others still run. */
async function attempt(name) {
  const [title, body] = stages[name];
  const start = performance.now();
  say(`\n━━ ${title}`);
  const counts = await body().catch((error) => ({
    ...none,
    failed: 1,
    why: error instanceof Trouble ? error.message : error.stack,
  }));
  if (counts.why) say(`${counts.failed ? "✗" : "–"} ${counts.why}`);
  return { title, ...counts, seconds: (performance.now() - start) / 1000 };
}

function table(results) {
  const row = (cells) => cells[0].padEnd(38) + cells.slice(1).map((cell) => String(cell).padStart(9)).join("");
  say(`\n${row(["", "passed", "failed", "skipped", "seconds"])}`);
  for (const { title, passed, failed, skipped, seconds } of results) {
    say(row([title, passed, failed, skipped, seconds.toFixed(1)]));
  }
  const total = sum(results);
  say(`\n${total.passed} passed, ${total.failed} failed`);
  return total.failed;
}

await main(async () => {
  const { values } = parseArgs({ options: { only: { type: "string" }, help: { type: "boolean" } } });
  if (values.help) return say(help);
  setup.node();
  const results = [];
  for (const name of chosen(values.only)) results.push(await attempt(name));
  process.exitCode = table(results) ? 1 : 0;
});
