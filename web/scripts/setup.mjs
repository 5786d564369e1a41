// Installs what a fresh clone lacks: npm's packages, Debian's packages, Emscripten, browsers.
// It looks first, installs only what is missing and prints what it does.
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Trouble, cacheFolder, isRoot, root, run, say, timed, which } from "./lib.mjs";

const NODE = 20;
const CURRENT_NODE = 26;
const EMSCRIPTEN = "3.1.58";

export function node() {
  if (parseInt(process.versions.node) < NODE) {
    throw new Trouble(`Node ${NODE} or newer is needed; this is ${process.version}`);
  }
}

/** The result of `find`, which runs once, however often and early it is asked for. */
function once(find) {
  let found;
  return () => (found ??= find());
}

/**
 * A Node with the WebAssembly of current browsers: relaxed SIMD without a flag. It is this Node, or
 * npm's in the cache folder; undefined if neither can be used.
 */
export const currentNode = once(async () => {
  if (parseInt(process.versions.node) >= CURRENT_NODE) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(cacheFolder, `node-${CURRENT_NODE}`);
  const program = join(folder, "node_modules", name, "bin", "node");
  const install = ["install", "--prefix", folder, "--no-save", "--ignore-scripts", `${name}@${CURRENT_NODE}`];
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    await timed(`Node ${CURRENT_NODE} into ${folder}`, () => run("npm", install))
      .catch((error) => say(`  ${error.message}`));
  }
  return existsSync(program) ? program : undefined;
});

/** Installs the packages of package-lock.json by `npm ci`, unless node_modules has them all. */
export const npmPackages = once(async () => {
  if (packagesInPlace()) return say("✓ npm packages: up to date");
  await timed("npm packages (npm ci)", () => run("npm", ["ci", "--ignore-scripts"]));
});

function packagesInPlace() {
  const installed = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(installed)) return false;
  const packages = (path) => JSON.parse(readFileSync(path, "utf8")).packages;
  const there = packages(installed);
  return Object.entries(packages(join(root, "package-lock.json"))).every(
    ([path, { version, optional }]) => path === "" || optional || there[path]?.version === version,
  );
}

// ---- Debian's packages

const apt = ["-q", "-y", "-o", "DPkg::Lock::Timeout=600", "-o", "Acquire::Retries=3"];
const aptEnvironment = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C.UTF-8" };
let indexRead = false;

let last = Promise.resolve();
/** Runs `work` after all that came before, because apt-get waits for no other that reads its index. */
const inTurn = (work) => (last = last.then(work, work));

/** Installs Debian packages if this user may; resolves to whether they are there. */
async function debian(packages) {
  if (!isRoot || !which("apt-get")) return false;
  await timed(`Debian packages: ${packages.join(" ")}`, () => inTurn(async () => {
    if (!indexRead) await run("apt-get", [...apt, "update"], { env: aptEnvironment });
    indexRead = true;
    const install = [...apt, "install", "--no-install-recommends", ...packages];
    await run("apt-get", install, { env: aptEnvironment });
  }));
  return true;
}

/** Installs optional Debian packages; resolves to false if that fails. */
const installOptional = (...names) => debian(names).catch((error) => {
  say(`  ${error.message}`);
  return false;
});

/** Whether a header is there. Without apt it is not looked for, and CMake says which one is missing. */
const header = (name) => () =>
  !which("apt-get") || ["", "/x86_64-linux-gnu", "/aarch64-linux-gnu"].some((folder) =>
    existsSync(`/usr/include${folder}/${name}`));
const program = (...names) => () => names.some((name) => which(name));

/** The programs and headers to look for, by the Debian package that brings each. */
const tools = {
  python3: program("python3"),
  cmake: program("cmake"),
  "ninja-build": program("ninja", "make"),
};
const nativeTools = {
  gcc: program("cc", "gcc", "clang"),
  "libc6-dev": header("stdlib.h"),
  "zlib1g-dev": header("zlib.h"),
};
const openblas = ["openblas_config.h", "openblas-pthread/openblas_config.h"].map(header);

async function need(packages) {
  const missing = Object.keys(packages).filter((name) => !packages[name]());
  if (missing.length === 0 || (await debian(missing))) return;
  throw new Trouble(`missing on this machine: ${missing.join(", ")} (Debian's names)\n` +
    `  as root: apt-get install ${missing.join(" ")}`);
}

/** Installs what the native command and tests are built with. */
export async function native() {
  await need({ ...tools, ...nativeTools });
  if (openblas.some((found) => found()) || (await installOptional("libopenblas-pthread-dev"))) return;
  say("  OpenBLAS is not here (Debian: libopenblas-pthread-dev): training will be slower");
}

/** A python3 that has torchvision; undefined if there is none and none can be installed. */
export async function torchvision() {
  const find = async () => {
    for (const python of [which("python3"), "/usr/bin/python3"].filter((path) => path && existsSync(path))) {
      if ((await run(python, ["-c", "import torchvision"], { allowFailure: true })).code === 0) return python;
    }
  };
  return (await find()) ?? ((await installOptional("python3-torchvision", "python3-pil")) ? find() : undefined);
}

// ---- Clang, its tools and its fuzzer

/** The path of clang-format or clang-tidy 14; undefined if it cannot be installed. */
export async function clangTool(name) {
  const find = async () => {
    for (const path of [`${name}-14`, name].map(which).filter(Boolean)) {
      const { output } = await run(path, ["--version"], { allowFailure: true });
      if (/version 14\./.test(output)) return path;
    }
  };
  return (await find()) ?? ((await installOptional(`${name}-14`)) && find());
}

