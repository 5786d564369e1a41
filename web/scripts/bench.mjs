// npm run bench: our speed beside its peer's, measured in one run, in Node and in Chromium.
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import * as build from "./build.mjs";
import { Trouble, main, root, run } from "./lib.mjs";
import * as setup from "./setup.mjs";

const help = `npm run bench [-- OPTIONS]

Times one digit, alone and in a batch of 64, against onnxruntime-web on the same weights,
one thread each, after checking that both give the same logits. Installs and builds what
is missing, as npm test does.

  --json         the standard output holds a JSON array and nothing else
  --only PLACE   node or chromium (default: both)
  --model MODEL  a safetensors file, or random weights of a shape: random:digits, random:tiny
                 (default: weights/digits.safetensors)
  --rounds N     both sides in turn, N times (default: 10)
  --node PATH    another Node for Node's part
  --help         this text`;

const optionTypes = {
  json: { type: "boolean" },
  only: { type: "string" },
  model: { type: "string", default: join(root, "weights", "digits.safetensors") },
  rounds: { type: "string", default: "10" },
  node: { type: "string", default: process.execPath },
  help: { type: "boolean" },
};

const places = { node: inNode, chromium: inChromium };

/** In a process of its own, for `--node` may name another Node than this one. */
function inNode(plan, { model, node }) {
  return new Promise((resolve, reject) => {
    const script = join(root, "tests", "bench", "in-node.mjs");
    const stdio = ["ignore", 2, 2, "ipc"]; // the standard output is the table's alone
    const child = fork(script, [model, JSON.stringify(plan)], { execPath: node, stdio });
    const fail = (text) => reject(new Trouble(text));
    child.on("message", (answer) => (answer.error ? fail(answer.error) : resolve(answer)));
    child.on("error", (error) => fail(`cannot run ${node}: ${error.message}`));
    child.on("close", (code) => fail(`${node} ended with exit code ${code}`));
  });
}

async function inChromium(plan, { model }) {
  const executable = await setup.chromium();
  if (!executable) {
    console.error("– Chromium's part is skipped: install Chromium, or name one in $CHROMIUM");
    return { rows: [] };
  }
  const { inChromium } = await import("../../tests/bench/in-chromium.mjs");
  const { modelBytes } = await import("../../tests/bench/models.mjs");
  return inChromium(executable, await modelBytes(model), plan);
}

/** A row as the JSON holds it. */
function named(row, place, where, model, peer) {
  const rounded = Object.entries(row).map(([key, value]) =>
    [key, typeof value === "number" ? Number(value.toPrecision(4)) : value]);
  const name = `${model}, batch ${row.batch}, ${place}, ${row.timed}`;
  return { name, model, threads: 1, peer, where, ...Object.fromEntries(rounded) };
}

// Title, key, width, and for measured numbers their digits. A negative width: to the left.
const columns = [
  ["where", "where", -23],
  ["batch", "batch", 5],
  ["timed", "timed", -12],
  ["variant", "variant", -8],
  ["ours ms", "ours_ms", 8, 4],
  ["best", "ours_best_ms", 8, 4],
  ["GFLOP/s", "gflops", 8, 3],
  ["peer ms", "peer_ms", 8, 4],
  ["best", "peer_best_ms", 8, 4],
  ["ratio", "ratio", 6, 3],
];

function table(rows) {
  const align = (text, width) => (width < 0 ? text.padEnd(-width) : text.padStart(width));
  const line = (text) => columns.map((column) => align(text(column), column[2])).join("  ");
  const lines = rows.map((row) => line(([, key, , digits]) => significant(row[key], digits)));
  return [line(([title]) => title), ...lines].join("\n");
}

function significant(value, digits) {
  if (digits === undefined) return String(value);
  const exactly = { minimumSignificantDigits: digits, maximumSignificantDigits: digits };
  return value.toLocaleString("en", exactly);
}

function peerVersion() {
  const text = readFileSync(join(root, "node_modules", "onnxruntime-web", "package.json"), "utf8");
  return `onnxruntime-web ${JSON.parse(text).version}`;
}

async function surroundings() {
  const describe = ["describe", "--always", "--dirty"];
  const { code, output } = await run("git", describe, { allowFailure: true });
  const commit = code === 0 ? `commit ${output.trim()}` : "no commit";
  const processors = cpus();
  const machine = `${processors[0].model}, ${processors.length} cores, ${process.platform}`;
  return `${machine}; ${new Date().toISOString()}; ${commit}`;
}

function positive(text) {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new Trouble(`--rounds: expected a number from 1 to 9999, got "${text}"`);
}

function chosen(only) {
  if (only === undefined) return Object.keys(places);
  if (only in places) return [only];
  throw new Trouble(`--only: expected ${Object.keys(places).join(" or ")}, got "${only}"`);
}

await main(async () => {
  const { values: options } = parseArgs({ options: optionTypes });
  const print = console.log;
  if (options.help) return print(help);
  if (options.json) console.log = console.error; // what the set-up says

  const plan = { batches: [1, 64], rounds: positive(options.rounds), slice: 250 };
  const wanted = chosen(options.only);
  await build.packages();
  await build.wasm();
  await build.dist();

  const peer = peerVersion();
  const model = basename(options.model, ".safetensors");
  const rows = [];
  for (const place of wanted) {
    console.log(`▸ ${model} in ${place}`);
    const answer = await places[place](plan, options);
    rows.push(...answer.rows.map((row) => named(row, place, answer.where, model, peer)));
  }
  if (options.json) return print(JSON.stringify(rows, null, 2));
  print(`
${model} against ${peer}, one thread each, the same logits from both

${table(rows)}

Medians and bests of milliseconds a call, ${plan.rounds} rounds in turn; the peer with the faster of
two ONNX files, of standard operators or of its fused attention; ratio: its median over ours.
${await surroundings()}`);
});
