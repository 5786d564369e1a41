// npm run fuzz: tries hostile files by libFuzzer for a long time. npm test does so for a short one.
import { spawn } from "node:child_process";
import {
  existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import * as build from "./build.mjs";
import { Trouble, isMain, main, onAllCores, root, run, say, select, timed, which } from "./lib.mjs";
import * as setup from "./setup.mjs";

const source = join(root, "tests", "fuzz");
const presets = { 64: "fuzz", 32: "fuzz-32" };
const findings = join(root, "build", "fuzz", "findings");
const grownCorpus = (target) => join(root, "build", "fuzz", "corpus", target);
/** Inputs that together reach the most code, a file each. libFuzzer reads them, and writes elsewhere. */
const seedCorpus = (target) => join(source, "corpus", target);

/** tests/fuzz/NAME_fuzz.c is target NAME. */
export const targets = readdirSync(source).filter((name) => name.endsWith("_fuzz.c")).sort()
  .map((name) => name.slice(0, -"_fuzz.c".length));

/** Replaces the seed corpus by short tapes of the grown corpus that together reach the most code. */
async function updateSeeds(target) {
  const best = join(root, "build", "fuzz", "best");
  rmSync(best, { recursive: true, force: true });
  mkdirSync(best, { recursive: true });
  await fuzz(target, 64, ["-merge=1", best, seedCorpus(target), grownCorpus(target)]);
  const tapes = readdirSync(best).map((name) => ({ name, bytes: readFileSync(join(best, name)) }))
    .sort((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes));
  rmSync(seedCorpus(target), { recursive: true });
  mkdirSync(seedCorpus(target));
  let left = SEED_BYTES;
  for (const { name, bytes } of tapes) {
    left -= bytes.length;
    if (left > 0) writeFileSync(join(seedCorpus(target), name), bytes);
  }
}

const SEED_BYTES = 18000;

const program = (target, preset) => join(build.buildFolder(preset), "tests", "fuzz", `${target}_fuzz`);

/** Builds the targets; resolves to the word lengths that run here. */
export async function buildAll() {
  const bits = await setup.fuzzers();
  await Promise.all(bits.map((each) => timed(`build of ${presets[each]}`, () => build.cmake(presets[each]))));
  return bits;
}

// An input is a tape of choices; 400 bytes make the largest model. A finding is more time or memory
// than these limits. A target that knows how much a file may cost sets tighter limits itself.
const limits = ["-timeout=10", "-rss_limit_mb=512", "-malloc_limit_mb=256"];
const search = ["-max_len=400", "-len_control=0", "-entropic=0", "-print_final_stats=1"];

const running = new Set();

/** Runs a target; resolves to its output, even if it was stopped. */
function fuzz(target, bits, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program(target, presets[bits]), [...limits, ...args], {
      cwd: root,
      env: { ...process.env, ASAN_SYMBOLIZER_PATH: which("llvm-symbolizer") ?? "" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let output = "";
    child.stderr.on("data", (chunk) => { output = `${output}${chunk}`.slice(-200000); });
    child.on("error", (error) => reject(new Trouble(`cannot run ${target}: ${error.message}`)));
    running.add(child);
    child.on("close", (code, signal) => {
      running.delete(child);
      resolve({ code, signal, output });
    });
  });
}

/** A finding: one line of the report, or how the target ended, and the file that replays it. */
function findingIn({ code, signal, output }, target, bits) {
  const report = output.match(/^SUMMARY: (?!libFuzzer: deadly).*$/m)?.[0] ??
    output.match(/^.*: expected .*$/m)?.[0] ?? output.match(/^(?:SUMMARY|==\d+== ?ERROR): .*$/m)?.[0];
  const file = output.match(/Test unit written to (\S+)/)?.[1];
  const end = () => `ended with ${signal ?? `exit code ${code}`} after: ${output.trimEnd().split("\n").slice(-3).join(" / ")}`;
  return { target, bits, why: (report ?? end()).replaceAll(`${root}/`, ""), file };
}

export function sayFinding({ target, bits, why, file }) {
  say(`✗ ${target}, ${bits} bits: ${why}`);
  if (file) say(`  replay: ${relative(root, program(target, presets[bits]))} ${relative(root, file)}`);
}

/** Runs every input that was once a finding. */
export async function replay(target, bits) {
  const folder = join(source, "regressions");
  const files = existsSync(folder)
    ? readdirSync(folder).filter((name) => name.startsWith(`${target}-`)).map((name) => join(folder, name))
    : [];
  if (files.length === 0) return [];
  const end = await fuzz(target, bits, files);
  if (end.code === 0) return [];
  const last = end.output.match(/^Running: (.*)$/gm)?.at(-1)?.slice("Running: ".length);
  return [{ ...findingIn(end, target, bits), file: last }];
}

/**
 * Searches from `corpora` for that many seconds or, with `runs`, that many runs; the first corpus grows.
 * Stops after `findingsMost` findings. Resolves to { runs, seconds, coverage, features, found }.
 */
export async function searchFor(target, bits, { seconds = 600, runs = -1 }, corpora, { findingsMost = 1, seed = 0 } = {}) {
  const start = Date.now();
  const result = { target, bits, runs: 0, seconds: 0, coverage: 0, features: 0, found: [] };
  mkdirSync(findings, { recursive: true });
  for (const folder of corpora) mkdirSync(folder, { recursive: true });
  while (result.found.length < findingsMost && !stopped) {
    const left = Math.round(seconds - (Date.now() - start) / 1000);
    if (left < 1) break;
    const end = await fuzz(target, bits, [...search, `-max_total_time=${left}`, `-runs=${runs}`, `-seed=${seed}`,
      `-artifact_prefix=${findings}/${target}-${bits}-`, ...corpora]);
    const { code, output } = end;
    const lines = [...output.matchAll(/^#(\d+)\s.*cov: (\d+) ft: (\d+)/gm)];
    const [, , coverage, features] = lines.at(-1)?.map(Number) ?? [];
    result.runs += Number(output.match(/stat::number_of_executed_units: (\d+)/)?.[1] ?? lines.at(-1)?.[1] ?? 0);
    result.coverage = Math.max(result.coverage, coverage ?? 0);
    result.features = Math.max(result.features, features ?? 0);
    if (code !== 0 && !stopped) result.found.push(findingIn(end, target, bits));
    else if (runs > 0) break;
  }
  result.seconds = (Date.now() - start) / 1000;
  return result;
}

const line = ({ target, bits, runs, seconds, coverage, features, found }) =>
  `${`${target}, ${bits} bits`.padEnd(20)} ${String(runs).padStart(10)} executions ` +
  `${(runs / seconds).toFixed(0).padStart(6)}/s  ${String(coverage).padStart(5)} edges ` +
  `${String(features).padStart(6)} features  ${found.length} findings`;

/** Replays the old findings, then searches from the seed corpus, the same way each time. */
async function searchOnce(target, bits, limit) {
  const found = await replay(target, bits);
  if (found.length) return { target, bits, runs: 0, seconds: 1, coverage: 0, features: 0, found };
  const scratch = mkdtempSync(join(tmpdir(), "vitrine-fuzz-"));
  const result = await searchFor(target, bits, limit, [scratch, seedCorpus(target)], { seed: 1 });
  rmSync(scratch, { recursive: true });
  return result;
}

/** For the tests: every target in every build runs its seeds, and then as many changed ones, or searches for `seconds`. */
export async function shortly(seconds, bits) {
  const jobs = targets.flatMap((target) => bits.map((each) => [target, each]));
  const results = await onAllCores(jobs, async ([target, each]) => {
    const result = await searchOnce(target, each, seconds ? { seconds } : { runs: 2 * readdirSync(seedCorpus(target)).length });
    say(line(result));
    result.found.forEach(sayFinding);
    return result;
  });
  const failed = new Set(results.filter(({ found }) => found.length).map(({ target }) => target)).size;
  return { passed: targets.length - failed, failed, skipped: 0 };
}

// ---- npm run fuzz

let stopped = false;

function stopOnInterrupt() {
  process.on("SIGINT", () => {
    if (stopped) process.exit(130);
    stopped = true;
    say("\n  stopping; press Ctrl-C again to leave at once");
    for (const child of running) child.kill("SIGINT");
  });
}

/** Searches each target in turn, in rounds, so that every target gets its share of the time. */
async function atLength(minutes, selection, bits) {
  const totals = new Map();
  const share = Math.min(300, Math.max(10, (minutes * 60) / selection.length));
  const rounds = Math.max(1, Math.round((minutes * 60) / selection.length / share));
  for (let round = 1; round <= rounds && !stopped; round++) {
    say(`▸ round ${round} of ${rounds}, ${share.toFixed(0)} s for each target`);
    for (const target of selection) {
      if (stopped) break;
      const results = await Promise.all(bits.map((each) =>
        searchFor(target, each, { seconds: share }, [`${grownCorpus(target)}-${each}`, grownCorpus(target), seedCorpus(target)], { findingsMost: 20 })));
      for (const result of results) {
        say(`  ${line(result)}`);
        result.found.forEach(sayFinding);
        add(totals, result);
      }
      if (!stopped) await exchange(target, bits);
    }
  }
  return [...totals.values()];
}

function add(totals, result) {
  const name = `${result.target} ${result.bits}`;
  const total = totals.get(name) ?? { ...result, runs: 0, seconds: 0, found: [] };
  totals.set(name, {
    ...total,
    runs: total.runs + result.runs,
    seconds: total.seconds + result.seconds,
    coverage: Math.max(total.coverage, result.coverage),
    features: Math.max(total.features, result.features),
    found: [...total.found, ...result.found],
  });
}

/** Merges both builds' corpora for the next round, and drops inputs that reach nothing new. */
async function exchange(target, bits) {
  for (const each of bits) {
    mkdirSync(grownCorpus(target), { recursive: true });
    await fuzz(target, each, ["-merge=1", grownCorpus(target), seedCorpus(target), `${grownCorpus(target)}-${each}`]);
    rmSync(`${grownCorpus(target)}-${each}`, { recursive: true, force: true });
  }
}

/** Prints how many lines and branches of each file in src/ the whole corpus runs. */
async function coverage(selection) {
  const tool = (name) => which(name) ?? which(`${name}-14`) ?? which(`${name}-19`);
  if (!tool("llvm-cov") || !tool("llvm-profdata")) {
    return say("– coverage by file: no llvm-cov and llvm-profdata here (Debian: llvm)");
  }
  await timed("build of fuzz-coverage", () => build.cmake("fuzz-coverage"));
  const folder = join(root, "build", "fuzz", "profiles");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const programs = selection.map((target) => program(target, "fuzz-coverage"));
  for (const target of selection) {
    const corpora = [grownCorpus(target), seedCorpus(target)].filter((path) => existsSync(path));
    await run(program(target, "fuzz-coverage"), ["-runs=0", ...corpora], {
      allowFailure: true,
      env: { LLVM_PROFILE_FILE: join(folder, `${target}.profraw`) },
    });
  }
  const merged = join(folder, "all.profdata");
  const raw = readdirSync(folder).filter((name) => statSync(join(folder, name)).size).map((name) => join(folder, name));
  await run(tool("llvm-profdata"), ["merge", "-sparse", ...raw, "-o", merged]);
  const { output } = await run(tool("llvm-cov"), ["export", "-summary-only", `-instr-profile=${merged}`,
    programs[0], ...programs.slice(1).flatMap((path) => ["-object", path])]);
  const files = JSON.parse(output.slice(output.indexOf("{"))).data[0].files
    .filter(({ filename }) => filename.startsWith(join(root, "src") + "/"));
  say("\ncoverage by file, lines and branches");
  for (const { filename, summary } of files) {
    const part = ({ covered, count }) => `${String(covered).padStart(5)} of ${String(count).padStart(5)}`;
    say(`  ${relative(root, filename).padEnd(28)} ${summary.lines.percent.toFixed(1).padStart(5)} %  ` +
      `${part(summary.lines)} lines ${part(summary.branches)} branches`);
  }
}

const help = `npm run fuzz [-- --minutes N] [--target ${targets.join(",")}] [--keep]

Opens, runs and encodes generated hostile models by libFuzzer under ASan and UBSan, in 64 and 32
bits side by side, for N minutes in all (10). Continues with the last run's corpus, in
build/fuzz/corpus; findings lie in build/fuzz/findings. Ctrl-C ends it with the same table.
--keep: puts the best of that corpus into tests/fuzz/corpus, from which npm test starts.`;

async function fuzzAtLength(minutes, selection, keeps) {
  const bits = await buildAll();
  if (bits.length === 0) throw new Trouble("no Clang with libFuzzer here (Debian: clang, libclang-rt-14-dev)");
  if (!bits.includes(32)) say("– 32 bits: not here (Debian: g++-multilib, lib32z1-dev)");
  stopOnInterrupt();
  const totals = await atLength(minutes, selection, bits);
  if (keeps) for (const target of selection) await updateSeeds(target);
  await coverage(selection);
  say("");
  for (const total of totals) say(line(total));
  const found = totals.flatMap((total) => total.found);
  found.forEach(sayFinding);
  process.exitCode = found.length ? 1 : 0;
}

if (isMain(import.meta)) {
  await main(async () => {
    const { values } = parseArgs({
      options: {
        minutes: { type: "string", default: "10" },
        target: { type: "string" },
        keep: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
    if (values.help) return say(help);
    const minutes = Number(values.minutes);
    if (!(minutes > 0)) throw new Trouble(`--minutes: expected a number above 0, got "${values.minutes}"`);
    await fuzzAtLength(minutes, select("target", values.target, targets), values.keep);
  });
}
