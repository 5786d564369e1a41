// A reporter for node --test. It writes { passed, failed, skipped, files } as JSON; `files` has each
// file's seconds.
export default async function* report(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const files = {};
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (data.nesting === 0 && data.file) files[data.file] = (files[data.file] ?? 0) + data.details.duration_ms / 1000;
    if (data.details.type === "suite" && type === "test:pass") continue;
    const skipped = data.skip !== undefined && data.skip !== false;
    counts[skipped ? "skipped" : type === "test:pass" ? "passed" : "failed"]++;
  }
  yield JSON.stringify({ ...counts, files });
}
