// A reporter for node --test. It writes { passed, failed, skipped, files, hung } as JSON; `files` has each
// file's seconds, `hung` the paths of those that node --test ended after their time.
import { isAbsolute } from "node:path";

export default async function* report(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const files = {}, hung = [];
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (data.nesting === 0 && data.file) files[data.file] = (files[data.file] ?? 0) + data.details.duration_ms / 1000;
    if (data.details.type === "suite" && type === "test:pass") continue;
    if (data.details.error?.failureType === "testTimeoutFailure" && isAbsolute(data.name)) {
      hung.push(data.name);
      continue;
    }
    const skipped = data.skip !== undefined && data.skip !== false;
    counts[skipped ? "skipped" : type === "test:pass" ? "passed" : "failed"]++;
  }
  yield JSON.stringify({ ...counts, files, hung });
}
