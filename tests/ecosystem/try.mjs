// Builds a recipe whose tools are installed, and tries the result.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, delimiter, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, openServer, sendFile } from "../node/server.mjs";

const MOST_SECONDS = 300;

/** Lays a recipe's files into a folder. */
export function lay({ files, lines = {} }, folder) {
  for (const path of files) {
    const from = fileURLToPath(new URL(path, import.meta.url));
    cpSync(from, statSync(from).isDirectory() ? folder : join(folder, basename(from)), { recursive: true });
  }
  for (const [begin, line] of Object.entries(lines)) {
    const main = join(folder, "main.js");
    const program = readFileSync(main, "utf8").split("\n");
    writeFileSync(main, program.map((old) => (old.startsWith(begin) ? line : old)).join("\n"));
  }
}

/** Builds and runs a recipe. Returns its answers, each a `{ label, p }`. */
export async function tryRecipe(recipe, folder, browser) {
  if (recipe.prepare) await complete(recipe.prepare, folder);
  if (recipe.build) quiet(await complete(recipe.build, folder));
  if (recipe.run) return [JSON.parse(quiet(await complete(recipe.run, folder)).trim().split("\n").at(-1))];
  if (!recipe.serve && !recipe.page) return []; // the recipe is only built
  const site = recipe.serve ? await program(recipe.serve, folder) : await folderServer(join(folder, recipe.page));
  try {
    const answers = [];
    if (recipe.asks) answers.push(await (await fetch(site.address + recipe.asks)).json());
    if (recipe.page) answers.push(await pageOutput(browser, site.address));
    return answers;
  } finally {
    await site.close();
  }
}

/** The text in the `output` of a page. The page's own errors are thrown. */
async function pageOutput(browser, address) {
  const page = await browser.newPage();
  const trouble = [];
  page.on("console", (message) => {
    const favicon = message.location().url.endsWith("/favicon.ico");
    if (["error", "warning"].includes(message.type()) && !favicon) trouble.push(message.text());
  });
  page.on("pageerror", (error) => trouble.push(error.message));
  try {
    await page.goto(address);
    await page.locator("output").filter({ hasText: /\}/ }).waitFor({ timeout: 60_000 })
      .catch((error) => trouble.push(error.message.split("\n")[0]));
    if (trouble.length) throw new Error(trouble.join("; "));
    return JSON.parse(await page.locator("output").textContent());
  } finally {
    await page.close();
  }
}

/** Starts a command in a recipe's folder, in a process group of its own. */
function start(command, folder, env = {}) {
  const PATH = [join(folder, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  const silence = { NO_COLOR: "1", CI: "1", NEXT_TELEMETRY_DISABLED: "1", WRANGLER_SEND_METRICS: "false",
    NG_CLI_ANALYTICS: "false", DO_NOT_TRACK: "1" };
  const child = spawn("sh", ["-c", command], {
    cwd: folder, detached: true, stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...silence, PATH, ...env },
  });
  const output = { out: "", text: "" };
  child.stdout.on("data", (chunk) => ((output.out += chunk), (output.text += chunk)));
  child.stderr.on("data", (chunk) => (output.text += chunk));
  return { child, output };
}

function end(child) {
  try {
    process.kill(-child.pid);
  } catch {
    // the process has ended
  }
}

async function complete(command, folder) {
  const { child, output } = start(command, folder);
  const late = setTimeout(end, MOST_SECONDS * 1000, child);
  const [code] = await once(child, "close");
  clearTimeout(late);
  if (code !== 0) throw new Error(`${command}: exit code ${code}: ${output.text.trim().slice(-1500)}`);
  return output;
}

/** A command's standard output, if it printed no warning. */
function quiet({ out, text }) {
  const warning = text.match(/^.*\bwarn(ing)?\b.*$/im);
  if (warning) throw new Error(`a warning: ${warning[0].trim()}`);
  return out;
}

/** Waits until a server answers. Returns its address. */
async function program(command, folder) {
  const port = await freePort();
  const { child, output } = start(command, folder, { PORT: String(port) });
  const close = async () => {
    const closed = child.exitCode === null && once(child, "close");
    end(child);
    await closed;
  };
  const address = `http://127.0.0.1:${port}`;
  for (const last = Date.now() + MOST_SECONDS * 1000; Date.now() < last && child.exitCode === null; ) {
    if (await fetch(address).then(() => true, () => false)) return { address, close };
    await new Promise((later) => setTimeout(later, 200));
  }
  await close();
  throw new Error(`${command}: no answer: ${output.text.trim().slice(-1500)}`);
}

function folderServer(folder) {
  return openServer(({ url }, response) => {
    const path = normalize(decodeURIComponent(new URL(url, "http://page").pathname));
    return sendFile(response, join(folder, path === "/" ? "index.html" : path));
  });
}
