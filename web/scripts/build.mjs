// npm run build: the wasm modules, the package in dist/, the page in build/page. The other
// scripts import these steps.
import { copyFileSync, existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isMain, main, root, run, say, step, which } from "./lib.mjs";
import * as setup from "./setup.mjs";

export const variants = ["scalar", "simd128", "relaxed"];
const tsc = "node_modules/typescript/bin/tsc";
const wasmFile = (variant) => `build/wasm/${variant}/vit.${variant}.wasm`;

/** A preset's build folder, as CMakePresets.json has it. */
export const buildFolder = (preset) => join(root, "build", preset.replace("-", "/"));

/** Configures and builds a CMake preset: one `target`, or everything with the tests. */
export async function cmake(preset, { target = "all", env = {} } = {}) {
  const options = { env: { ...(which("ninja") && { CMAKE_GENERATOR: "Ninja" }), ...env } };
  const werror = `-DVITRINE_WERROR=${process.env.CI ? "ON" : "OFF"}`;
  const fresh = isForeign(buildFolder(preset), env.EMSCRIPTEN_ROOT) ? ["--fresh"] : [];
  const jobs = String(availableParallelism());
  await run("cmake", ["--preset", preset, werror, ...fresh], options);
  await run("cmake", ["--build", "--preset", preset, "--target", target, "--parallel", jobs], options);
}

/** Whether a build folder was configured elsewhere, or with another Emscripten. */
function isForeign(folder, emscripten = "") {
  const cache = join(folder, "CMakeCache.txt");
  if (!existsSync(cache)) return false;
  const text = readFileSync(cache, "utf8");
  return !text.includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${root}\n`) || !text.includes(emscripten);
}

/** build/wasm/<variant>/vit.<variant>.wasm; resolves to the environment that CMake needs for it. */
export async function wasm() {
  const { folder, version } = await setup.emscripten();
  const env = { EMSCRIPTEN_ROOT: folder, EM_NODE_JS: process.execPath };
  for (const variant of variants) {
    await step(`wasm module ${variant}`, {
      inputs: ["src", "CMakeLists.txt", "CMakePresets.json"],
      key: `${folder} ${version}`,
      outputs: [wasmFile(variant)],
    }, () => cmake(`wasm-${variant}`, { target: "vit_wasm", env }));
  }
  return env;
}

/** dist/: the API's JavaScript and types, the wasm modules beside them. */
export async function dist() {
  const sources = readdirSync(join(root, "web")).filter((name) => /\.ts$|^tsconfig/.test(name));
  await step("package in dist", {
    inputs: [...sources.map((name) => `web/${name}`), ...variants.map(wasmFile), "package-lock.json"],
    outputs: ["dist/vit.js", "dist/vit.d.ts", ...variants.map((variant) => `dist/vit.${variant}.wasm`)],
  }, async () => {
    rmSync(join(root, "dist"), { recursive: true, force: true });
    await run(process.execPath, [tsc, "-p", "web/tsconfig.json"]);
    for (const variant of variants) {
      copyFileSync(join(root, wasmFile(variant)), join(root, "dist", `vit.${variant}.wasm`));
    }
  });
}

/** build/page: web/demo with the package and the model, by Vite. */
export async function page() {
  await step("page in build/page", {
    inputs: ["web/demo", "dist", "weights/digits.safetensors", "package-lock.json"],
    outputs: ["build/page/index.html"],
  }, async () => {
    const { build } = await import("vite");
    await run(process.execPath, [tsc, "-p", "web/demo/tsconfig.json"]);
    const rolldownOptions = { checks: { pluginTimings: false } };
    await build({ ...pageConfig, logLevel: "warn", build: { rolldownOptions } });
  });
}

/** Where Vite finds the rest. */
export const pageConfig = { configFile: join(root, "web", "demo", "vite.config.ts") };

/** The packages that all the steps but CMake's need. */
export async function packages() {
  setup.node();
  await setup.npmPackages();
}

if (isMain(import.meta)) {
  await main(async () => {
    const { values } = parseArgs({ options: { help: { type: "boolean" } } });
    if (values.help) return say("npm run build: the wasm modules, the package in dist, the page in build/page");
    await packages();
    await wasm();
    await dist();
    await page();
  });
}
