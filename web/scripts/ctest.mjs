// Runs ctest and reads its report in JUnit's format.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./lib.mjs";

const named = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const plain = (text) => text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
  if (name) return named[name] ?? whole;
  return String.fromCodePoint(decimal ? Number(decimal) : parseInt(hex, 16));
});

/** Each file of a report: its name, seconds, whether it failed according to ctest, and its output. */
function testFiles(xml) {
  return [...xml.matchAll(/<testcase\b([^>]*)>(.*?)<\/testcase>/gs)].map(([, attributes, body]) => {
    const attribute = (name) => plain(attributes.match(new RegExp(`\\b${name}="([^"]*)"`))[1]);
    const output = body.match(/<system-out>(.*?)<\/system-out>/s)?.[1] ?? "";
    return { name: attribute("name"), seconds: Number(attribute("time")), failed: attribute("status") !== "run", output: plain(output) };
  });
}

/** A file's counts. A failed file that counted no failure, as in a crash, counts as one. */
function counted({ name, seconds, failed, output }) {
  const line = output.match(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/m) ?? [];
  const [passed, failures, skipped] = [1, 2, 3].map((i) => Number(line[i] ?? 0));
  const skips = [...output.matchAll(/^ +(.*)\nskipped +(.*)$/gm)].map(([, reason, test]) => ({ test, reason }));
  return { name, seconds, passed, failed: failures || Number(failed), skipped, skips };
}

/**
 * Runs ctest and resolves to each file's { name, seconds, passed, failed, skipped, skips }; `skips` holds
 * { test, reason }.
 */
export async function ctest(args, options) {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-"));
  const report = join(folder, "junit.xml");
  const whole = ["passed", "failed"].flatMap((which) => [`--test-output-size-${which}`, String(2 ** 24)]);
  try {
    await run("ctest", [...args, ...whole, "--output-junit", report], options);
    return testFiles(readFileSync(report, "utf8")).map(counted);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
