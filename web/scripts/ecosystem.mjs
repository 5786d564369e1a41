// npm run ecosystem: tries the packed package in other people's bundlers and engines.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { recipes } from "../../tests/ecosystem/recipes.mjs";
import { lay, tryRecipe } from "../../tests/ecosystem/try.mjs";
import * as build from "./build.mjs";
import { cacheFolder, isMain, main, root, run, say, select } from "./lib.mjs";
import * as setup from "./setup.mjs";

const workFolder = join(cacheFolder, "ecosystem");

const help = `npm run ecosystem [-- --only NAME,…]

Packs the package, installs each tool into ${workFolder}, builds tests/ecosystem's
recipe for it, runs it in Node or headless Chromium and compares its answer with the package's own.

${Object.entries(recipes).map(([name, { title }]) => `  ${name.padEnd(16)}${title}`).join("\n")}`;

/** Packs the package as npm would publish it. */
async function pack() {
  mkdirSync(workFolder, { recursive: true });
  const { output } = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", workFolder]);
  return join(workFolder, JSON.parse(output.slice(output.indexOf("[")))[0].filename);
}

/** Makes an empty app with the package and the recipe's tools: its folder, and what was missing. */
async function install(name, recipe, tarball) {
  const folder = join(workFolder, name);
  const modules = join(folder, "node_modules");
  for (const path of ["dist", ".next", ".parcel-cache", "node_modules/vitrine"]) {
    rmSync(join(folder, path), { recursive: true, force: true });
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const packages = [tarball, ...(recipe.packages ?? [])];
  const { code, output } = await run("npm", ["install", "--prefix", folder, "--no-save", "--no-package-lock",
    "--ignore-scripts", "--loglevel=error", ...packages], { allowFailure: true });
  if (code === 0 && existsSync(join(modules, "vitrine"))) return { folder };
  return { folder, missing: output.match(/npm error (?!code)(.*)/)?.[1] ?? `npm ended with ${code}` };
}

/** The version of a recipe's first package, or of the engine if there is no package. */
function versionOf({ packages: [first] = [], page }, folder, browser) {
  if (!first) return page ? `Chromium ${parseInt(browser?.version())}` : process.version;
  const name = first.slice(0, first.lastIndexOf("@"));
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
}

const same = (answer, own) => answer.label === own.label && Math.abs(answer.p - own.p) < 1e-5;

/** One line of the table. */
async function row(name, { tarball, browser, own }) {
  const recipe = recipes[name];
  const { folder, missing } = await install(name, recipe, tarball);
  if (missing) return { name, result: "skipped", why: missing };
  const version = versionOf(recipe, folder, browser);
  if (recipe.page && !browser) return { name, version, result: "skipped", why: "no Chromium here" };
  lay(recipe, folder);
  try {
    const answers = await tryRecipe(recipe, folder, browser);
    const wrong = answers.find((answer) => !same(answer, own));
    const text = JSON.stringify(wrong ?? answers[0]) ?? "compiles";
    return { name, version, result: wrong ? "differs" : "same", why: text };
  } catch (error) {
    return { name, version, result: "fails", why: error.message };
  }
}

/** The package's own answer to the recipes' drawing. */
async function ownAnswer() {
  const { Vit } = await import(join(root, "dist/vit.js"));
  const vit = await Vit.load(join(root, "weights/digits.safetensors"));
  const strokes = [[{ x: 140, y: 40, width: 20 }, { x: 140, y: 240, width: 20 }]];
  const { classes } = await vit.classify({ strokes, width: 280, height: 280 });
  vit.dispose();
  return classes[0];
}

async function openBrowser() {
  const executablePath = await setup.chromium();
  if (!executablePath) return;
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

const line = ({ name, version = "", result, why }) =>
  `${recipes[name].title.padEnd(36)}${version.padEnd(16)}${result.padEnd(9)}${why}`;

async function ecosystem(names) {
  setup.node();
  await build.packages();
  await build.wasm();
  await build.dist();
  const tarball = await pack();
  const browser = await openBrowser();
  const own = await ownAnswer();
  try {
    const rows = [];
    for (const name of names) {
      rows.push(await row(name, { tarball, browser, own }));
      say(line(rows.at(-1)));
    }
    if (rows.some(({ result }) => ["differs", "fails"].includes(result))) process.exitCode = 1;
  } finally {
    await browser?.close();
  }
}

if (isMain(import.meta)) {
  await main(async () => {
    const { values } = parseArgs({ options: { only: { type: "string" }, help: { type: "boolean" } } });
    if (values.help) return say(help);
    await ecosystem(select("only", values.only, Object.keys(recipes)));
  });
}