const fuzzerProbe = (bits) => join(cacheFolder, `fuzzer${bits}`);

/** Whether a program with all the libraries of tests/fuzz can be built here. */
async function fuzzerBuilds(bits) {
  if (!which("clang")) return false;
  const source = join(cacheFolder, "fuzzer.c");
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(source, `#include <sanitizer/allocator_interface.h>
#include <simde/wasm/simd128.h>
#include <zlib.h>
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
    return (int)crc32(0, bytes, (unsigned)size) & 0;
}
`);
  const { code } = await run("clang", [source, "-o", fuzzerProbe(bits), `-m${bits}`,
    "-fsanitize=fuzzer,address,undefined", "-L/usr/lib32", "-lz"], { allowFailure: true });
  return code === 0;
}

/** Whether that program runs, too. Not every kernel runs programs of 32 bits. */
async function fuzzerRuns(bits) {
  return (await run(fuzzerProbe(bits), ["-runs=1"], { allowFailure: true })).code === 0;
}

async function filterAsync(values, predicate) {
  const found = [];
  for (const value of values) if (await predicate(value)) found.push(value);
  return found;
}

/** The word lengths that can be fuzzed here, out of 64 and 32. */
export async function fuzzers() {
  await need({ ...tools, ...nativeTools });
  const lengths = [64, 32];
  let buildable = await filterAsync(lengths, fuzzerBuilds);
  if (buildable.length < lengths.length && isRoot && which("apt-get")) {
    if (!which("clang")) await installOptional("clang");
    const { output } = await run("clang", ["-dumpversion"], { allowFailure: true });
    for (const name of [`libclang-rt-${parseInt(output)}-dev`, "libsimde-dev", "g++-multilib", "lib32z1-dev"]) {
      await installOptional(name);
    }
    buildable = await filterAsync(lengths, fuzzerBuilds);
  }
  return filterAsync(buildable, fuzzerRuns);
}

// ---- Emscripten

/** The first new enough Emscripten out of $EMSDK's, the PATH's and ours: { folder, version }. */
export const emscripten = once(async () => {
  await need(tools);
  const ours = join(cacheFolder, "emscripten", "emscripten");
  const found = places(ours).map((folder) => ({ folder, version: emscriptenVersion(folder) }))
    .filter(({ version }) => version);
  const good = found.find(({ version }) => !older(version, EMSCRIPTEN));
  if (good) {
    say(`✓ Emscripten ${good.version}: ${good.folder}`);
    return good;
  }
  for (const { folder, version } of found) say(`  Emscripten ${version} in ${folder} is too old`);
  await timed(`Emscripten into ${dirname(ours)}`, () => inTurn(() => installEmscripten(dirname(ours))));
  return { folder: ours, version: emscriptenVersion(ours) };
});

function places(ours) {
  const { EMSDK } = process.env;
  const emcc = which("emcc");
  const beside = emcc && dirname(realpathSync(emcc));
  return [
    EMSDK && join(EMSDK, "upstream", "emscripten"),
    beside,
    beside && join(beside, "..", "libexec"), // Homebrew's
    ours,
  ].filter(Boolean);
}

function emscriptenVersion(folder) {
  const file = join(folder, "emscripten-version.txt");
  return existsSync(file) ? readFileSync(file, "utf8").match(/[\d.]+/)?.[0] : undefined;
}

function older(version, than) {
  const [a, b] = [version, than].map((text) => text.split(".").map(Number));
  const i = a.findIndex((part, at) => part !== b[at]);
  return i >= 0 && a[i] < (b[i] ?? 0);
}

async function installEmscripten(prefix) {
  const debianHere = existsSync("/etc/os-release") &&
    /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"));
  if (!debianHere || !isRoot) {
    throw new Trouble(`expected Emscripten ${EMSCRIPTEN} or newer in $EMSDK or on the PATH, got none.\n` +
      "  git clone https://github.com/emscripten-core/emsdk && cd emsdk\n" +
      "  ./emsdk install latest && ./emsdk activate latest && source ./emsdk_env.sh\n" +
      "  then run this again. (On Debian, as root, this script would install one itself.)");
  }
  await run("bash", [join(root, "web", "scripts", "emscripten.sh"), prefix]);
}

// ---- Browsers

/** The path of a browser for the tests; undefined if there is none and none can be installed. */
async function browser(fromEnv, programs, debianName) {
  const find = () => fromEnv || programs.map(which).find(Boolean);
  if (!find()) await installOptional(debianName);
  return find();
}

/** The headless shell is the same engine without windows, and costs two thirds. */
export const chromium = () => browser(process.env.CHROMIUM,
  ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"], "chromium-headless-shell");

export const firefox = () => browser(process.env.FIREFOX, ["firefox-esr", "firefox"], "firefox-esr");

/** The path of WebKitGTK's MiniBrowser, if WebKitWebDriver and Xvfb are here to drive it. */
export async function webkit() {
  const libraries = ["/usr/lib", `/usr/lib/${{ x64: "x86_64", arm64: "aarch64" }[process.arch]}-linux-gnu`];
  const find = () => process.env.WEBKIT || libraries
    .flatMap((folder) => ["4.1", "6.0"].map((version) => `${folder}/webkit2gtk-${version}/MiniBrowser`))
    .find((path) => existsSync(path));
  const hasDriver = () => which("WebKitWebDriver") && which("Xvfb");
  if (!hasDriver() || !find()) await installOptional("webkit2gtk-driver", "xvfb");
  return hasDriver() ? find() : undefined;
}
