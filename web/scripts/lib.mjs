// Shared by all scripts: printing, running commands, and steps that are skipped while their inputs
// have not changed. It imports only Node's own modules, because nothing may be installed yet.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync, constants, existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, statSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, homedir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
export const isRoot = process.getuid?.() === 0;
export const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "vitrine");
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

export const say = (text) => console.log(text);

/** An error whose message is enough for its reader, so that no stack is shown. */
export class Trouble extends Error {}

/** Runs a script's main function. On an error, prints it and fails the process. */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    const isExpected = error instanceof Trouble || error.code?.startsWith("ERR_PARSE_ARGS");
    console.error(`\n✗ ${isExpected ? error.message : error.stack}`);
    process.exit(1);
  }
}

/** Whether the module was started by node, not imported. */
export const isMain = (meta) => fileURLToPath(meta.url) === realpathSync(process.argv[1]);

/** The full path of a program on the PATH, or undefined. */
export function which(name) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // not in this folder
    }
  }
}

/**
 * Runs a command in the repository and resolves to its exit code and output. The output is printed
 * only if the command fails. `show` prints it as it comes. `terminal` gives the command our own
 * terminal, for its progress bar, and keeps no output. A command that prints nothing for `silence`
 * minutes is ended, with all its child processes.
 */
export function run(command, args, { show, terminal, env, allowFailure, silence } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: terminal ? "inherit" : ["ignore", "pipe", "pipe"],
      detached: silence !== undefined, // a process group of its own
    });
    const guard = silence === undefined ? undefined : guardSilence(child, silence);
    let output = "";
    const keep = (stream) => (chunk) => {
      output += chunk;
      guard?.reset();
      if (show) stream.write(chunk);
    };
    child.stdout?.on("data", keep(process.stdout));
    child.stderr?.on("data", keep(process.stderr));
    child.on("error", (error) => reject(new Trouble(`cannot run ${command}: ${error.message}`)));
    child.on("close", (code, signal) => {
      guard?.stop();
      if (code === 0 || allowFailure) return resolve({ code, output });
      if (!show) process.stderr.write(output);
      reject(new Trouble(`${command} ${args.join(" ")}\n  ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

/** Ends a command's process group after that many minutes without output, or when this process is ended. */
function guardSilence(child, minutes) {
  const end = () => process.kill(-child.pid, "SIGKILL");
  const timer = setTimeout(() => {
    say(`✗ no output for ${minutes} minutes: ended`);
    end();
  }, minutes * 60_000);
  const interrupted = () => {
    end();
    process.exit(130);
  };
  const signals = ["SIGINT", "SIGTERM"];
  for (const signal of signals) process.on(signal, interrupted);
  return {
    reset: () => timer.refresh(),
    stop() {
      clearTimeout(timer);
      for (const signal of signals) process.off(signal, interrupted);
    },
  };
}

/** The names in an option's text, which must be some of `all`, in the order of `all`; without a text `standard`. */
export function select(option, text, all, standard = all) {
  if (text === undefined) return standard;
  const names = text.split(",");
  const unknown = names.find((name) => !all.includes(name));
  if (unknown === undefined) return all.filter((name) => names.includes(name));
  throw new Trouble(`--${option}: expected some of ${all.join(",")}, got "${unknown}"`);
}

/**
 * Does `work` with each of the jobs, as many at a time as there are cores; resolves to the results, in the jobs' order.
 * After a failure no other job begins.
 */
export async function onAllCores(jobs, work) {
  const left = [...jobs.entries()], results = [];
  const next = async () => {
    for (let job = left.shift(); job; job = left.shift()) results[job[0]] = await work(job[1]);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, next)).finally(() => left.splice(0));
  return results;
}

/** Prints a step's name, does the step, prints how long it took. Steps may run at the same time. */
export async function timed(name, body) {
  say(`▸ ${name}`);
  const start = performance.now();
  const result = await body();
  say(`  ${name}: ${seconds(start)}`);
  return result;
}

/**
 * A step that is skipped if its outputs exist and its inputs are as they were when it last
 * succeeded. Inputs are the contents of files and folders, and `key`.
 */
export async function step(name, { inputs, key = "", outputs }, body) {
  const stamp = join(root, "build", "stamps", name.replaceAll(/\W+/g, "-"));
  const fresh = fingerprint(inputs, key);
  const done = outputs.every((path) => existsSync(join(root, path)));
  if (done && existsSync(stamp) && readFileSync(stamp, "utf8") === fresh) {
    return say(`✓ ${name}: up to date`);
  }
  rmSync(stamp, { force: true }); // a step that is cut off must run again
  await timed(name, body);
  mkdirSync(join(root, "build", "stamps"), { recursive: true });
  writeFileSync(stamp, fresh);
}

function fingerprint(inputs, key) {
  const hash = createHash("sha256").update(`${key}\0`);
  for (const path of inputs.flatMap((input) => [...files(join(root, input))])) {
    hash.update(`${relative(root, path)}\0`).update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

/** Every file in a folder and its subfolders, in a fixed order. For a file: the file itself. */
function* files(path) {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) return yield path;
  for (const name of readdirSync(path).sort()) yield* files(join(path, name));
}
