// npm test's counts of C tests, tried on shell programs that ctest runs.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ctest } from "../../web/scripts/ctest.mjs";

const folder = mkdtempSync(join(tmpdir(), "vitrine-ctest-"));
after(() => rmSync(folder, { recursive: true }));

/** Lets ctest run programs, given by name and script. */
function counts(scripts) {
  const lines = Object.entries(scripts).map(([name, script]) => `add_test(${name} sh -c [==[${script}]==])`);
  writeFileSync(join(folder, "CTestTestfile.cmake"), lines.join("\n"));
  return ctest(["--test-dir", folder], { allowFailure: true });
}

test("npm test counts a C program's passed, failed and skipped tests from its last line", async () => {
  const [{ seconds, ...program }] = await counts({ mixed: "echo '12 passed, 3 failed, 2 skipped'; exit 1" });
  assert.ok(seconds >= 0, `${seconds} seconds`);
  assert.deepEqual(program, { name: "mixed", passed: 12, failed: 3, skipped: 2, skips: [] });
});

test("a C program that ends without its last line is one failure, and the others still count", async () => {
  const programs = await counts({ crash: "kill -SEGV $$", missing: "exit 7", good: "echo '5 passed, 0 failed'" });
  assert.deepEqual(programs.map(({ name, passed, failed }) => [name, passed, failed]),
    [["crash", 0, 1], ["missing", 0, 1], ["good", 5, 0]]);
});

test("a C program whose tests passed but whose exit code is bad counts as a failure", async () => {
  const [{ passed, failed }] = await counts({ leak: "echo '5 passed, 0 failed'; exit 23" });
  assert.deepEqual([passed, failed], [5, 1]);
});

test("npm test names a skipped C test with its reason, whatever characters this contains", async () => {
  const script = String.raw`printf '    no <data> & no "MNIST" — é\nskipped a & b > c\n0 passed, 0 failed, 1 skipped\n'`;
  const [{ skipped, skips }] = await counts({ skips: script });
  assert.equal(skipped, 1);
  assert.deepEqual(skips, [{ test: "a & b > c", reason: 'no <data> & no "MNIST" — é' }]);
});

test("npm test reads a C program's last line, however much the program printed before", async () => {
  const [{ passed, failed }] = await counts({ loud: "seq 300000; echo '1 passed, 0 failed'" });
  assert.deepEqual([passed, failed], [1, 0]);
});
