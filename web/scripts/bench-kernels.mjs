// Measures the kernels' speed by `vit bench`: natively, and compiled to wasm under Node.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import * as build from "./build.mjs";
import { Trouble, isMain, main, root, run, select } from "./lib.mjs";
import * as setup from "./setup.mjs";

const help = `node web/scripts/bench-kernels.mjs [OPTIONS]

Builds and runs \`vit bench\`: each kernel at the shapes of ViT-B/16, DeiT-Ti/16 and the digits
model, then a whole model; one thread; as shares of what multiply-adds in registers reach.

  --build BUILDS  some of native,scalar,simd128,relaxed (default: all of them)
  --only WORDS    lines with all of these in their names, as in f32,digits
  --model MODEL   a safetensors file (default: weights/digits.safetensors)
  --node PATH     another Node for the wasm builds
  --json          a JSON object a line on the standard output, and nothing else
  --help          this text`;

const optionTypes = {
  build: { type: "string", default: "native,scalar,simd128,relaxed" },
  only: { type: "string" },
  model: { type: "string" },
  node: { type: "string", default: process.execPath },
  json: { type: "boolean" },
  help: { type: "boolean" },
};

const builds = optionTypes.build.default.split(",");

/** Builds one bench; resolves to the command that runs it, or undefined if this Node cannot. */
async function command(name, node) {
  if (name === "native") {
    await setup.native();
    await build.cmake("native", { targets: ["vit"] });
    return [join(build.buildFolder("native"), "vit"), "bench"];
  }
  const { folder } = await setup.emscripten();
  const env = { EMSCRIPTEN_ROOT: folder, EM_NODE_JS: process.execPath };
  await build.cmake("wasm", { targets: [`vit_bench_wasm-${name}`], env });
  const program = join(build.buildFolder("wasm"), `vit_bench-${name}`);
  const check = "process.exit(WebAssembly.validate(fs.readFileSync(process.argv[1])) ? 0 : 3)";
  const { code } = await run(node, ["-e", check, `${program}.wasm`], { allowFailure: true });
  if (code === 3) return undefined;
  return [node, `${program}.cjs`];
}

/** Runs a command in the repository and calls `onLine` with each line as it comes. */
function lines([file, ...args], onLine) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    createInterface({ input: child.stdout }).on("line", onLine);
    child.on("error", (error) => reject(new Trouble(`cannot run ${file}: ${error.message}`)));
    child.on("close", (code, signal) =>
      code === 0 ? resolve() : reject(new Trouble(`${file} ended with ${signal ?? `exit code ${code}`}`)));
  });
}

/** Runs the bench of every build in `options.build` and calls `print` with each line. */
export async function kernels(options, print) {
  const selection = select("build", options.build, builds);
  const { output } = await run(options.node, ["-p", "process.version + ', V8 ' + process.versions.v8"]);
  for (const name of selection) {
    const where = name === "native" ? "native" : `${name}, Node ${output.trim()}`;
    const launch = await command(name, options.node);
    if (!launch) {
      console.error(`– ${where}: this engine cannot run it`);
      continue;
    }
    const args = ["only", "model"].flatMap((key) => (options[key] ? [`--${key}`, options[key]] : []));
    if (options.json) {
      await lines([...launch, ...args, "--json"], (line) =>
        print(JSON.stringify({ build: name, where, ...JSON.parse(line) })));
    } else {
      print(`\n${where}; ${cpus()[0].model}\n`);
      await lines([...launch, ...args], print);
    }
  }
}

if (isMain(import.meta)) {
  await main(async () => {
    const { values: options } = parseArgs({ options: optionTypes });
    const print = console.log;
    if (options.help) return print(help);
    if (options.json) console.log = console.error; // stdout is for JSON, not for the set-up's messages
    setup.node();
    await kernels(options, print);
  });
}
