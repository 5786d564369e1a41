// A folder for files of a test.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The path of a new folder with these files, { name: bytes }. It is deleted after the test. */
export function folderOf(t, files = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "vitrine-")));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  return folder;
}
