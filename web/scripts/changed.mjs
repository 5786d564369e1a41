// npm test -- --changed: the stages that a change can touch.
import { Trouble, run } from "./lib.mjs";

const c = ["lint", "c", "native", "wasm"];
const api = ["lint", "node", "package", "page", "firefox", "webkit", "debug"];
const all = [...c, "fuzz", "mutants", ...api];

/** Folders and files of the repository, and the stages that they can touch. The longest name that fits counts. */
export const touches = {
  "": all,
  ".ci": [],
  ".github": ["node"],
  src: all,
  "src/cli": ["lint", "c", "native"],
  tests: ["node"],
  "tests/bench": ["lint", "node"],
  "tests/browser": ["lint", "page", "firefox", "webkit", "debug"],
  "tests/c": c,
  "tests/debug": ["lint", "debug"],
  "tests/ecosystem": ["lint", "node"],
  "tests/engines": ["lint", "firefox", "webkit"],
  "tests/fuzz": ["lint", "fuzz", "mutants"],
  "tests/golden": [...c, "node", "page"],
  "tests/node": ["lint", "node"],
  web: api,
  "web/cli": ["lint", "node", "package"],
  "web/demo": ["lint", "node", "page", "firefox", "webkit", "debug"],
  "web/scripts": all,
  weights: ["c", "native", "wasm", "node", "package", "page", "firefox", "webkit", "debug"],
  "weights/experiments.md": [],
  "weights/tools": ["lint", "node"],
  "CHANGELOG.md": ["node"],
  "CONTRIBUTING.md": ["node"],
  LICENSE: ["node", "page"],
  "README.md": ["node", "package"],
};

/** The stages that a change of these files can touch. */
export function stagesOf(files) {
  const names = Object.keys(touches).sort((a, b) => b.length - a.length);
  const rowOf = (file) => names.find((name) => name === "" || file === name || file.startsWith(`${name}/`));
  return new Set(files.flatMap((file) => touches[rowOf(file)]));
}

/** The files that differ from a commit, with those that git does not know yet. */
export async function changedFiles(since = "HEAD") {
  const git = async (...args) => {
    const { code, output } = await run("git", args, { allowFailure: true });
    if (code !== 0) throw new Trouble(`--changed: git ${args.join(" ")}: ${output.trim()}`);
    return output.split("\0").filter(Boolean);
  };
  const tracked = await git("diff", "-z", "--name-only", "--no-renames", since, "--");
  return [...tracked, ...(await git("ls-files", "-z", "--others", "--exclude-standard"))];
}
