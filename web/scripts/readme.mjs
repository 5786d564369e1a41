// Before npm packs: makes a README.md for npm's page, which resolves no relative links, and says
// which keys package.json lacks. The publisher fills in `repository`, `homepage` and `bugs`. After
// npm has packed: puts the old README.md back.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMain, main, root, say } from "./lib.mjs";

const readme = join(root, "README.md");
const original = join(root, "build", "README.original.md");
const packed = join(root, "build", "README.packed.md");

/** The address of a repository's page, from any form in package.json; undefined without one. */
export function pageOf(repository) {
  const named = typeof repository === "string" ? repository : repository?.url;
  if (!named) return;
  const short = named.match(/^(?:(github|gitlab|bitbucket):)?([\w.-]+\/[\w.-]+)$/);
  if (short) return `https://${short[1] ?? "github"}.${short[1] === "bitbucket" ? "org" : "com"}/${short[2]}`;
  const [, host, path] = named.match(/^(?:git\+)?(?:\w+:\/\/)?(?:[^@/]+@)?([^:/]+)(?::\d+)?[:/](.+?)(?:\.git)?\/?$/) ?? [];
  return host && `https://${host}/${path}`;
}

/** Markdown whose relative links lead to the repository's page, or are plain text without one. */
export function portable(markdown, page) {
  const part = /^```[^]*?^```$|`[^`\n]*`|(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)]+)\)/gm;
  return markdown.replace(part, (whole, image, text, path) => {
    if (path === undefined) return whole; // code
    if (!page) return image ? "" : text;
    return `${image}[${text}](${page}/${image ? "raw" : "blob"}/HEAD/${path})`;
  });
}

/** Puts the old README.md back, unless somebody has changed the new one since. */
function restore() {
  if (existsSync(original) && readFileSync(readme, "utf8") === readFileSync(packed, "utf8")) {
    writeFileSync(readme, readFileSync(original));
  }
  for (const file of [original, packed]) rmSync(file, { force: true });
}

function prepare() {
  restore();
  const described = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const missing = ["repository", "homepage", "bugs"].filter((key) => !described[key]);
  if (missing.length) say(`package.json does not say: ${missing.join(", ")}. Fill them in before you publish.`);
  const page = pageOf(described.repository);
  if (!page) say("No repository is named: on npm the README has no picture, and its relative links are text.");
  mkdirSync(join(root, "build"), { recursive: true });
  const text = readFileSync(readme, "utf8");
  writeFileSync(original, text);
  writeFileSync(packed, portable(text, page));
  writeFileSync(readme, portable(text, page));
}

const steps = {
  prepack: prepare,
  // npm publish reads README.md once more after postpack.
  postpack: () => process.env.npm_command === "publish" || restore(),
  postpublish: restore,
};

if (isMain(import.meta)) await main(() => steps[process.argv[2]]());
