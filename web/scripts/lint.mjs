// npm run lint: checks the layout of C, and rules for C, TypeScript and scripts.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as build from "./build.mjs";
import { checkDocument } from "./generate.mjs";
import { isMain, main, onAllCores, root, run, say, timed } from "./lib.mjs";
import * as setup from "./setup.mjs";

const help = `npm run lint [-- [--fix] [--deep]]

Installs what is missing, as npm test does, and checks:

  clang-format 14  the layout of C in src and tests (.clang-format)
  clang-tidy 14    mistakes in C as it is compiled natively (.clang-tidy)
  config.def       the tables of config keys in src/README.md
  Biome            mistakes in TypeScript and scripts (biome.json)

  --fix   formats C, writes the tables, and fixes what Biome can fix safely
  --deep  clang-tidy follows longer paths through functions, as in npm run test:full
  --help  this text`;

const filesOf = (folder, ending) => readdirSync(join(root, folder), { recursive: true }).map(String).sort()
  .filter((name) => ending.test(name)).map((name) => join(folder, name));

/** Runs a command and prints its output only if it fails; resolves to whether it succeeded. */
async function good(command, args) {
  const { code, output } = await run(command, args, { allowFailure: true });
  if (code) say(output.replaceAll(`${root}/`, "").trim());
  return code === 0;
}

function format(program, { fix }) {
  const files = [...filesOf("src", /\.[ch]$/), ...filesOf("tests", /\.[ch]$/)];
  return good(program, fix ? ["-i", ...files] : ["--dry-run", "-Werror", ...files]);
}

/** How much of a function the analyzer looks at: a fifth of its default limit, in a fifth of the time. */
const NODES = 40_000;

/** Checks files in parallel. The slow analyzer follows paths in src only. */
async function tidy(program, { deep }) {
  await setup.native();
  await build.configure("native");
  const shorter = deep ? [] : ["-Xclang", "-analyzer-config", "-Xclang", `max-nodes=${NODES}`];
  const args = ["-p", build.buildFolder("native"), "--quiet",
    ...["-UNDEBUG", ...shorter].map((each) => `--extra-arg=${each}`)]; // clang-tidy learns from asserts
  const forWasm = /\/(wasm\/\w+|simd128|relaxed)\.c$/;
  const jobs = [
    ...filesOf("src", /\.c$/).filter((file) => !forWasm.test(file)).map((file) => [...args, file]),
    ...filesOf("tests/c", /\.c$/).map((file) => [...args, "--checks=-clang-analyzer-*", file]),
  ];
  return (await onAllCores(jobs, (job) => good(program, job))).every(Boolean);
}

async function biome({ fix }) {
  await build.packages();
  const program = join(root, "node_modules", ".bin", "biome");
  return good(program, ["lint", "--error-on-warnings", ...(fix ? ["--write"] : [])]);
}

/** Runs all tools; resolves to how many { passed, failed, skipped }. */
export async function lint(options = {}) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const check = async (name, body) => {
    const fine = await timed(name, body);
    counts[fine ? "passed" : "failed"]++;
    say(fine ? `✓ ${name}` : `✗ ${name}: see above${options.fix ? "" : "; npm run lint -- --fix may fix it"}`);
  };
  for (const [name, body] of [["clang-format", format], ["clang-tidy", tidy]]) {
    const program = await setup.clangTool(name);
    if (program) await check(name, () => body(program, options));
    else {
      counts.skipped++;
      say(`– ${name} skipped: needs version 14 (Debian: ${name}-14), because other versions give other results`);
    }
  }
  await check("tables of config keys", () => checkDocument(options));
  await check("Biome", () => biome(options));
  return counts;
}

if (isMain(import.meta)) {
  await main(async () => {
    const { values } = parseArgs({ options: { fix: { type: "boolean" }, deep: { type: "boolean" }, help: { type: "boolean" } } });
    if (values.help) return say(help);
    const { failed } = await lint(values);
    process.exitCode = failed ? 1 : 0;
  });
}
